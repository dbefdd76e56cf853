"""Reruns: what was asked for, who is at work on it, what came of it."""

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from domain.events import Event
from domain.facts import RerunAbandoned, RerunOutcome, RerunRecorded, RerunRequested, RerunStarted
from domain.policies.evidence import RerunFacts
from projections.model import AS_OF, TEMPORAL, Doc, ReadModel, act, current_document, document_text, put
from projections.paging import Listing

DDL = f"""
CREATE TABLE reruns (
  rerun TEXT NOT NULL, run TEXT NOT NULL, state TEXT NOT NULL, runner TEXT, outcome TEXT,
  requested_position INTEGER NOT NULL, recorded_position INTEGER, doc TEXT NOT NULL, {TEMPORAL},
  PRIMARY KEY (rerun, from_position)
) STRICT;
CREATE INDEX reruns_requested ON reruns (requested_position);
CREATE INDEX reruns_run ON reruns (run);
CREATE INDEX reruns_runner ON reruns (runner);
"""

_CRITERIA: Final = {
    "hardware": f"""EXISTS (SELECT 1 FROM runs WHERE runs.digest = reruns.run AND runs.hardware = :hardware
      AND {AS_OF.replace("from_position", "runs.from_position").replace("to_position", "runs.to_position")})"""  # noqa: S608 text is ours
}


def listing(criteria: Mapping[str, Any]) -> Listing:
    """Reruns that meet all criteria: ``run``, ``state``, ``runner`` or ``outcome``, and the slug of the claim's
    ``hardware``; in the order in which they were requested.
    """
    where = tuple(_CRITERIA.get(name, f"{name} = :{name}") for name in criteria)
    return Listing("reruns", ("requested_position",), where, criteria)


def facts_of(db: sqlite3.Connection, run: str, struck_out: frozenset[str]) -> tuple[RerunFacts, ...]:
    """The recorded reruns of a run with their runners, as they stand now, in the order in which they were recorded."""
    query = """SELECT rerun, recorded_position, outcome, operator, host, public_key, suspended,
        reruns.doc ->> '$.result.manifestDigest'
      FROM reruns JOIN runners USING (runner)
      WHERE run = ? AND recorded_position IS NOT NULL AND reruns.to_position IS NULL AND runners.to_position IS NULL
      ORDER BY recorded_position"""
    return tuple(
        RerunFacts(
            position=position,
            outcome=RerunOutcome(outcome),
            operator=operator,
            host=host,
            key=key,
            measurement=measurement,
            trusted=not suspended,
            struck_out=rerun in struck_out,
        )
        for rerun, position, outcome, operator, host, key, suspended, measurement in db.execute(query, (run,))
    )


def runs_of_runner(db: sqlite3.Connection, runner: str) -> list[str]:
    """The runs that a runner has recorded a rerun of."""
    query = """SELECT DISTINCT run FROM reruns
      WHERE runner = ? AND recorded_position IS NOT NULL AND to_position IS NULL ORDER BY run"""
    return [run for (run,) in db.execute(query, (runner,))]


def _put(db: sqlite3.Connection, doc: Doc, event: Event) -> None:
    result = doc["result"] or {}
    row = {
        "rerun": doc["rerun"],
        "run": doc["run"],
        "state": doc["state"],
        "runner": doc["runner"],
        "outcome": result.get("outcome"),
        "requested_position": doc["position"],
        "recorded_position": result.get("position"),
        "doc": document_text(doc),
    }
    put(db, "reruns", "rerun", row, event.position)


def _change(db: sqlite3.Connection, event: Event, rerun: str, **changes: Any) -> None:
    if doc := current_document(db, "reruns", "rerun", rerun):
        _put(db, doc | changes, event)


def _requested(db: sqlite3.Connection, event: Event, fact: RerunRequested) -> None:
    doc: Doc = {
        "@type": "Rerun",
        "id": f"rerun/{fact.rerun}",
        "rerun": fact.rerun,
        "run": fact.run,
        "state": "OPEN",
        "note": fact.note,
        "requestedBy": event.actor,
        "requestedAt": event.recorded_at,
        "position": event.position,
        "runner": None,
        "startedAt": None,
        "leaseExpiresAt": None,
        "abandonments": [],
        "result": None,
    }
    _put(db, doc, event)


def _started(db: sqlite3.Connection, event: Event, fact: RerunStarted) -> None:
    doc = current_document(db, "reruns", "rerun", fact.rerun) or {}
    renewed = doc.get("state") == "STARTED" and doc.get("runner") == fact.runner
    _change(
        db,
        event,
        fact.rerun,
        state="STARTED",
        runner=fact.runner,
        startedAt=doc["startedAt"] if renewed else event.recorded_at,
        leaseExpiresAt=fact.lease_expires_at,
    )


def _abandoned(db: sqlite3.Connection, event: Event, fact: RerunAbandoned) -> None:
    doc = current_document(db, "reruns", "rerun", fact.rerun) or {"abandonments": []}
    abandonment = {"runner": fact.runner, **act(event, fact.reason)}
    _change(
        db,
        event,
        fact.rerun,
        state="OPEN",
        leaseExpiresAt=None,
        abandonments=[*doc["abandonments"], abandonment],
    )


def _recorded(db: sqlite3.Connection, event: Event, fact: RerunRecorded) -> None:
    result = {
        "outcome": fact.outcome.value,
        "reason": fact.reason,
        "ratio": fact.ratio,
        "policyVersion": fact.policy,
        "manifestDigest": fact.manifest_digest,
        "manifest": bytes(fact.manifest).decode(),
        "signature": fact.signature,
        "recordedAt": event.recorded_at,
        "position": event.position,
    }
    _change(db, event, fact.rerun, state="RECORDED", runner=fact.runner, leaseExpiresAt=None, result=result)


READ_MODEL = ReadModel(
    "reruns",
    1,
    DDL,
    {
        RerunRequested: _requested,
        RerunStarted: _started,
        RerunAbandoned: _abandoned,
        RerunRecorded: _recorded,
    },
)
