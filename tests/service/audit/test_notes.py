"""Signed notes, checkpoints, tiles and proofs against the published vectors, those included that must be refused."""

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.audit.merkle import inclusion_path, leaf_hash, root_of
from domain.audit.notes import Checkpoint, Note, VerifierKey, is_key_name, notes_in
from domain.audit.proofs import TlogProof
from domain.audit.tiles import Tile, bundle
from domain.errors import InvalidInput
from service.audit.ed25519 import SignerKey
from service.signatures import verify

TLOG = Path(__file__).parents[2] / "fixtures/vectors/tlog"
VECTORS = json.loads((TLOG / "notes.json").read_bytes())
LOG = VECTORS["log_testdata"]
KEY = VerifierKey.parse(LOG["vkey"])
ENTRIES = [entry.encode() for entry in LOG["entries"]]
LEAVES = [leaf_hash(entry) for entry in ENTRIES]


@pytest.mark.parametrize("vector", VECTORS["notes"], ids=lambda one: one["source"])
def test_a_note_is_taken_or_refused_as_published(vector: dict[str, Any]) -> None:
    key = VerifierKey.parse(vector["vkey"])
    try:
        taken = Note.parse(vector["note"]).is_signed(key, verify)
    except InvalidInput:
        taken = False
    assert taken is vector["ok"]


def test_a_record_has_the_leaf_hash_that_go_computes() -> None:
    vector = VECTORS["go_tlog"]
    assert leaf_hash(vector["record"].encode()) == b64decode(vector["leaf_hash_b64"])


@pytest.mark.parametrize("size", range(16))
def test_a_published_checkpoint_is_signed_and_has_the_root_of_its_entries(size: int) -> None:
    text = (TLOG / f"checkpoint.{size}").read_text()
    note = Note.parse(text)
    assert str(note) == text
    assert note.is_signed(KEY, verify)
    assert Checkpoint.of(note) == Checkpoint("example.com/log/testdata", size, root_of(LEAVES[:size]))


@pytest.mark.parametrize("size", range(1, 16))
def test_signing_gives_the_published_bytes_again(size: int) -> None:
    signer = SignerKey.parse(LOG["test_signer"])
    checkpoint = Checkpoint(KEY.name, size, root_of(LEAVES[:size]))
    assert str(signer.sign(checkpoint.text)) == (TLOG / f"checkpoint.{size}").read_text()
    assert str(signer) == LOG["test_signer"]
    assert str(signer.verifier) == LOG["vkey"]


@pytest.mark.parametrize("width", range(1, 16))
def test_tiles_hold_the_published_bytes_under_the_published_paths(width: int) -> None:
    hashes, entries = Tile(0, 0, width), Tile(None, 0, width)
    assert b"".join(LEAVES[:width]) == (TLOG / "tile" / hashes.path).read_bytes()
    assert bundle(ENTRIES[:width]) == (TLOG / "tile" / entries.path).read_bytes()


@given(st.builds(Tile, st.none() | st.integers(0, 63), st.integers(0, 10**15 - 1), st.integers(1, 256)))
def test_a_tile_is_found_by_its_path(tile: Tile) -> None:
    assert Tile.parse(tile.path) == tile


def test_a_path_is_written_as_specified() -> None:
    assert Tile(1, 1_234_067).path == "1/x001/x234/067"
    assert Tile(None, 3, 70).path == "entries/003.p/70"


@pytest.mark.parametrize(
    "path", ["64/000", "01/000", "0/0", "0/x000/000", "0/000.p/0", "0/000.p/256", "0/000.p/01", "0/000.p/", "a/000", ""]
)
def test_other_paths_are_no_tiles(path: str) -> None:
    assert Tile.parse(path) is None


def test_a_tile_is_there_from_the_size_on_that_completes_it() -> None:
    assert [Tile(0, 0, 5).is_in(size) for size in (4, 5, 6)] == [False, True, True]
    assert [Tile(1, 0, 1).is_in(size) for size in (255, 256)] == [False, True]


def proof_of(index: int) -> TlogProof:
    hashes = tuple(root_of(LEAVES[first:end]) for first, end in inclusion_path(index, 15))
    return TlogProof(index, hashes, Note.parse((TLOG / "checkpoint.15").read_text()), b"extra data")


@pytest.mark.parametrize("index", range(15))
def test_a_proof_survives_its_text_and_shows_its_entry_alone(index: int) -> None:
    proof = TlogProof.parse(str(proof_of(index)))
    assert proof == proof_of(index)
    assert [proof.shows(leaf) for leaf in LEAVES] == [place == index for place in range(15)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tlog-proof@v1", "tlog-proof@v2"),
        ("index 3", "index 03"),
        ("index 3", "index -3"),
        ("index 3", "position 3"),
        ("extra ZXh", "extra !!!"),
        ("\n\nexample", "\nexample"),
    ],
)
def test_a_text_that_is_no_proof_is_refused(old: str, new: str) -> None:
    text = str(proof_of(3))
    assert old in text
    with pytest.raises(InvalidInput):
        TlogProof.parse(text.replace(old, new, 1))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.com/foo",
        LOG["vkey"][:-4],
        LOG["vkey"].replace("33d7b496", "33d7b497"),
        LOG["vkey"].replace("testdata+", "test data+"),
        LOG["vkey"].replace("AeHT", "AuHT"),
        LOG["test_signer"],
    ],
)
def test_what_is_no_verifier_key_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        VerifierKey.parse(text)


@pytest.mark.parametrize("text", ["", LOG["vkey"], LOG["test_signer"][:-4], LOG["test_signer"].replace("b496", "b497")])
def test_what_is_no_signer_key_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        SignerKey.parse(text)
    assert not text or text not in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n3\n", "\n03\n"),
        ("\n3\n", "\n-1\n"),
        ("\n3\n", "\n\n"),
        ("mvqbavKk=", "mvqbavK="),
        ("mvqbavKk=", "mvqbavKl="),
    ],
)
def test_a_note_that_states_no_checkpoint_is_refused(old: str, new: str) -> None:
    text = (TLOG / "checkpoint.3").read_text()
    assert old in text
    with pytest.raises(InvalidInput):
        Checkpoint.of(Note.parse(text.replace(old, new, 1)))


def test_notes_that_were_appended_to_one_file_are_found_again() -> None:
    texts = [(TLOG / f"checkpoint.{size}").read_text() for size in (1, 2, 3)]
    assert [str(note) for note in notes_in("".join(texts))] == texts
    assert [str(note) for note in notes_in("\n".join(texts))] == texts
    assert list(notes_in("")) == []


def test_a_note_may_carry_the_signatures_of_witnesses() -> None:
    text = (TLOG / "checkpoint.3").read_text()
    witness = SignerKey("witness.example", bytes(32))
    cosigned = text + str(witness.sign(Note.parse(text).text)).rpartition("\n\n")[2]
    note = Note.parse(cosigned)
    assert note.is_signed(KEY, verify)
    assert note.is_signed(witness.verifier, verify)


def test_names_of_keys_have_no_spaces_and_no_plus() -> None:
    assert is_key_name("example.org/log")
    assert not any(map(is_key_name, ("", "a b", "a+b", "a\u2028b", "a\u00a0b")))
