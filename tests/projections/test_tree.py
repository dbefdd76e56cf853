"""The log's tree as views keep it: the same as over all events at once, at every position."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from domain import facts
from domain.audit.leaves import digest_bytes, leaf_entry, leaf_of
from domain.audit.merkle import root_of, verify_consistency, verify_inclusion
from domain.audit.tiles import Tile
from domain.events import Cause, Committed
from projections import saves, tree
from projections.digests import view_digests
from projections.views import apply, open_writer
from tests.examples import recorded

SIZE = 1_100
ENDS = [1, 2, 3, 7, 255, 256, 257, 800, 801, SIZE]


def log(ends: Sequence[int] = ENDS) -> list[Committed]:
    """A log of ``SIZE`` events whose saves end at these positions."""
    aliases = [facts.AliasClaimed(alias=f"alias-{number}", target=f"sha256:{number:064}") for number in range(SIZE)]
    events = recorded(*aliases)
    for first, end in pairwise([0, *ends]):
        for place in range(first, end):
            cause = Cause(f"r{end}", place - first + 1, end - first)
            events[place] = msgspec.structs.replace(events[place], cause=cause)
    return [Committed(2 * number, event) for number, event in enumerate(events, 1)]


LEAVES = [leaf_of(digest_bytes(one.at(number))) for number, one in enumerate(log(), 1)]


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_writer(tmp_path / "views.db")) as db:
        apply(db, saves.NOTHING, log())
        yield db


def test_the_root_is_that_over_all_leaves_wherever_a_save_ended_or_not(db: sqlite3.Connection) -> None:
    for size in (0, *ENDS, 5, 254, 258, 512, 768, 1024, 1099):
        assert tree.root(db, size) == root_of(LEAVES[:size])


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 800, SIZE])
def test_every_event_is_shown_to_be_in_the_tree(db: sqlite3.Connection, size: int) -> None:
    root = tree.root(db, size)
    for position in {1, min(2, size), size // 2 or 1, size - 1 or 1, size}:
        (proof,) = tree.inclusions(db, [position], size)
        assert verify_inclusion(LEAVES[position - 1], position - 1, size, root, proof)


@pytest.mark.parametrize(
    ("earlier", "later"), [(1, 1), (1, 2), (3, 7), (255, 256), (256, 800), (700, 801), (801, SIZE)]
)
def test_every_earlier_tree_is_shown_to_be_its_beginning(db: sqlite3.Connection, earlier: int, later: int) -> None:
    proof = tree.consistency(db, earlier, later)
    assert verify_consistency(earlier, tree.root(db, earlier), later, tree.root(db, later), proof)


def test_tiles_hold_the_hashes_of_their_level(db: sqlite3.Connection) -> None:
    assert tree.tile(db, Tile(0, 1)) == b"".join(LEAVES[256:512])
    assert tree.tile(db, Tile(0, 4, 76)) == b"".join(LEAVES[1024:])
    assert tree.tile(db, Tile(1, 0, 4)) == b"".join(root_of(LEAVES[n * 256 : (n + 1) * 256]) for n in range(4))


def test_bundles_hold_the_entries_that_hash_to_the_leaves(db: sqlite3.Connection) -> None:
    found = tree.tile(db, Tile(None, 4, 76))
    digests = [digest_bytes(one.at(number)) for number, one in enumerate(log(), 1)][1024:]
    assert found == b"".join(b"\0\x47" + leaf_entry(digest) for digest in digests)


def test_digests_are_found_across_saves(db: sqlite3.Connection) -> None:
    expected = [digest_bytes(one.at(number)) for number, one in enumerate(log(), 1)]
    assert tree.digests(db, 200, 700) == expected[200:900]
    assert tree.digests(db, 0, SIZE) == expected


def test_a_tree_of_the_same_saves_is_the_same_in_whatever_batches_it_was_read(
    db: sqlite3.Connection, tmp_path: Path
) -> None:
    with closing(open_writer(tmp_path / "other.db")) as other:
        for first, end in pairwise([0, *ENDS]):
            apply(other, saves.head(other), log()[first:end])
        assert view_digests(other) == view_digests(db)
        assert other.execute("SELECT count(*) FROM tree_nodes").fetchone() == (4,)


def test_a_changed_node_changes_the_digest_of_its_table_alone(db: sqlite3.Connection) -> None:
    before = view_digests(db)
    db.execute("UPDATE tree_nodes SET hash = zeroblob(32) WHERE number = 3")
    after = view_digests(db)
    assert {name for name in before if before[name] != after[name]} == {"tree_nodes"}
