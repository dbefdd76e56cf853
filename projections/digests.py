"""Digests of whole tables: equal views have equal digests, however they came to be."""

import sqlite3
from hashlib import sha256
from typing import Final

from domain.identity import canonical_json

OF_THIS_COPY: Final = frozenset({("saves", "recorder_id")})
"""Columns that belong to one copy of the log, not to what it says: recorder ids have gaps on some databases."""


def view_digests(db: sqlite3.Connection) -> dict[str, str]:
    """``sha256:`` of each table: rows in the order of their primary key, values as JCS, no rowids."""
    return {name: _digest(db, name) for name in _tables(db)}


def rows_that_hold(db: sqlite3.Connection) -> dict[str, int]:
    """How many rows of each table hold now; closed ones are of earlier positions."""
    counts = {}
    for name in _tables(db):
        columns = {column for (column,) in db.execute("SELECT name FROM pragma_table_info(?)", (name,))}
        condition = " WHERE to_position IS NULL" if "to_position" in columns else ""
        (counts[name],) = db.execute(f"SELECT count(*) FROM {name}{condition}").fetchone()  # noqa: S608 names are the schema's
    return counts


def _tables(db: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    return [name for (name,) in db.execute(query)]


def _digest(db: sqlite3.Connection, table: str) -> str:
    info = db.execute("SELECT name, pk FROM pragma_table_info(?)", (table,)).fetchall()
    columns = [name for name, _ in info if (table, name) not in OF_THIS_COPY]
    keys = [name for name, place in sorted(info, key=lambda one: one[1]) if place] or columns
    digest = sha256()
    query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {', '.join(keys)}"  # noqa: S608 names are the schema's
    for row in db.execute(query):
        digest.update(canonical_json(list(row)) + b"\n")
    return f"sha256:{digest.hexdigest()}"
