"""Erasures: which events are gone, and by which law. Their records are gone at every position, earlier ones too."""

import sqlite3
from collections.abc import Iterable
from typing import Any

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
    """The event at ``position`` is gone since ``recorded_at``."""

    position: int
    legal_basis: str
    recorded_at: str


def of_records(db: sqlite3.Connection, digests: Iterable[str]) -> dict[str, Erasure]:
    """Of these records those whose first event is erased: nothing is known of them any more."""
    query = """SELECT substr(stream, instr(stream, '/') + 1), erased.position, legal_basis, recorded_at
      FROM erased JOIN erasures ON erased = erased.position
      WHERE stream IN (SELECT kind.value || '/' || digest.value FROM json_each('["run", "manifest"]') AS kind,
        json_each(?) AS digest) AND version = 1"""
    return {digest: Erasure(*found) for digest, *found in db.execute(query, (json_list(digests),))}


def _erased(db: sqlite3.Connection, event: Event, fact: Erased) -> None:
    row: dict[str, Any] = {"position": event.position, "stream": event.stream, "version": event.version}
    insert(db, "erased", row | {"type": fact.type, "digest": fact.digest})


def _event_erased(db: sqlite3.Connection, event: Event, fact: EventErased) -> None:
    row: dict[str, Any] = {"position": event.position, "erased": fact.position, "legal_basis": fact.legal_basis}
    insert(db, "erasures", row | {"recorded_at": event.recorded_at})


READ_MODEL = ReadModel("erasures", 1, DDL, {Erased: _erased, EventErased: _event_erased})
