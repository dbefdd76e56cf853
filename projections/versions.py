"""The version that each stream of a log has come to, in a file of its own: for who reads a log that is not at hand.

The views have no use for it: there the log itself keeps versions without gaps.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

from projections.model import json_list
from projections.scratch import open_scratch


def open_versions(path: Path) -> sqlite3.Connection:
    """A connection to versions of no stream yet, in a new file that nobody else reads."""
    db = open_scratch(path)
    db.execute("CREATE TABLE streams (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID")
    return db


def versions_of(db: sqlite3.Connection, streams: Iterable[str]) -> dict[str, int]:
    """The versions of those of these streams that have one."""
    query = "SELECT name, version FROM streams WHERE name IN (SELECT value FROM json_each(?))"
    return dict(db.execute(query, (json_list(streams),)).fetchall())


def keep(db: sqlite3.Connection, versions: Mapping[str, int]) -> None:
    """Note the versions that these streams have come to."""
    db.execute("BEGIN")
    db.executemany("INSERT OR REPLACE INTO streams VALUES (?, ?)", sorted(versions.items()))
    db.execute("COMMIT")


def count(db: sqlite3.Connection) -> int:
    """How many streams there are."""
    return int(db.execute("SELECT count(*) FROM streams").fetchone()[0])
