"""What an id means: every manifest under its digest, and every alias.

This is where manifests are kept as they were registered; the other read models keep what they show of them.
"""

import sqlite3
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import msgspec

from domain.events import Event
from domain.facts import AliasClaimed, ManifestRegistered, RunIngested
from domain.identity import digest_prefix, is_digest, short_id
from domain.manifests import Kind, Manifest, stored_manifest
from projections.model import AS_OF, TEMPORAL, Apply, Doc, ReadModel, close, insert, json_list

DDL = f"""
CREATE TABLE manifests (
  digest TEXT NOT NULL, kind TEXT NOT NULL, project TEXT, manifest TEXT NOT NULL, {TEMPORAL},
  PRIMARY KEY (digest, from_position)
) STRICT;
CREATE TABLE aliases (
  alias TEXT PRIMARY KEY, target TEXT NOT NULL, from_position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_target ON aliases (target);
"""

MAX_CANDIDATES = 20


class Registered(msgspec.Struct, frozen=True):
    """A manifest as it stands at some position. ``since`` is the position of the event that last changed it."""

    manifest: Manifest
    project: str | None
    since: int


class Match(msgspec.Struct, frozen=True):
    """What an id may mean: a digest and the kind of its manifest, or ``source/<slug>`` and the kind ``Source``."""

    id: str
    kind: str


def matches(db: sqlite3.Connection, text: str, position: int, kinds: Iterable[str]) -> list[Match]:
    """What this id means among objects of these kinds: a whole digest, an alias, or a prefix of at least 8 hex digits.

    No match: unknown. Several: the prefix is ambiguous, and these are (at most 20 of) its candidates.
    """
    names: dict[str, Any] = {"position": position, "kinds": json_list(kinds)}
    if is_digest(text):
        return _with_prefix(db, text, names)
    row = db.execute(
        "SELECT target FROM aliases WHERE alias = :alias AND from_position <= :position",
        {"alias": text, "position": position},
    ).fetchone()
    if row:
        return [Match(row[0], "Source")] if row[0].startswith("source/") else _with_prefix(db, row[0], names)
    prefix = digest_prefix(text)
    return _with_prefix(db, prefix, names) if prefix else []


def registered(db: sqlite3.Connection, digest: str, position: int) -> Registered | None:
    """The manifest of that digest as it stood at the position."""
    query = f"SELECT manifest, project, from_position FROM manifests WHERE digest = :digest AND {AS_OF}"  # noqa: S608
    row = db.execute(query, {"digest": digest, "position": position}).fetchone()
    return Registered(_parsed(digest, row[0].encode()), row[1], row[2]) if row else None


def manifest_texts(db: sqlite3.Connection, digests: Iterable[str], position: int) -> dict[str, str]:
    """The canonical text of each of these manifests that is registered."""
    query = f"""SELECT digest, manifest FROM manifests
      WHERE digest IN (SELECT value FROM json_each(:digests)) AND {AS_OF}"""  # noqa: S608
    names = {"digests": json_list(digests), "position": position}
    return dict(db.execute(query, names).fetchall())


def aliases_of(db: sqlite3.Connection, targets: Iterable[str], position: int) -> dict[str, list[str]]:
    """The aliases of each of these objects, in the order in which they were claimed."""
    found: dict[str, list[str]] = {target: [] for target in targets}
    query = """SELECT target, alias FROM aliases
      WHERE target IN (SELECT value FROM json_each(:targets)) AND from_position <= :position ORDER BY from_position"""
    names = {"targets": json_list(found), "position": position}
    for target, alias in db.execute(query, names):
        found[target].append(alias)
    return found


Describe = Callable[[sqlite3.Connection, Event, Manifest], None]


def when_registered(*kinds: Kind) -> Callable[[Describe], Apply]:
    """Make a handler of ``ManifestRegistered`` from one that takes the manifests of some kinds."""

    def decorate(describe: Describe) -> Apply:
        def handle(db: sqlite3.Connection, event: Event, fact: ManifestRegistered) -> None:
            if fact.kind in kinds:
                describe(db, event, _parsed(fact.digest, bytes(fact.manifest)))

        return handle

    return decorate


def node(kind: str, manifest: Manifest) -> Doc:
    """What the documents of all registered manifests begin with."""
    return {
        "@type": kind,
        "id": manifest.digest,
        "digest": manifest.digest,
        "shortId": short_id(manifest.digest),
        "title": manifest.title,
        "description": manifest.metadata.get("description"),
    }


@lru_cache(maxsize=2048)
def _parsed(digest: str, canonical: bytes) -> Manifest:
    return stored_manifest(canonical, digest)


def _with_prefix(db: sqlite3.Connection, prefix: str, names: dict[str, Any]) -> list[Match]:
    query = f"""SELECT digest, kind FROM manifests
      WHERE digest >= :low AND digest <= :high AND kind IN (SELECT value FROM json_each(:kinds)) AND {AS_OF}
      ORDER BY digest LIMIT {MAX_CANDIDATES}"""  # noqa: S608
    # "g" sorts behind every hex digit.
    rows = db.execute(query, {"low": prefix, "high": prefix + "g"} | names).fetchall()
    return [Match(*row) for row in rows]


def _manifest_registered(db: sqlite3.Connection, event: Event, fact: ManifestRegistered) -> None:
    if event.version > 1:
        close(db, "manifests", "digest", fact.digest, event.position)
    _insert(db, event, fact, fact.kind, fact.project)


def _run_ingested(db: sqlite3.Connection, event: Event, fact: RunIngested) -> None:
    _insert(db, event, fact, Kind.BENCHMARK_RUN, None)


def _insert(
    db: sqlite3.Connection, event: Event, fact: ManifestRegistered | RunIngested, kind: str, project: str | None
) -> None:
    row = {
        "digest": fact.digest,
        "kind": str(kind),
        "project": project,
        "manifest": bytes(fact.manifest).decode(),
        "from_position": event.position,
    }
    insert(db, "manifests", row)


def _alias_claimed(db: sqlite3.Connection, event: Event, fact: AliasClaimed) -> None:
    db.execute("INSERT INTO aliases VALUES (?, ?, ?)", (fact.alias, fact.target, event.position))


READ_MODEL = ReadModel(
    "identities",
    1,
    DDL,
    {ManifestRegistered: _manifest_registered, RunIngested: _run_ingested, AliasClaimed: _alias_claimed},
)
