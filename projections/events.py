"""An index over the log's events: by type, actor and stream, and the history of each record. They stay in the log.

``subject`` is the digest that a stream is named after, or the stream's whole name where it has none; an event that
concerns other records too has a row for each of them, with ``own`` of 0: an alias claimed for a run, an attestation of
it and whatever follows in that attestation's stream, an erasure in the history of what was erased.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from domain.events import Event
from domain.facts import EventErased
from domain.identity import is_digest
from projections.model import ReadModel, json_list

DDL: Final = """
CREATE TABLE events (
  position INTEGER PRIMARY KEY, recorder_id INTEGER NOT NULL, type TEXT NOT NULL, actor TEXT NOT NULL,
  recorded_at TEXT NOT NULL
) STRICT;
CREATE INDEX events_type ON events (type);
CREATE INDEX events_actor ON events (actor);
CREATE TABLE event_subjects (
  subject TEXT NOT NULL, position INTEGER NOT NULL, own INTEGER NOT NULL, PRIMARY KEY (subject, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE stream_records (
  stream TEXT PRIMARY KEY, record TEXT NOT NULL, position INTEGER NOT NULL
) STRICT, WITHOUT ROWID
"""


_ABOUT_RUNS: Final = ("attestation/", "issue/", "rerun/")
"""Streams of which only some events name the run that all of them are about."""


class Criteria(msgspec.Struct, frozen=True, kw_only=True):
    """Which events; what is None doesn't matter. ``record`` is a digest: all events that concern it."""

    types: tuple[str, ...] | None = None
    stream: str | None = None
    record: str | None = None
    actor: str | None = None
    recorded_from: str | None = None
    recorded_to: str | None = None


class Found(msgspec.Struct, frozen=True):
    """Events in the log's order, as positions and recorder ids, and whether more of them follow."""

    rows: Sequence[tuple[int, int]]
    has_next: bool


def page(db: sqlite3.Connection, criteria: Criteria, after: int, until: int, size: int) -> Found:
    """The first ``size`` events behind ``after``, none behind ``until``."""
    tables, conditions, names = _query(criteria)
    query = f"""SELECT position, recorder_id FROM {tables} WHERE {" AND ".join(conditions)}
      ORDER BY position LIMIT :limit"""  # noqa: S608 text is ours
    rows = db.execute(query, {**names, "after": after, "until": until, "limit": size + 1}).fetchall()
    return Found(rows[:size], len(rows) > size)


def count(db: sqlite3.Connection, criteria: Criteria, until: int) -> int:
    """How many events there are, none counted behind ``until``."""
    if criteria == Criteria():
        return until
    tables, conditions, names = _query(criteria)
    query = f"SELECT count(*) FROM {tables} WHERE {' AND '.join(conditions)}"  # noqa: S608 text is ours
    row = db.execute(query, {**names, "after": 0, "until": until}).fetchone()
    return int(row[0])


def histories(db: sqlite3.Connection, records: Sequence[str], after: int, until: int, size: int) -> dict[str, Found]:
    """The first ``size`` events behind ``after`` that concern each of these records, none behind ``until``."""
    query = """SELECT record.value, position, recorder_id FROM json_each(:records) AS record
      JOIN event_subjects ON subject = record.value JOIN events USING (position)
      WHERE position IN (
        SELECT position FROM event_subjects
        WHERE subject = record.value AND position > :after AND position <= :until ORDER BY position LIMIT :limit)
      ORDER BY record.key, position"""
    names = {"records": json_list(records), "after": after, "until": until, "limit": size + 1}
    rows: dict[str, list[tuple[int, int]]] = {record: [] for record in records}
    for record, position, recorder in db.execute(query, names):
        rows[record].append((position, recorder))
    return {record: Found(found[:size], len(found) > size) for record, found in rows.items()}


def lengths(db: sqlite3.Connection, records: Sequence[str], until: int) -> dict[str, int]:
    """How many events concern each of these records, none counted behind ``until``."""
    query = """SELECT value, (SELECT count(*) FROM event_subjects WHERE subject = value AND position <= :until)
      FROM json_each(:records)"""
    return dict(db.execute(query, {"records": json_list(records), "until": until}).fetchall())


def recorder_ids(db: sqlite3.Connection, positions: Sequence[int]) -> dict[int, int]:
    """The recorder ids of the events at these positions."""
    query = "SELECT position, recorder_id FROM events WHERE position IN (SELECT value FROM json_each(?))"
    return dict(db.execute(query, (json_list(positions),)).fetchall())


def _query(criteria: Criteria) -> tuple[str, list[str], dict[str, Any]]:
    tables, conditions = "events", ["position > :after", "position <= :until"]
    names = {name: value for name, value in msgspec.structs.asdict(criteria).items() if value is not None}
    if criteria.stream is not None or criteria.record is not None:
        tables = "event_subjects JOIN events USING (position)"
        conditions.append("subject = :subject")
        names["subject"] = criteria.record if criteria.stream is None else subject_of(criteria.stream)
    if criteria.stream is not None:
        conditions.append("own")
    if criteria.types is not None:
        conditions.append("type IN (SELECT value FROM json_each(:types))")
        names["types"] = msgspec.json.encode(criteria.types).decode()
    if criteria.actor is not None:
        conditions.append("actor = :actor")
    if criteria.recorded_from is not None:
        conditions.append("recorded_at >= :recorded_from")
    if criteria.recorded_to is not None:
        conditions.append("recorded_at < :recorded_to")
    return tables, conditions, names


def subject_of(stream: str) -> str:
    """What a stream is about: the digest that it is named after, else the stream itself."""
    _, _, name = stream.partition("/")
    return name if is_digest(name) else stream


def _absorb(db: sqlite3.Connection, save: Sequence[tuple[Event, int]]) -> None:
    rows, subjects = [], []
    for event, recorder_id in save:
        rows.append((event.position, recorder_id, event.type, event.actor, event.recorded_at))
        subjects.append((subject_of(event.stream), event.position, 1))
        if others := _others(db, event):
            subjects += [(other, event.position, 0) for other in others]
    db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", rows)
    # In the order of the key: where many streams begin in one save, their rows then lie near each other.
    db.executemany("INSERT INTO event_subjects VALUES (?, ?, ?)", sorted(subjects))


def _others(db: sqlite3.Connection, event: Event) -> Sequence[str]:
    """The records that an event concerns beside its own subject: those that it names, or that its stream began with."""
    fact, concerns = event.fact, event.fact.concerns
    if isinstance(fact, EventErased):
        row = db.execute("SELECT stream FROM erased WHERE position = ?", (fact.position,)).fetchone()
        return (subject_of(row[0]),) if row else ()
    if not event.stream.startswith(_ABOUT_RUNS):
        return concerns
    if event.version == 1 and concerns:
        db.execute("INSERT INTO stream_records VALUES (?, ?, ?)", (event.stream, concerns[0], event.position))
        return concerns
    return db.execute("SELECT record FROM stream_records WHERE stream = ?", (event.stream,)).fetchone() or ()


READ_MODEL = ReadModel("events", 1, DDL, {}, absorb=_absorb)
