"""Keyset pages over temporal tables: stable under ties and inserts, at the cost of what they return."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from projections.model import AS_OF, DOC

Key = tuple[Any, ...]


class Listing(msgspec.Struct, frozen=True):
    """Which rows, in which order.

    ``order`` names the columns of the key, the last of them unique; ``where`` holds SQL conditions over ``names``.
    """

    table: str
    order: tuple[str, ...]
    where: tuple[str, ...] = ()
    names: Mapping[str, Any] = {}
    descending: bool = False

    def conditions(self) -> str:
        """The SQL condition of all rows of the listing."""
        return " AND ".join((AS_OF, *self.where))


class Window(msgspec.Struct, frozen=True):
    """Which part of a listing: ``size`` rows from its beginning, or from its end where ``backward``."""

    size: int
    backward: bool = False
    after: Key | None = None
    before: Key | None = None


class Page(msgspec.Struct, frozen=True):
    """The rows of a window in the order of their listing, as keys and texts of documents; whether there are more."""

    rows: Sequence[tuple[Key, bytes]]
    has_next: bool
    has_previous: bool


def page(db: sqlite3.Connection, listing: Listing, window: Window, position: int) -> Page:
    """Read one window of a listing as of a position."""
    names = {"position": position, "limit": window.size + 1, **listing.names}
    conditions = [listing.conditions()]
    for bound, key, forward in (("after", window.after, True), ("before", window.before, False)):
        if key is not None:
            marks = ", ".join(f":{bound}{index}" for index in range(len(key)))
            comparison = ">" if forward is not listing.descending else "<"
            conditions.append(f"({', '.join(listing.order)}) {comparison} ({marks})")
            names |= {f"{bound}{index}": value for index, value in enumerate(key)}
    direction = "DESC" if listing.descending is not window.backward else "ASC"
    query = f"""SELECT {", ".join(listing.order)}, {DOC} FROM {listing.table} WHERE {" AND ".join(conditions)}
      ORDER BY {", ".join(f"{column} {direction}" for column in listing.order)} LIMIT :limit"""  # noqa: S608
    found = db.execute(query, names).fetchall()
    more, rows = len(found) > window.size, found[: window.size]
    if window.backward:
        rows.reverse()
    return Page(
        rows=[(tuple(row[:-1]), row[-1]) for row in rows],
        has_next=window.before is not None if window.backward else more,
        has_previous=more if window.backward else window.after is not None,
    )


def count(db: sqlite3.Connection, listing: Listing, position: int) -> int:
    """How many rows the listing has as of a position."""
    query = f"SELECT count(*) FROM {listing.table} WHERE {listing.conditions()}"  # noqa: S608 text is ours
    row = db.execute(query, {"position": position, **listing.names}).fetchone()
    return int(row[0])
