"""Implementations: revisions of code that computes an operation."""

import sqlite3

from domain.display.names import implementation_name, operation_name, revision_text
from domain.events import Event
from domain.facts import AliasClaimed, ManifestRegistered, MetadataRevised
from domain.manifests import Kind, Manifest
from domain.policies.evidence import source_available
from projections import identities
from projections.identities import node
from projections.model import TEMPORAL, Doc, ReadModel, document_text, put
from projections.operations import is_operation

DDL = f"""
CREATE TABLE implementations (
  digest TEXT NOT NULL, operation TEXT NOT NULL, project TEXT, source_digest TEXT, name TEXT NOT NULL,
  doc TEXT NOT NULL, {TEMPORAL}, PRIMARY KEY (digest, from_position)
) STRICT;
CREATE INDEX implementations_operation ON implementations (operation);
CREATE INDEX implementations_project ON implementations (project);
CREATE INDEX implementations_source ON implementations (source_digest);
"""


def describe(manifest: Manifest, project: str | None, operation_names: list[str]) -> Doc:
    """The document of an implementation. Its title may repeat the operation, so the operation's names are asked for."""
    spec = manifest.spec
    source, support, licensing = spec.get("source"), spec["support"], spec["licensing"]
    return node("Implementation", manifest) | {
        "name": implementation_name(manifest.title, *operation_names),
        "revision": revision_text(spec),
        "repository": spec["projectRevision"].get("repository"),
        "commit": spec["projectRevision"].get("commit"),
        "language": spec["callable"]["language"],
        "authors": [author.get("name") or author.get("github", "") for author in manifest.metadata.get("authors", [])],
        "operation": spec["operation"]["specDigest"],
        "project": project,
        "dtypes": support["dtypes"],
        "architectures": support["hardwareArchitectures"],
        "productsTested": support.get("productsTested", []),
        "sourceAvailable": source_available(spec),
        "sourceDigest": source["contentDigest"] if source else None,
        "sourceFileName": source.get("fileName") if source else None,
        "licence": licensing.get("concluded") or licensing.get("declared"),
    }


def refresh(db: sqlite3.Connection, digest: str, position: int) -> None:
    """Derive the row anew from what is registered at the position."""
    found = identities.registered(db, digest, position)
    if found is None:
        return
    operation = found.manifest.spec["operation"]["specDigest"]
    doc = describe(found.manifest, found.project, _names_of_operation(db, operation, position))
    row = {
        "digest": digest,
        "operation": operation,
        "project": found.project,
        "source_digest": doc["sourceDigest"],
        "name": doc["name"],
        "doc": document_text(doc),
    }
    put(db, "implementations", "digest", row, position)


def of_operation(db: sqlite3.Connection, operation: str) -> list[str]:
    """The digests of an operation's current implementations."""
    query = "SELECT digest FROM implementations WHERE operation = ? AND to_position IS NULL ORDER BY digest"
    return [digest for (digest,) in db.execute(query, (operation,))]


def _names_of_operation(db: sqlite3.Connection, operation: str, position: int) -> list[str]:
    found = identities.registered(db, operation, position)
    if found is None:
        return []
    aliases = identities.aliases_of(db, [operation], position)[operation]
    return [found.manifest.title, operation_name(found.manifest.title), *aliases]


def _described(db: sqlite3.Connection, event: Event, fact: ManifestRegistered | MetadataRevised) -> None:
    if fact.kind == Kind.IMPLEMENTATION_REVISION:
        refresh(db, fact.digest, event.position)
    elif fact.kind == Kind.OPERATION_SPEC:
        for digest in of_operation(db, fact.digest):
            refresh(db, digest, event.position)


def _alias_claimed(db: sqlite3.Connection, event: Event, fact: AliasClaimed) -> None:
    if is_operation(db, fact.target):
        for digest in of_operation(db, fact.target):
            refresh(db, digest, event.position)


READ_MODEL = ReadModel(
    "implementations",
    2,
    DDL,
    {ManifestRegistered: _described, MetadataRevised: _described, AliasClaimed: _alias_claimed},
)
