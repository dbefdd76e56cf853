"""Digests of whole tables: equal views have equal digests, however they came to be (DESIGN section 7)."""

import sqlite3
from hashlib import sha256
from typing import Final

from domain.identity import canonical_json

OF_THIS_COPY: Final = frozenset({("saves", "recorder_id")})
"""Columns that belong to one copy of the log, not to what it says: recorder ids have gaps on some databases."""

FULL_TEXT: Final = "findable_text"
"""The full-text index and its tables: how it lies in them depends on how writes were gathered, not on what it says."""


def view_digests(db: sqlite3.Connection) -> dict[str, str]:
    """``sha256:`` of each table: rows in the order of their primary key, values as JCS, no rowids."""
    names = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    return {name: _digest(db, name) for (name,) in names if not name.startswith(FULL_TEXT)}


def _digest(db: sqlite3.Connection, table: str) -> str:
    info = db.execute("SELECT name, pk FROM pragma_table_info(?)", (table,)).fetchall()
    columns = [name for name, _ in info if (table, name) not in OF_THIS_COPY]
    keys = [name for name, place in sorted(info, key=lambda one: one[1]) if place] or columns
    digest = sha256()
    query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {', '.join(keys)}"  # noqa: S608 names are the schema's
    for row in db.execute(query):
        digest.update(canonical_json(list(row)) + b"\n")
    return f"sha256:{digest.hexdigest()}"
