"""The files of a runner: its private key, and what it must not forget."""

import stat
from pathlib import Path

import pytest

from domain.errors import Conflict, InvalidInput
from service.runner import key_file
from service.runner.spool import Result, Spool, Taken
from service.signatures import public_bytes, sign, verify

TAKEN = Taken(log_id="log-1", rerun="r1", run="sha256:1")
RESULT = Result(
    log_id="log-1", rerun="r1", run="sha256:1", digest="sha256:2", manifest="{}", environment=None, signature="AA=="
)


def test_a_key_is_private_and_the_same_when_it_is_read(tmp_path: Path) -> None:
    made = key_file.make(tmp_path / "key")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert public_bytes(key_file.read(tmp_path / "key")) == public_bytes(made)


def test_a_key_is_never_made_over_another(tmp_path: Path) -> None:
    made = key_file.make(tmp_path / "key")
    with pytest.raises(FileExistsError):
        key_file.make(tmp_path / "key")
    assert public_bytes(key_file.read(tmp_path / "key")) == public_bytes(made)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666, 0o700])
def test_a_key_that_others_can_reach_is_not_used(mode: int, tmp_path: Path) -> None:
    key_file.make(tmp_path / "key")
    (tmp_path / "key").chmod(mode)
    with pytest.raises(InvalidInput, match=f"mode {mode:04o}"):
        key_file.read(tmp_path / "key")


@pytest.mark.parametrize("text", [b"", b"ki_secret", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_what_is_no_key_is_refused_without_showing_it(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.touch(0o600)
    path.write_bytes(text)
    with pytest.raises(InvalidInput, match="holds no Ed25519 private key") as refused:
        key_file.read(path)
    assert "ki_secret" not in str(refused.value)


def test_a_signature_fits_its_key_and_its_message_only(tmp_path: Path) -> None:
    key, other = key_file.make(tmp_path / "key"), key_file.make(tmp_path / "other")
    signature = sign(key, b"message")
    assert verify(public_bytes(key), b"message", signature)
    assert not verify(public_bytes(other), b"message", signature)
    assert not verify(public_bytes(key), b"massage", signature)
    assert not verify(public_bytes(key), b"message", signature[:-1])
    assert not verify(b"", b"message", signature)


def test_the_public_key_is_that_of_rfc_8032() -> None:
    """Test 2 of its section 7.1, whatever wraps the arithmetic."""
    public = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
    signature = bytes.fromhex(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )
    assert verify(public, bytes([0x72]), signature)


def test_a_spool_keeps_one_entry(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "key")
    assert spool.entry() is None
    spool.put(TAKEN)
    spool.put(RESULT)
    assert Spool(tmp_path / "key").entry() == RESULT
    spool.clear()
    spool.clear()
    assert Spool(tmp_path / "key").entry() is None


def test_half_an_entry_that_a_kill_left_does_not_count(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "key")
    spool.put(TAKEN)
    spool.path.with_name(f"{spool.path.name}.new").write_text('{"type": "resu')
    assert spool.entry() == TAKEN
    spool.put(RESULT)
    assert spool.entry() == RESULT


def test_what_can_not_be_read_is_set_aside(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "key")
    spool.path.write_text("not ours")
    assert spool.entry() is None
    assert not spool.path.exists()
    assert (tmp_path / "key.spool.broken").read_text() == "not ours"


def test_a_key_works_for_one_runner_at_a_time(tmp_path: Path) -> None:
    with Spool(tmp_path / "key").held():
        with pytest.raises(Conflict, match="another runner is at work"), Spool(tmp_path / "key").held():
            pass
        with Spool(tmp_path / "other").held():
            pass
    with Spool(tmp_path / "key").held():
        pass
