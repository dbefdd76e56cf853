"""Artifacts: what records point to by content digest. The bodies are elsewhere."""

import sqlite3

from domain.events import Event
from domain.facts import ArtifactRecorded
from projections.model import TEMPORAL, ReadModel, document_text, put

DDL = f"""
CREATE TABLE artifacts (
  digest TEXT NOT NULL, doc TEXT NOT NULL, {TEMPORAL}, PRIMARY KEY (digest, from_position)
) STRICT;
"""


def _recorded(db: sqlite3.Connection, event: Event, fact: ArtifactRecorded) -> None:
    doc = {
        "@type": "RecordedArtifact",
        "id": fact.digest,
        "digest": fact.digest,
        "kind": fact.kind,
        "mediaType": fact.media_type,
        "sizeBytes": str(fact.size_bytes) if fact.size_bytes is not None else None,
        "uri": fact.uri,
        "licence": fact.licence,
    }
    put(db, "artifacts", "digest", {"digest": fact.digest, "doc": document_text(doc)}, event.position)


READ_MODEL = ReadModel("artifacts", 2, DDL, {ArtifactRecorded: _recorded})
