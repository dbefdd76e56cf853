"""Projects: who publishes implementations."""

import sqlite3

from domain.events import Event
from domain.manifests import Kind, Manifest
from projections.identities import node, when_described
from projections.model import TEMPORAL, Doc, ReadModel, document_text, put

DDL = f"""
CREATE TABLE projects (
  digest TEXT NOT NULL, name TEXT NOT NULL, doc TEXT NOT NULL, {TEMPORAL}, PRIMARY KEY (digest, from_position)
) STRICT;
CREATE INDEX projects_name ON projects (name);
"""


def describe(manifest: Manifest) -> Doc:
    """The document of a project."""
    spec = manifest.spec
    return node("Project", manifest) | {
        "name": spec["name"],
        "kind": spec["kind"].upper() if "kind" in spec else None,
        "repository": spec.get("repository"),
        "homepage": spec.get("homepage"),
        "host": spec.get("host"),
        "packages": spec.get("packages", []),
    }


@when_described(Kind.SOFTWARE_PROJECT)
def _described(db: sqlite3.Connection, event: Event, manifest: Manifest) -> None:
    doc = describe(manifest)
    row = {"digest": manifest.digest, "name": doc["name"], "doc": document_text(doc)}
    put(db, "projects", "digest", row, event.position)


READ_MODEL = ReadModel("projects", 2, DDL, _described)
