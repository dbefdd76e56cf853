"""Attestations: what people say became of trying a run. They count voices, not rows, and never move a level."""

import sqlite3
from collections.abc import Iterable
from decimal import Decimal
from typing import Final, NamedTuple

import msgspec

from domain.display.quantities import format_value
from domain.events import Event
from domain.facts import AttestationFiled, AttestationHidden
from projections.model import AS_OF, TEMPORAL, Doc, ReadModel, act, current_document, document_text, json_list, put
from projections.paging import Listing

DDL = f"""
CREATE TABLE attestations (
  attestation TEXT NOT NULL, run TEXT NOT NULL, type TEXT NOT NULL, voice TEXT NOT NULL,
  hidden INTEGER NOT NULL, counted INTEGER NOT NULL, filed_position INTEGER NOT NULL, doc TEXT NOT NULL, {TEMPORAL},
  PRIMARY KEY (attestation, from_position)
) STRICT;
CREATE INDEX attestations_run ON attestations (run, filed_position);
"""


SHOWN: Final = Listing("attestations", ("filed_position",), ("NOT hidden",))
"""The attestations that no moderator has hidden, oldest first."""


def counts(db: sqlite3.Connection, runs: Iterable[str], position: int) -> dict[str, list[Doc]]:
    """How many voices attest to each run, by type; types that nobody attests to are left out."""
    query = f"""SELECT run, type, count(*) FROM attestations
      WHERE run IN (SELECT value FROM json_each(:runs)) AND counted AND {AS_OF} GROUP BY run, type ORDER BY run, type"""  # noqa: S608
    found: dict[str, list[Doc]] = {run: [] for run in runs}
    for run, kind, count in db.execute(query, {"runs": json_list(found), "position": position}):
        found[run].append({"type": kind, "count": count})
    return found


class Said(NamedTuple):
    """An attestation and the position at which it was filed, or hidden."""

    since: int
    doc: Doc


def between(db: sqlite3.Connection, run: str, after: int, until: int, most: int) -> list[Said]:
    """Attestations to a run that were filed or hidden after one position and up to another: the last ones."""
    query = """SELECT from_position, doc FROM attestations
      WHERE run = ? AND from_position > ? AND from_position <= ? AND (hidden OR from_position = filed_position)
      ORDER BY from_position DESC LIMIT ?"""
    rows = db.execute(query, (run, after, until, most)).fetchall()
    return [Said(since, msgspec.json.decode(doc)) for since, doc in reversed(rows)]


def _filed(db: sqlite3.Connection, event: Event, fact: AttestationFiled) -> None:
    submitter = db.execute("SELECT actor FROM publications WHERE digest = ?", (fact.run,)).fetchone()
    doc = {
        "@type": "Attestation",
        "id": f"attestation/{fact.attestation}",
        "attestation": fact.attestation,
        "run": fact.run,
        "type": fact.type.value,
        "note": fact.note,
        "evidenceUrl": fact.evidence_url,
        "observed": _observed(fact),
        "environment": fact.environment,
        "attestedBy": event.actor,
        "attestedAt": event.recorded_at,
        "position": event.position,
        "own": bool(submitter and submitter[0] == event.actor),
        "hidden": None,
    }
    heard = any(said["counted"] for said in _said_before(db, doc))
    _put(db, doc | {"counted": not (heard or doc["own"])}, event)


def _hidden(db: sqlite3.Connection, event: Event, fact: AttestationHidden) -> None:
    doc = current_document(db, "attestations", "attestation", fact.attestation)
    if doc is None:
        return
    _put(db, doc | {"counted": False, "hidden": act(event, fact.reason)}, event)
    if doc["counted"]:
        # The voice is still heard where it said the same in another attestation.
        others = (said for said in _said_before(db, doc) if not said["hidden"])
        if heard := next(others, None):
            _put(db, heard | {"counted": True}, event)


def _said_before(db: sqlite3.Connection, doc: Doc) -> list[Doc]:
    """What the same voice says of the run under the same type, oldest first: of all this, one is counted."""
    query = """SELECT doc FROM attestations
      WHERE run = ? AND type = ? AND voice = ? AND to_position IS NULL ORDER BY filed_position"""
    rows = db.execute(query, (doc["run"], doc["type"], doc["attestedBy"])).fetchall()
    return [msgspec.json.decode(text) for (text,) in rows]


def _put(db: sqlite3.Connection, doc: Doc, event: Event) -> None:
    row = {
        "attestation": doc["attestation"],
        "run": doc["run"],
        "type": doc["type"],
        "voice": doc["attestedBy"],
        "hidden": doc["hidden"] is not None,
        "counted": doc["counted"],
        "filed_position": doc["position"],
        "doc": document_text(doc),
    }
    put(db, "attestations", "attestation", row, event.position)


def _observed(fact: AttestationFiled) -> Doc | None:
    if fact.observed_value is None or fact.observed_unit is None:
        return None
    value = Decimal(fact.observed_value)
    return {
        "value": fact.observed_value,
        "unit": fact.observed_unit,
        "number": float(value),
        "formatted": format_value(value, fact.observed_unit),
    }


READ_MODEL = ReadModel("attestations", 1, DDL, {AttestationFiled: _filed, AttestationHidden: _hidden})
