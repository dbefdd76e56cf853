"""The log as a Merkle tree, grown by each save: from one row the next, so an event costs O(log n) at most.

A row of ``tree`` holds the digests of a save's events and the peaks of the tree at its end; ``tree_nodes`` holds what
proofs need beside them, the roots of complete subtrees of 256, 65,536, … leaves.
"""

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from domain.audit.leaves import digest_bytes, leaf_entry, leaf_of
from domain.audit.merkle import (
    EMPTY_ROOT,
    HASH_SIZE,
    TILE_WIDTH,
    Tree,
    consistency_path,
    inclusion_path,
    subtree_hash,
)
from domain.audit.tiles import Tile, bundle
from domain.events import Event
from projections.model import ReadModel

DDL: Final = """
CREATE TABLE tree (position INTEGER PRIMARY KEY, digests BLOB NOT NULL, peaks BLOB NOT NULL) STRICT;
CREATE TABLE tree_nodes (
  level INTEGER NOT NULL, number INTEGER NOT NULL, position INTEGER NOT NULL, hash BLOB NOT NULL,
  PRIMARY KEY (level, number)
) STRICT, WITHOUT ROWID
"""


def root(db: sqlite3.Connection, size: int) -> bytes:
    """The root of the tree over the first ``size`` events; quick where a save ended there."""
    row = db.execute("SELECT peaks FROM tree WHERE position = ?", (size,)).fetchone()
    if row:
        return _root_of(size, row[0])
    return subtree_hash((0, size), _Hashes(db)) if size else EMPTY_ROOT


def digests(db: sqlite3.Connection, first: int, count: int) -> list[bytes]:
    """The digests of ``count`` events, the first of them at position ``first`` + 1."""
    rows = db.execute("SELECT position, digests FROM tree WHERE position > ? ORDER BY position", (first,))
    found = list[bytes]()
    for position, kept in rows:
        start = position - len(kept) // HASH_SIZE
        skipped = max(first - start, 0)
        wanted = count - len(found)
        found += _split(kept[skipped * HASH_SIZE : (skipped + wanted) * HASH_SIZE])
        if len(found) == count:
            break
    return found


def inclusion(db: sqlite3.Connection, position: int, size: int) -> list[bytes]:
    """The proof that the event at ``position`` is one of the first ``size`` (at least ``position``)."""
    hashes = _Hashes(db)
    return [subtree_hash(part, hashes) for part in inclusion_path(position - 1, size)]


def consistency(db: sqlite3.Connection, size1: int, size2: int) -> list[bytes]:
    """The proof that the first ``size2`` events begin with the first ``size1`` (1 to ``size2``)."""
    hashes = _Hashes(db)
    return [subtree_hash(part, hashes) for part in consistency_path(size1, size2)]


def tile(db: sqlite3.Connection, wanted: Tile) -> bytes:
    """The bytes of a tile that is in the tree."""
    if wanted.level is None:
        return bundle(map(leaf_entry, digests(db, wanted.first, wanted.width)))
    return b"".join(_Hashes(db)(wanted.level, wanted.first, wanted.width))


class _Hashes:
    """The hashes of tile levels, as proofs ask for them; what was read of the leaves is kept, for one proof."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._leaves: dict[int, list[bytes]] = {}

    def __call__(self, level: int, first: int, count: int) -> Sequence[bytes]:
        if level:
            query = "SELECT hash FROM tree_nodes WHERE level = ? AND number >= ? AND number < ? ORDER BY number"
            return [hashed for (hashed,) in self._db.execute(query, (level, first, first + count))]
        number, offset = divmod(first, TILE_WIDTH)
        if number not in self._leaves:
            self._leaves[number] = [leaf_of(one) for one in digests(self._db, number * TILE_WIDTH, TILE_WIDTH)]
        return self._leaves[number][offset : offset + count]


def _absorb(db: sqlite3.Connection, save: Sequence[tuple[Event, int]]) -> None:
    """Let the tree grow by a save. An event that was erased has its leaf from the digest that is kept of it."""
    before, position = save[0][0].position - 1, save[-1][0].position
    row = db.execute("SELECT peaks FROM tree WHERE position = ?", (before,)).fetchone()
    tree = Tree(before, _split(row[0]) if row else ())
    added = [digest_bytes(event) for event, _ in save]
    for digest in added:
        tree.append(leaf_of(digest))
    db.execute("INSERT INTO tree VALUES (?, ?, ?)", (position, b"".join(added), b"".join(tree.peaks)))
    if tree.completed:
        rows = [(level, number, position, hashed) for level, number, hashed in tree.completed]
        db.executemany("INSERT INTO tree_nodes VALUES (?, ?, ?, ?)", rows)


@lru_cache(maxsize=256)
def _root_of(size: int, peaks: bytes) -> bytes:
    return Tree(size, _split(peaks)).root()


def _split(joined: bytes) -> list[bytes]:
    return [joined[start : start + HASH_SIZE] for start in range(0, len(joined), HASH_SIZE)]


READ_MODEL = ReadModel("tree", 1, DDL, {}, absorb=_absorb)
