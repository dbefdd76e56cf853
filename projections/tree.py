"""The log as a Merkle tree, grown by each save: from one row the next, so an event costs O(log n) at most.

A row of ``tree`` holds the digests of a save's events and the peaks of the tree at its end; ``tree_nodes`` holds what
proofs need beside them, the roots of complete subtrees of 256, 65,536, … leaves.
"""

import sqlite3
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Final

import msgspec

from domain.audit.leaves import digest_bytes, leaf_entry, leaf_of
from domain.audit.merkle import (
    EMPTY_ROOT,
    HASH_SIZE,
    TILE_WIDTH,
    Hashes,
    Range,
    Tree,
    consistency_path,
    inclusion_path,
    subtree_hash,
)
from domain.audit.tiles import Tile, bundle
from domain.events import Event
from projections.model import ReadModel, json_list

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
    return _subtrees(db, [(0, size)])[0] if size else EMPTY_ROOT


def digests(db: sqlite3.Connection, first: int, count: int) -> list[bytes]:
    """The digests of ``count`` events, the first of them at position ``first`` + 1."""
    return _stretches(db, [first], count)[first]


def inclusions(db: sqlite3.Connection, positions: Sequence[int], size: int) -> list[list[bytes]]:
    """The proofs that the events at these positions are among the first ``size`` (at least each of them)."""
    paths = [inclusion_path(position - 1, size) for position in positions]
    hashes = iter(_subtrees(db, list(chain.from_iterable(paths))))
    return [list(islice(hashes, len(path))) for path in paths]


def consistency(db: sqlite3.Connection, size1: int, size2: int) -> list[bytes]:
    """The proof that the first ``size2`` events begin with the first ``size1`` (1 to ``size2``)."""
    return _subtrees(db, consistency_path(size1, size2))


def tile(db: sqlite3.Connection, wanted: Tile) -> bytes:
    """The bytes of a tile that is in the tree."""
    if wanted.level is None:
        return bundle(map(leaf_entry, digests(db, wanted.first, wanted.width)))
    place = (wanted.level, wanted.first, wanted.width)
    return b"".join(_hashes(db, {place})(*place))


Place = tuple[int, int, int]
"""Consecutive hashes of a tile level: the level, the first of them, how many."""


def _subtrees(db: sqlite3.Connection, ranges: Sequence[Range]) -> list[bytes]:
    """The roots of subtrees, in as many statements for many as for one."""
    needed = set[Place]()

    def note(level: int, first: int, count: int) -> Sequence[bytes]:
        needed.add((level, first, count))
        return [EMPTY_ROOT] * count

    for one in ranges:
        subtree_hash(one, note)
    hashes = _hashes(db, needed)
    return [subtree_hash(one, hashes) for one in ranges]


def _hashes(db: sqlite3.Connection, needed: Collection[Place]) -> Hashes:
    """What answers for these places: leaves are read by tiles, nodes one by one."""
    tiles = {first // TILE_WIDTH * TILE_WIDTH for level, first, _ in needed if level == 0}
    found = {
        (0, start + offset): leaf_of(digest)
        for start, stretch in _stretches(db, sorted(tiles), TILE_WIDTH).items()
        for offset, digest in enumerate(stretch)
    }
    query = """SELECT level, number, hash FROM json_each(?) JOIN tree_nodes
      ON level = value ->> 0 AND number >= value ->> 1 AND number < (value ->> 1) + (value ->> 2)"""
    above = msgspec.json.encode([place for place in needed if place[0]]).decode()
    found |= {(level, number): hashed for level, number, hashed in db.execute(query, (above,))}
    return lambda level, first, count: [found[level, number] for number in range(first, first + count)]


def _stretches(db: sqlite3.Connection, firsts: Sequence[int], count: int) -> dict[int, list[bytes]]:
    """By where they begin, the digests of ``count`` events behind each of these positions, fewer at the log's end."""
    query = """SELECT value, position, digests FROM json_each(:firsts) JOIN tree ON position > value
        AND position <= ifnull((SELECT min(position) FROM tree WHERE position >= value + :count), value + :count)
      ORDER BY value, position"""
    found: dict[int, list[bytes]] = {first: [] for first in firsts}
    for first, position, kept in db.execute(query, {"firsts": json_list(firsts), "count": count}):
        stretch, start = found[first], position - len(kept) // HASH_SIZE
        skipped = max(first - start, 0)
        stretch += _split(kept[skipped * HASH_SIZE : (skipped + count - len(stretch)) * HASH_SIZE])
    return found


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
