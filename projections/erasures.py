"""Erasures: which events are gone, and by which law. Their records are gone at every position, earlier ones too."""

import sqlite3
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from domain.events import Event
from domain.facts import Erased, EventErased
from projections.model import ReadModel, insert, json_list

DDL = """
CREATE TABLE erased (
  position INTEGER PRIMARY KEY, stream TEXT NOT NULL, version INTEGER NOT NULL, type TEXT NOT NULL, digest TEXT NOT NULL
) STRICT;
CREATE INDEX erased_stream ON erased (stream);
CREATE TABLE erasures (
  position INTEGER PRIMARY KEY, erased INTEGER NOT NULL, legal_basis TEXT NOT NULL, recorded_at TEXT NOT NULL
) STRICT;
"""


class Erasure(msgspec.Struct, frozen=True):
    """The event at ``position`` is gone since ``recorded_at``; ``by`` is the position of the event that says so."""

    position: int
    by: int
    legal_basis: str
    recorded_at: str


_ERASURE: Final = "erased.position, erasures.position, legal_basis, recorded_at"


def of_records(db: sqlite3.Connection, prefixes: Iterable[str]) -> dict[str, Erasure]:
    """Of these digests, whole or their beginnings, those of records whose first event is erased: nothing is known of
    them any more.
    """
    # "g" sorts behind every hex digit.
    query = f"""SELECT prefix.value, {_ERASURE}
      FROM json_each('["run/", "manifest/"]') AS kind CROSS JOIN json_each(?) AS prefix
      CROSS JOIN erased ON stream >= kind.value || prefix.value AND stream < kind.value || prefix.value || 'g'
      JOIN erasures ON erased = erased.position WHERE version = 1"""  # noqa: S608 text is ours
    return {prefix: Erasure(*found) for prefix, *found in db.execute(query, (json_list(prefixes),))}


def of_event(db: sqlite3.Connection, position: int) -> Erasure | None:
    """What became of the event at a position, where it is erased."""
    query = f"SELECT {_ERASURE} FROM erased JOIN erasures ON erased = erased.position WHERE erased = ?"  # noqa: S608
    found = db.execute(query, (position,)).fetchone()
    return Erasure(*found) if found else None


def _erased(db: sqlite3.Connection, event: Event, fact: Erased) -> None:
    row: dict[str, Any] = {"position": event.position, "stream": event.stream, "version": event.version}
    insert(db, "erased", row | {"type": fact.type, "digest": fact.digest})


def _event_erased(db: sqlite3.Connection, event: Event, fact: EventErased) -> None:
    row: dict[str, Any] = {"position": event.position, "erased": fact.position, "legal_basis": fact.legal_basis}
    insert(db, "erasures", row | {"recorded_at": event.recorded_at})


READ_MODEL = ReadModel("erasures", 1, DDL, {Erased: _erased, EventErased: _event_erased})
