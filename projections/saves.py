"""The log's own timeline: where each save ended, when it was recorded, which policies held.

A position inside a save is never shown: it rounds down to the end of the save before.
"""

import sqlite3
from typing import Any

import msgspec

from domain.events import Event
from domain.facts import LogOpened, PolicyAdopted
from domain.policies import known
from projections.model import AS_OF, TEMPORAL, ReadModel, close, insert

DDL = f"""
CREATE TABLE saves (
  position INTEGER PRIMARY KEY, recorder_id INTEGER NOT NULL UNIQUE, recorded_at TEXT NOT NULL, known_at TEXT NOT NULL,
  request TEXT NOT NULL
) STRICT;
CREATE INDEX saves_known_at ON saves (known_at);
CREATE INDEX saves_request ON saves (request);
CREATE TABLE policies (name TEXT NOT NULL, version TEXT NOT NULL, {TEMPORAL}, PRIMARY KEY (name, from_position)) STRICT;
CREATE TABLE log (id TEXT NOT NULL, origin TEXT NOT NULL, from_position INTEGER NOT NULL) STRICT;
"""


class UnknownPolicy(Exception):
    """The log follows a policy that this release doesn't have: it must not show answers of another one."""

    def __init__(self, version: str) -> None:
        super().__init__(f"the log has adopted policy {version}, which this release doesn't know; upgrade it")


class Save(msgspec.Struct, frozen=True):
    """A moment at which the log may be shown. ``known_at`` never goes back, whatever the clocks of the writers did."""

    position: int
    recorder_id: int
    known_at: str


NOTHING = Save(0, 0, "0001-01-01T00:00:00.000000Z")


def record_save(db: sqlite3.Connection, event: Event, recorder_id: int) -> None:
    """Note that a save ended with this event."""
    known_at = max(event.recorded_at, head(db).known_at)
    row = (event.position, recorder_id, event.recorded_at, known_at, event.cause.request)
    db.execute("INSERT INTO saves VALUES (?, ?, ?, ?, ?)", row)


def head(db: sqlite3.Connection) -> Save:
    """The last save that the views reflect."""
    row = db.execute(f"{_SAVE} ORDER BY position DESC LIMIT 1").fetchone()
    return Save(*row) if row else NOTHING


def head_request(db: sqlite3.Connection) -> str | None:
    """The request whose save the views reflect last: no other log has one of that id."""
    row = db.execute("SELECT request FROM saves ORDER BY position DESC LIMIT 1").fetchone()
    return row[0] if row else None


def save_at(db: sqlite3.Connection, position: int) -> Save:
    """The last save that ended at or before the position."""
    row = db.execute(f"{_SAVE} WHERE position <= ? ORDER BY position DESC LIMIT 1", (position,)).fetchone()
    return Save(*row) if row else NOTHING


def save_known_at(db: sqlite3.Connection, instant: str) -> Save:
    """The last save that was known at an instant, given in microseconds as the log writes them."""
    query = f"{_SAVE} WHERE known_at <= ? ORDER BY known_at DESC, position DESC LIMIT 1"
    row = db.execute(query, (instant,)).fetchone()
    return Save(*row) if row else NOTHING


def end_of(db: sqlite3.Connection, position: int) -> Save:
    """The save that an event at the position is part of: since its end the event is shown."""
    row = db.execute(f"{_SAVE} WHERE position >= ? ORDER BY position LIMIT 1", (position,)).fetchone()
    return Save(*row)


def recorded_at(db: sqlite3.Connection, position: int) -> str:
    """When the save that ended at this position was recorded."""
    return str(db.execute("SELECT recorded_at FROM saves WHERE position = ?", (position,)).fetchone()[0])


def position_of(db: sqlite3.Connection, recorder_id: int) -> int | None:
    """The position at which the save with this last recorder id ended."""
    row = db.execute("SELECT position FROM saves WHERE recorder_id = ?", (recorder_id,)).fetchone()
    return row[0] if row else None


def position_of_request(db: sqlite3.Connection, request: str) -> int | None:
    """The position at which the events of a request ended; None where it appended none."""
    row = db.execute("SELECT position FROM saves WHERE request = ?", (request,)).fetchone()
    return row[0] if row else None


def policy(db: sqlite3.Connection, name: str, position: int) -> str:
    """The version of a policy that holds at the position."""
    query = f"SELECT version FROM policies WHERE name = :name AND {AS_OF}"  # noqa: S608
    row = db.execute(query, {"name": name, "position": position}).fetchone()
    return row[0] if row else f"{name}-v1"


def log_id(db: sqlite3.Connection) -> str:
    """The id of the log that these views show; empty before it was opened."""
    row = db.execute("SELECT id FROM log").fetchone()
    return row[0] if row else ""


def log_origin(db: sqlite3.Connection) -> str:
    """The name of the log that these views show."""
    return str(db.execute("SELECT origin FROM log").fetchone()[0])


_SAVE = "SELECT position, recorder_id, known_at FROM saves"


def _log_opened(db: sqlite3.Connection, event: Event, fact: LogOpened) -> None:
    insert(db, "log", {"id": fact.log_id, "origin": fact.origin, "from_position": event.position})


def _policy_adopted(db: sqlite3.Connection, event: Event, fact: PolicyAdopted) -> None:
    if not known(fact.version):
        raise UnknownPolicy(fact.version)
    close(db, "policies", "name", fact.name, event.position)
    row: dict[str, Any] = {"name": fact.name, "version": fact.version, "from_position": event.position}
    insert(db, "policies", row)


READ_MODEL = ReadModel("saves", 1, DDL, {LogOpened: _log_opened, PolicyAdopted: _policy_adopted})
