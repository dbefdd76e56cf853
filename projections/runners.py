"""Runners: the machines whose reruns count, and those whose reruns no longer do."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from domain.display.names import slugify
from domain.events import Event
from domain.facts import RunnerApproved, RunnerSuspended
from projections.model import TEMPORAL, Doc, ReadModel, act, current_document, document_text, put
from projections.paging import Listing

DDL = f"""
CREATE TABLE runners (
  runner TEXT NOT NULL, operator TEXT NOT NULL, host TEXT NOT NULL, public_key TEXT NOT NULL, hardware TEXT NOT NULL,
  suspended INTEGER NOT NULL, approved_position INTEGER NOT NULL, doc TEXT NOT NULL, {TEMPORAL},
  PRIMARY KEY (runner, from_position)
) STRICT;
CREATE INDEX runners_approved ON runners (approved_position);
"""

EQUALS = ("operator", "host", "hardware", "suspended")


def listing(criteria: Mapping[str, Any]) -> Listing:
    """Runners that meet all criteria (``EQUALS``), in the order in which they were approved."""
    return Listing("runners", ("approved_position",), tuple(f"{name} = :{name}" for name in criteria), criteria)


def _put(db: sqlite3.Connection, doc: Doc, event: Event) -> None:
    row = {
        "runner": doc["runner"],
        "operator": doc["operator"],
        "host": doc["host"],
        "public_key": doc["publicKey"],
        "hardware": slugify(doc["hardware"]),
        "suspended": doc["suspension"] is not None,
        "approved_position": doc["position"],
        "doc": document_text(doc),
    }
    put(db, "runners", "runner", row, event.position)


def _approved(db: sqlite3.Connection, event: Event, fact: RunnerApproved) -> None:
    doc = {
        "@type": "Runner",
        "id": f"runner/{fact.runner}",
        "runner": fact.runner,
        "operator": fact.operator,
        "host": fact.host,
        "hardware": fact.hardware,
        "publicKey": fact.public_key,
        "approvedAt": event.recorded_at,
        "position": event.position,
        "suspension": None,
    }
    _put(db, doc, event)


def _suspended(db: sqlite3.Connection, event: Event, fact: RunnerSuspended) -> None:
    if doc := current_document(db, "runners", "runner", fact.runner):
        _put(db, doc | {"suspension": act(event, fact.reason)}, event)


READ_MODEL = ReadModel("runners", 1, DDL, {RunnerApproved: _approved, RunnerSuspended: _suspended})
