"""The signer keeps to its word, whatever becomes of the log, and its key stays its own."""

import stat
from pathlib import Path

import pytest

from domain.audit.merkle import leaf_hash, root_of
from domain.audit.notes import Checkpoint, Note
from domain.commands import RegisterSource
from domain.errors import Conflict, ErrorCode, InvalidInput
from domain.principals import LOCAL
from service.app import open_index
from service.audit.ed25519 import SignerKey
from service.audit.signer import Signer
from service.settings import Settings
from service.signatures import verify
from tests.examples import Clock, Ids
from tests.service.api.asking import ask, error_of

ORIGIN = "example.org/log"


def roots(*entries: bytes):  # type: ignore[no-untyped-def]
    """The roots of a log that holds these entries."""
    leaves = [leaf_hash(entry) for entry in entries]
    return lambda size: root_of(leaves[:size])


LOG = roots(b"a", b"b", b"c", b"d")
FORK = roots(b"a", b"x", b"c", b"d")


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return Signer(tmp_path, ORIGIN)


def test_a_checkpoint_is_signed_under_the_key_that_is_published(signer: Signer) -> None:
    note = signer.newest(2, LOG)
    assert note.is_signed(signer.verifier, verify)
    assert Checkpoint.of(note) == Checkpoint(ORIGIN, 2, LOG(2))


def test_the_key_is_made_once_and_only_its_owner_can_read_it(signer: Signer, tmp_path: Path) -> None:
    first = signer.verifier
    assert Signer(tmp_path, ORIGIN).verifier == first
    assert stat.S_IMODE((tmp_path / "checkpoint.key").stat().st_mode) == 0o600


def test_a_longer_log_that_begins_with_what_was_signed_is_signed(signer: Signer) -> None:
    assert [Checkpoint.of(signer.newest(size, LOG)).size for size in (1, 2, 2, 4)] == [1, 2, 2, 4]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_another_history_is_never_signed_not_even_after_a_restart(tmp_path: Path, size: int) -> None:
    Signer(tmp_path, ORIGIN).newest(2, LOG)
    for signer in (Signer(tmp_path, ORIGIN), Signer(tmp_path, ORIGIN)):
        with pytest.raises(Conflict) as refused:
            signer.newest(size, FORK)
        assert refused.value.problems[0].code is ErrorCode.CHECKPOINT_REFUSED
    kept = Note.parse((tmp_path / "checkpoint").read_text())
    assert Checkpoint.of(kept).root == LOG(2)


def test_nothing_shorter_is_signed_again(signer: Signer) -> None:
    """A process that is behind is answered with what another one has signed."""
    longest = signer.newest(4, LOG)
    assert signer.newest(3, LOG) == longest


def test_who_signs_with_the_same_key_from_another_folder_keeps_to_what_was_published(tmp_path: Path) -> None:
    """Two hosts of one log that were given one key: neither forks what the other has given out."""
    key = str(SignerKey(ORIGIN, bytes(range(32))))
    published = str(Signer(tmp_path / "one", ORIGIN, key).newest(2, LOG))
    other = Signer(tmp_path / "other", ORIGIN, key)

    with pytest.raises(Conflict) as refused:
        other.newest(3, FORK, published)

    assert refused.value.problems[0].code is ErrorCode.CHECKPOINT_REFUSED
    assert Checkpoint.of(other.newest(3, LOG, published)).size == 3


def test_a_last_checkpoint_of_another_key_is_not_extended(tmp_path: Path) -> None:
    Signer(tmp_path, ORIGIN).newest(2, LOG)
    (tmp_path / "checkpoint.key").unlink()
    with pytest.raises(Conflict, match="not signed by this log's key"):
        Signer(tmp_path, ORIGIN).newest(3, LOG)


def test_a_key_may_be_given(tmp_path: Path) -> None:
    key = SignerKey(ORIGIN, bytes(range(32)))
    signer = Signer(tmp_path, ORIGIN, str(key))
    assert signer.newest(1, LOG).is_signed(key.verifier, verify)
    assert not (tmp_path / "checkpoint.key").exists()


def test_a_key_of_another_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"'other\.example', the log 'example\.org/log'"):
        _ = Signer(tmp_path, ORIGIN, str(SignerKey("other.example", bytes(32)))).key


@pytest.mark.parametrize("text", ["", "PRIVATE+KEY+x", "hello"])
def test_a_key_that_is_none_keeps_the_index_closed(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInput, match="not a signer's key"):
        _ = Signer(tmp_path, ORIGIN, text).key


def restore(folder: Path, copy: bytes) -> None:
    """Put an old copy of the log in its place."""
    for file in folder.glob("log.db*"):
        file.unlink()
    (folder / "log.db").write_bytes(copy)


async def test_a_log_that_lost_events_gets_no_checkpoint(tmp_path: Path) -> None:
    """An old copy of the database, restored beside the checkpoint that was given of the newer one."""
    settings = Settings(data_dir=tmp_path)
    async with open_index(settings, now=Clock(), new_id=Ids()) as index:
        await ask(index, "{ checkpoint { treeSize } }")
    copy = (tmp_path / "log.db").read_bytes()
    async with open_index(settings, now=Clock(), new_id=Ids()) as index:
        await index.ledger.handle([RegisterSource(slug="a", name="A", kind="b", policy=b"null")], LOCAL)
        await ask(index, "{ checkpoint { treeSize } }")
    restore(tmp_path, copy)
    async with open_index(settings, now=Clock(), new_id=Ids()) as index:
        assert (await error_of(index, "{ checkpoint { treeSize } }"))["code"] == "CHECKPOINT_REFUSED"
        await index.ledger.handle([RegisterSource(slug="c", name="C", kind="b", policy=b"null")], LOCAL)
        assert (await error_of(index, "{ checkpoint { treeSize } }"))["code"] == "CHECKPOINT_REFUSED"
        await index.ledger.handle([RegisterSource(slug="d", name="D", kind="b", policy=b"null")], LOCAL)
        assert (await error_of(index, "{ checkpoint { treeSize } }"))["code"] == "CHECKPOINT_REFUSED"
