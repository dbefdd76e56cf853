"""Lifecycles: what was decided about runs after they were published."""

import sqlite3
from collections.abc import Callable
from typing import Any, Final

import msgspec

from domain.events import Event
from domain.facts import (
    DisputeOpened,
    DisputeOutcome,
    DisputeResolved,
    Fact,
    MetadataRevised,
    RunRetracted,
    RunSuperseded,
    RunSupersedes,
)
from domain.manifests import Kind
from projections.model import TEMPORAL, Doc, ReadModel, act, current_document, document_text, put

DDL = f"""
CREATE TABLE lifecycles (
  digest TEXT NOT NULL, doc TEXT NOT NULL, {TEMPORAL}, PRIMARY KEY (digest, from_position)
) STRICT;
"""

UNTOUCHED: Final[Doc] = {
    "retracted": None,
    "supersededBy": None,
    "supersedes": [],
    "disputes": [],
    "metadataRevisions": [],
}


class Lifecycle(msgspec.Struct, frozen=True):
    """What was decided about a run, as its page shows it (``doc``) and as the policies ask for it.

    ``dispute_open`` is the position of the oldest open dispute, ``dispute_upheld`` that of the last one that was
    upheld; ``struck_out`` are the reruns whose disputes were dismissed.
    """

    doc: Doc
    retracted: bool = False
    superseded: bool = False
    blocked: bool = False
    dispute_open: int | None = None
    dispute_upheld: int | None = None
    struck_out: frozenset[str] = frozenset()


NOTHING_DECIDED: Final = Lifecycle(UNTOUCHED)


def lifecycle(db: sqlite3.Connection, digest: str) -> Lifecycle:
    """What holds now of the run."""
    doc = current_document(db, "lifecycles", "digest", digest)
    if doc is None:
        return NOTHING_DECIDED
    unresolved = [dispute for dispute in doc["disputes"] if dispute["resolution"] is None]
    resolved = [(dispute, dispute["resolution"]) for dispute in doc["disputes"] if dispute["resolution"]]
    upheld = [end["position"] for _, end in resolved if end["outcome"] == DisputeOutcome.UPHELD]
    dismissed = [dispute for dispute, end in resolved if end["outcome"] == DisputeOutcome.DISMISSED]
    return Lifecycle(
        doc=doc,
        retracted=doc["retracted"] is not None,
        superseded=doc["supersededBy"] is not None,
        blocked=any(dispute["blocking"] for dispute in unresolved),
        dispute_open=min((dispute["position"] for dispute in unresolved), default=None),
        dispute_upheld=max(upheld, default=None),
        struck_out=frozenset(dispute["rerun"] for dispute in dismissed if dispute["rerun"]),
    )


def _retracted(_: Doc, event: Event, fact: RunRetracted) -> Doc:
    return {"retracted": act(event, fact.reason)}


def _superseded(_: Doc, event: Event, fact: RunSuperseded) -> Doc:
    return {"supersededBy": {"run": fact.by, **act(event, fact.reason)}}


def _supersedes(doc: Doc, event: Event, fact: RunSupersedes) -> Doc:
    return {"supersedes": [*doc["supersedes"], {"run": fact.predecessor, **act(event, fact.reason)}]}


def _dispute_opened(doc: Doc, event: Event, fact: DisputeOpened) -> Doc:
    dispute = {
        "id": fact.dispute,
        "cause": fact.cause.value,
        "blocking": fact.blocking,
        "rerun": fact.rerun,
        "issue": fact.issue,
        **act(event, fact.reason),
        "resolution": None,
    }
    return {"disputes": [*doc["disputes"], dispute]}


def _dispute_resolved(doc: Doc, event: Event, fact: DisputeResolved) -> Doc:
    end = {"outcome": fact.outcome.value, **act(event, fact.reason)}
    return {
        "disputes": [
            dispute | {"resolution": end} if dispute["id"] == fact.dispute else dispute for dispute in doc["disputes"]
        ]
    }


def _metadata_revised(doc: Doc, event: Event, fact: MetadataRevised) -> Doc:
    return {"metadataRevisions": [*doc["metadataRevisions"], act(event, fact.reason)]}


Change = Callable[[Doc, Event, Any], Doc]

CHANGES: Final[dict[type[Fact], Change]] = {
    RunRetracted: _retracted,
    RunSuperseded: _superseded,
    RunSupersedes: _supersedes,
    DisputeOpened: _dispute_opened,
    DisputeResolved: _dispute_resolved,
    MetadataRevised: _metadata_revised,
}
"""What each kind of decision changes in the document. All of them name the run as ``digest``."""


def _changing(change: Change) -> Callable[[sqlite3.Connection, Event, Any], None]:
    def handle(db: sqlite3.Connection, event: Event, fact: Any) -> None:
        if getattr(fact, "kind", Kind.BENCHMARK_RUN) == Kind.BENCHMARK_RUN:
            doc = current_document(db, "lifecycles", "digest", fact.digest) or UNTOUCHED
            row = {"digest": fact.digest, "doc": document_text(doc | change(doc, event, fact))}
            put(db, "lifecycles", "digest", row, event.position)

    return handle


READ_MODEL = ReadModel("lifecycles", 1, DDL, {fact: _changing(change) for fact, change in CHANGES.items()})
