"""Digests of whole tables: equal views have equal digests, however they came to be."""

import sqlite3
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

import msgspec

OF_THIS_COPY: Final = frozenset({("saves", "recorder_id"), ("events", "recorder_id")})
"""Columns that belong to one copy of the log, not to what it says: recorder ids have gaps on some databases."""

FULL_TEXT: Final = "findable_text"
"""The full-text index and its tables: how it lies in them depends on how writes were gathered, not on what it says."""


_ROW: Final = msgspec.json.Encoder()


def view_digests(db: sqlite3.Connection) -> dict[str, str]:
    """``sha256:`` of each table: rows in the order of their primary key, values as JCS, bytes as hex, no rowids."""
    return {table: _digest(db, table) for table in tables_of(db)}


def rows_that_hold(db: sqlite3.Connection) -> dict[str, int]:
    """How many rows of each table hold now; closed ones are of earlier positions."""
    counts = {}
    for name in tables_of(db):
        columns = {column for (column,) in db.execute("SELECT name FROM pragma_table_info(?)", (name,))}
        condition = " WHERE to_position IS NULL" if "to_position" in columns else ""
        (counts[name],) = db.execute(f"SELECT count(*) FROM {name}{condition}").fetchone()  # noqa: S608 names are the schema's
    return counts


def tables_of(db: sqlite3.Connection) -> list[str]:
    """The tables of the views, by name."""
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    return [name for (name,) in db.execute(query) if not name.startswith(FULL_TEXT)]


def rows_of(db: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """What a table's digest is taken of: its rows in the order of their key, without what is of this copy only."""
    info = db.execute("SELECT name, pk FROM pragma_table_info(?)", (table,)).fetchall()
    columns = [name for name, _ in info if (table, name) not in OF_THIS_COPY]
    keys = [name for name, place in sorted(info, key=lambda one: one[1]) if place] or columns
    query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {', '.join(keys)}"  # noqa: S608 names are the schema's
    yield from db.execute(query)


def _digest(db: sqlite3.Connection, table: str) -> str:
    digest = sha256()
    for row in rows_of(db, table):
        values = [value.hex() if isinstance(value, bytes) else value for value in row]
        # No column holds fractions or counts to 2^53: of all else msgspec writes what RFC 8785 does, and quickly.
        digest.update(_ROW.encode(values) + b"\n")
    return f"sha256:{digest.hexdigest()}"
