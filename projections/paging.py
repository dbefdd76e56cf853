"""Keyset pages over temporal tables: stable under ties and inserts, at the cost of what they return."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from projections.model import AS_OF, DOC, Text, json_list

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
    """The rows of a window in the order of their listing, as keys and documents; whether there are more."""

    rows: Sequence[tuple[Key, Text]]
    has_next: bool
    has_previous: bool


class Branch(msgspec.Struct, frozen=True):
    """A listing of what belongs to a parent, for many parents at once.

    ``belongs`` is the SQL condition of a row of ``listing`` that belongs to ``parent.value``.
    """

    listing: Listing
    belongs: str


def page(db: sqlite3.Connection, listing: Listing, window: Window, position: int) -> Page:
    """Read one window of a listing as of a position."""
    names, conditions, direction = _windowed(listing, window, position)
    query = f"""SELECT {", ".join(listing.order)}, {DOC}, from_position FROM {listing.table} WHERE {conditions}
      ORDER BY {_by(listing.order, direction)} LIMIT :limit"""  # noqa: S608
    return _page(window, db.execute(query, names).fetchall())


def pages(
    db: sqlite3.Connection, branch: Branch, parents: Sequence[str], window: Window, position: int
) -> dict[str, Page]:
    """The same window of the listing of each parent, in one statement."""
    listing = branch.listing
    names, conditions, direction = _windowed(listing, window, position)
    columns = [f"row.{column}" for column in listing.order]
    query = f"""SELECT parent.value, {", ".join(columns)}, {DOC.replace("doc", "row.doc")}, row.from_position
      FROM json_each(:parents) AS parent JOIN {listing.table} AS row ON row.rowid IN (
        SELECT rowid FROM {listing.table} WHERE {branch.belongs} AND {conditions}
        ORDER BY {_by(listing.order, direction)} LIMIT :limit)
      ORDER BY parent.key, {_by(columns, direction)}"""  # noqa: S608
    found: dict[str, list[tuple[Any, ...]]] = {parent: [] for parent in parents}
    for parent, *row in db.execute(query, {**names, "parents": json_list(parents)}):
        found[parent].append(tuple(row))
    return {parent: _page(window, rows) for parent, rows in found.items()}


def counts(db: sqlite3.Connection, branch: Branch, parents: Sequence[str], position: int) -> dict[str, int]:
    """How many rows the listing of each parent has, in one statement."""
    query = f"""SELECT parent.value, (
        SELECT count(*) FROM {branch.listing.table} WHERE {branch.belongs} AND {branch.listing.conditions()})
      FROM json_each(:parents) AS parent"""  # noqa: S608 text is ours
    names = {"position": position, **branch.listing.names, "parents": json_list(parents)}
    return dict(db.execute(query, names).fetchall())


def _windowed(listing: Listing, window: Window, position: int) -> tuple[dict[str, Any], str, str]:
    """What the names of a window's query stand for, which rows it reads, and in which direction."""
    names = {"position": position, "limit": window.size + 1, **listing.names}
    conditions = [listing.conditions()]
    for bound, key, forward in (("after", window.after, True), ("before", window.before, False)):
        if key is not None:
            marks = ", ".join(f":{bound}{index}" for index in range(len(key)))
            comparison = ">" if forward is not listing.descending else "<"
            conditions.append(f"({', '.join(listing.order)}) {comparison} ({marks})")
            names |= {f"{bound}{index}": value for index, value in enumerate(key)}
    direction = "DESC" if listing.descending is not window.backward else "ASC"
    return names, " AND ".join(conditions), direction


def _by(columns: Sequence[str], direction: str) -> str:
    return ", ".join(f"{column} {direction}" for column in columns)


def _page(window: Window, found: Sequence[tuple[Any, ...]]) -> Page:
    more, rows = len(found) > window.size, list(found[: window.size])
    if window.backward:
        rows.reverse()
    return Page(
        rows=[(tuple(row[:-2]), Text(*row[-2:])) for row in rows],
        has_next=window.before is not None if window.backward else more,
        has_previous=more if window.backward else window.after is not None,
    )


def count(db: sqlite3.Connection, listing: Listing, position: int) -> int:
    """How many rows the listing has as of a position."""
    query = f"SELECT count(*) FROM {listing.table} WHERE {listing.conditions()}"  # noqa: S608 text is ours
    row = db.execute(query, {"position": position, **listing.names}).fetchone()
    return int(row[0])
