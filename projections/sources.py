"""Sources: where records come from, under which terms, and when they were last read."""

import sqlite3
from collections.abc import Callable
from typing import Any

import msgspec

from domain.events import Event
from domain.facts import SourceImported, SourcePolicyRevised, SourceRegistered
from projections.model import AS_OF, TEMPORAL, Doc, ReadModel, document_text, put
from projections.paging import Listing

DDL = f"""
CREATE TABLE sources (
  slug TEXT NOT NULL, name TEXT NOT NULL, doc TEXT NOT NULL, {TEMPORAL}, PRIMARY KEY (slug, from_position)
) STRICT;
"""


def unregistered(slug: str) -> Doc:
    """The document of a source that a run names and nobody has registered: its slug is all that is known."""
    return {
        "@type": "Source",
        "id": f"source/{slug}",
        "slug": slug,
        "name": slug,
        "kind": None,
        "homepage": None,
        "policy": None,
        "registered": False,
        "lastImport": None,
    }


def listing() -> Listing:
    """All registered sources, by name."""
    return Listing("sources", ("name", "slug"))


def _current(db: sqlite3.Connection, slug: str, position: int) -> Doc:
    query = f"SELECT doc FROM sources WHERE slug = :slug AND {AS_OF}"  # noqa: S608 text is ours
    row = db.execute(query, {"slug": slug, "position": position}).fetchone()
    return msgspec.json.decode(row[0]) if row else unregistered(slug)


def _policy(policy: msgspec.Raw) -> Doc | None:
    terms = msgspec.json.decode(policy)
    if not isinstance(terms, dict):
        return None
    days = terms.get("freshnessDays")
    said = {name: text for name, text in terms.items() if isinstance(text, str)}
    return {
        "licence": said.get("licence") or said.get("license"),
        "attribution": said.get("attribution"),
        "terms": said.get("terms"),
        "url": said.get("url"),
        "freshnessDays": days if type(days) is int and days > 0 else None,
        "text": bytes(policy).decode(),
    }


def _registered(fact: SourceRegistered, _: Event) -> Doc:
    return {
        "name": fact.name,
        "kind": fact.kind,
        "homepage": fact.homepage,
        "policy": _policy(fact.policy),
        "registered": True,
    }


def _policy_revised(fact: SourcePolicyRevised, _: Event) -> Doc:
    return {"policy": _policy(fact.policy)}


def _imported(fact: SourceImported, event: Event) -> Doc:
    return {
        "lastImport": {
            "importedAt": event.recorded_at,
            "position": event.position,
            "fileDigest": fact.file_digest,
            "importer": fact.importer,
            "importerVersion": fact.importer_version,
            "counts": [{"key": key, "count": count} for key, count in sorted(fact.counts.items())],
        }
    }


def _changing(changes: Callable[[Any, Event], Doc]) -> Callable[[sqlite3.Connection, Event, Any], None]:
    def handle(db: sqlite3.Connection, event: Event, fact: Any) -> None:
        doc = _current(db, fact.slug, event.position) | changes(fact, event)
        row = {"slug": fact.slug, "name": doc["name"], "doc": document_text(doc)}
        put(db, "sources", "slug", row, event.position)

    return handle


READ_MODEL = ReadModel(
    "sources",
    2,
    DDL,
    {
        SourceRegistered: _changing(_registered),
        SourcePolicyRevised: _changing(_policy_revised),
        SourceImported: _changing(_imported),
    },
)
