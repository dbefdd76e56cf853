"""Files that nobody else reads and that nobody misses: they need no journal."""

import sqlite3
from pathlib import Path

from projections.views import connect, with_tables


def open_scratch(path: Path) -> sqlite3.Connection:
    """A connection to a new file."""
    db = connect(path, writes=True)
    for pragma in ("journal_mode = OFF", "locking_mode = EXCLUSIVE", "synchronous = OFF", "cache_size = -65536"):
        db.execute(f"PRAGMA {pragma}")
    return db


def open_scratch_views(path: Path) -> sqlite3.Connection:
    """The same with empty views in it: for :func:`projections.views.apply`."""
    return with_tables(open_scratch(path))
