"""Issues: what people say is wrong with runs, and what came of it."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from domain.events import Event
from domain.facts import IssueClosed, IssueReported
from projections.model import TEMPORAL, Doc, ReadModel, act, current_document, document_text, put
from projections.paging import Listing

DDL = f"""
CREATE TABLE issues (
  issue TEXT NOT NULL, run TEXT NOT NULL, category TEXT NOT NULL, state TEXT NOT NULL,
  reported_position INTEGER NOT NULL, doc TEXT NOT NULL, {TEMPORAL}, PRIMARY KEY (issue, from_position)
) STRICT;
CREATE INDEX issues_reported ON issues (reported_position);
CREATE INDEX issues_run ON issues (run, reported_position);
"""


def listing(criteria: Mapping[str, Any]) -> Listing:
    """Issues that meet all criteria: ``run``, ``category``, ``state``; in the order in which they were reported."""
    return Listing("issues", ("reported_position",), tuple(f"{name} = :{name}" for name in criteria), criteria)


def _put(db: sqlite3.Connection, doc: Doc, event: Event) -> None:
    row = {
        "issue": doc["issue"],
        "run": doc["run"],
        "category": doc["category"],
        "state": doc["state"],
        "reported_position": doc["position"],
        "doc": document_text(doc),
    }
    put(db, "issues", "issue", row, event.position)


def _reported(db: sqlite3.Connection, event: Event, fact: IssueReported) -> None:
    doc = {
        "@type": "Issue",
        "id": f"issue/{fact.issue}",
        "issue": fact.issue,
        "run": fact.run,
        "category": fact.category.value,
        "text": fact.text,
        "reportedBy": event.actor,
        "reportedAt": event.recorded_at,
        "position": event.position,
        "state": "OPEN",
        "closing": None,
    }
    _put(db, doc, event)


def _closed(db: sqlite3.Connection, event: Event, fact: IssueClosed) -> None:
    if doc := current_document(db, "issues", "issue", fact.issue):
        said = act(event, fact.note)
        closing = {"outcome": fact.outcome.value, "note": said.pop("reason"), **said}
        _put(db, doc | {"state": "CLOSED", "closing": closing}, event)


READ_MODEL = ReadModel("issues", 1, DDL, {IssueReported: _reported, IssueClosed: _closed})
