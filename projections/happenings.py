"""What happened in a stretch of the log, in its order: what subscribers are told.

A happening is told as of the end of its save: what was between was never shown. Its place is a position, and where many
things happen at one position a key that orders them.
"""

import sqlite3
from typing import Final, NamedTuple

import msgspec

from projections import rankings, saves
from projections.model import AS_OF, Doc
from projections.paging import Listing

ALL: Final = "~"
"""The key behind all others: digests and ids sort before it."""


class Place(NamedTuple):
    """A place in the log: behind everything at ``position``, or behind what has a key up to this one."""

    position: int
    key: str = ALL


class Happening(NamedTuple):
    """Something that happened, in the API's own names."""

    place: Place
    doc: Doc


class Stretch(NamedTuple):
    """Which part of the log: behind ``after``, up to the position ``until``; at most ``limit`` happenings of it."""

    after: Place
    until: int
    limit: int


def of_rows(db: sqlite3.Connection, listing: Listing, key: str, since: str, stretch: Stretch) -> list[tuple[int, str]]:
    """The positions and keys of rows of a listing that began in the stretch, by the column ``since``.

    Each event begins at most one of them. Criteria are asked of the row as it stood at the end of its save.
    """
    end = f"(SELECT min(saves.position) FROM saves WHERE saves.position >= {listing.table}.{since})"  # noqa: S608
    conditions = " AND ".join((AS_OF, *listing.where)).replace(":position", end)
    query = f"""SELECT {since}, {key} FROM {listing.table}
      WHERE {since} > :after AND {since} <= :until AND {conditions} ORDER BY {since} LIMIT :limit"""  # noqa: S608
    names = {"after": stretch.after.position, "until": stretch.until, "limit": stretch.limit, **listing.names}
    return db.execute(query, names).fetchall()


_LEVELS: Final = f"""
  WITH changed AS (
    SELECT digest, doc, (SELECT min(position) FROM saves WHERE position >= from_position) AS ended
    FROM runs WHERE from_position > :began AND from_position <= :until AND (:run IS NULL OR digest = :run)
      AND {AS_OF.replace(":position", "(SELECT min(position) FROM saves WHERE position >= from_position)")}
  )
  SELECT ended, digest, earlier.doc -> '$.evidence', changed.doc -> '$.evidence' FROM changed
  JOIN runs AS earlier USING (digest)
  WHERE earlier.from_position <= (SELECT max(position) FROM saves WHERE position < ended)
    AND earlier.to_position > (SELECT max(position) FROM saves WHERE position < ended)
    AND (earlier.doc -> '$.evidence.level', earlier.doc -> '$.evidence.contested')
      <> (changed.doc -> '$.evidence.level', changed.doc -> '$.evidence.contested')
    AND (ended, digest) > (:position, :key)
  ORDER BY ended, digest LIMIT :limit"""  # noqa: S608 text is ours


def of_evidence(db: sqlite3.Connection, run: str | None, stretch: Stretch) -> list[Happening]:
    """Runs of which the evidence level, or whether they are contested, became another: one, or all."""
    names = {
        "run": run,
        "began": _end_before(db, stretch.after),
        "until": stretch.until,
        "position": stretch.after.position,
        "key": stretch.after.key,
        "limit": stretch.limit,
    }
    return [
        Happening(
            Place(position, digest),
            {"run": digest, "before": msgspec.json.decode(before), "after": msgspec.json.decode(after)},
        )
        for position, digest, before, after in db.execute(_LEVELS, names)
    ]


def of_rankings(db: sqlite3.Connection, key: str | None, stretch: Stretch) -> tuple[list[Happening], Place | None]:
    """Groups, one or all, in which the ranks or the ranked values became others, and the place looked at last.

    A group whose runs merely say something else is passed over, so the limit bounds what is looked at.
    """
    query = """SELECT from_position, comparison_key FROM rankings
      WHERE (:only IS NULL OR comparison_key = :only) AND from_position >= :position AND from_position <= :until
        AND (from_position, comparison_key) > (:position, :key)
      ORDER BY from_position, comparison_key LIMIT :limit"""
    names = {"only": key, "until": stretch.until, "limit": stretch.limit}
    rows = db.execute(query, {**names, **stretch.after._asdict()}).fetchall()
    found = []
    for position, group in rows:
        before, after = _ranked(db, group, _end_before(db, Place(position, ""))), _ranked(db, group, position)
        if _ranks(before) != _ranks(after):
            doc = {"comparisonKey": group, "previousLeader": _leader(before), "leader": _leader(after)}
            found.append(Happening(Place(position, group), doc))
    return found, Place(*rows[-1]) if len(rows) == stretch.limit else None


def _end_before(db: sqlite3.Connection, place: Place) -> int:
    """The end of the last save of which everything lies before the place."""
    until = place.position if place.key == ALL else place.position - 1
    return saves.save_at(db, until).position


def _ranked(db: sqlite3.Connection, key: str, position: int) -> rankings.Standing | None:
    groups = rankings.groups(db, [key], position)
    return rankings.rank(db, groups.values(), position).get(key)


def _ranks(standing: rankings.Standing | None) -> list[tuple[str, int, object]]:
    return [(one.entry.run, one.rank, one.entry.value) for one in standing.placed] if standing else []


def _leader(standing: rankings.Standing | None) -> str | None:
    return standing.placed[0].entry.run if standing and standing.placed else None
