"""What an id means: every manifest under its digest, and every alias.

This is where manifests are kept as they were registered; the other read models keep what they show of them.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec

from domain.events import Event
from domain.facts import AliasClaimed, Fact, ManifestRegistered, MetadataRevised, RunIngested
from domain.identity import digest_prefix, is_digest, short_id
from domain.manifests import Kind, Manifest, stored_manifest
from projections.bounds import MOST_ENTRIES
from projections.model import AS_OF, TEMPORAL, Apply, Doc, ReadModel, close, insert, json_list, put

DDL = f"""
CREATE TABLE manifests (
  digest TEXT NOT NULL, kind TEXT NOT NULL, project TEXT, manifest TEXT NOT NULL, since INTEGER NOT NULL, {TEMPORAL},
  PRIMARY KEY (digest, from_position)
) STRICT;
CREATE TABLE aliases (
  alias TEXT PRIMARY KEY, target TEXT NOT NULL, from_position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_target ON aliases (target);
"""

MAX_CANDIDATES = 20


class Registered(msgspec.Struct, frozen=True):
    """A manifest as it stands at some position. ``since`` is the position since which all that it refers to is named:
    that of its registration, whatever became of its editorial part later.
    """

    manifest: Manifest
    project: str | None
    since: int


class Match(msgspec.Struct, frozen=True):
    """What an id may mean: a digest and the kind of its manifest, or ``source/<slug>`` and the kind ``Source``."""

    id: str
    kind: str


def matches(db: sqlite3.Connection, ids: Iterable[str], position: int, kinds: Iterable[str]) -> dict[str, list[Match]]:
    """What each id means among objects of these kinds: a whole digest, an alias, or a prefix of at least 8 hex digits.

    No match: unknown. Several: the prefix is ambiguous, and these are (at most 20 of) its candidates. Two statements,
    however many ids are asked about.
    """
    wanted = list(ids)
    targets = targets_of(db, wanted, position)
    prefixes = {prefix for text in wanted if (prefix := digest_prefix(text))}
    found = _with_prefixes(db, prefixes | set(targets.values()), position, kinds)
    return {text: _meaning(text, targets.get(text), found) for text in wanted}


def registered_of(db: sqlite3.Connection, digests: Iterable[str], position: int) -> dict[str, Registered]:
    """Those of these manifests that are registered at the position, by digest."""
    query = f"""SELECT digest, CAST(manifest AS BLOB), project, since FROM manifests
      WHERE digest IN (SELECT value FROM json_each(:digests)) AND {AS_OF}"""  # noqa: S608
    rows = db.execute(query, {"digests": json_list(digests), "position": position})
    return {digest: Registered(_parsed(digest, text), project, since) for digest, text, project, since in rows}


def registered(db: sqlite3.Connection, digest: str, position: int) -> Registered | None:
    """The manifest of that digest as it stood at the position."""
    return registered_of(db, [digest], position).get(digest)


def manifest_texts(db: sqlite3.Connection, digests: Iterable[str], position: int) -> dict[str, str]:
    """The canonical text of each of these manifests that is registered."""
    query = f"""SELECT digest, manifest FROM manifests
      WHERE digest IN (SELECT value FROM json_each(:digests)) AND {AS_OF}"""  # noqa: S608
    names = {"digests": json_list(digests), "position": position}
    return dict(db.execute(query, names).fetchall())


def aliases_of(db: sqlite3.Connection, targets: Iterable[str], position: int) -> dict[str, list[str]]:
    """The first 100 aliases of each of these objects, in the order in which they were claimed."""
    found: dict[str, list[str]] = {target: [] for target in targets}
    query = """SELECT target, alias FROM aliases
      WHERE target IN (SELECT value FROM json_each(:targets)) AND from_position <= :position ORDER BY from_position"""
    names = {"targets": json_list(found), "position": position}
    for target, alias in db.execute(query, names):
        if len(found[target]) < MOST_ENTRIES:
            found[target].append(alias)
    return found


Describe = Callable[[sqlite3.Connection, Event, Manifest], None]


def when_described(*kinds: Kind) -> Callable[[Describe], Mapping[type[Fact], Apply]]:
    """Make handlers from one that takes the manifests of some kinds, as they are registered and whenever their
    editorial part is revised.
    """

    def decorate(describe: Describe) -> Mapping[type[Fact], Apply]:
        def registered_now(db: sqlite3.Connection, event: Event, fact: ManifestRegistered) -> None:
            if fact.kind in kinds:
                describe(db, event, _parsed(fact.digest, bytes(fact.manifest)))

        def revised(db: sqlite3.Connection, event: Event, fact: MetadataRevised) -> None:
            if fact.kind in kinds and (known := registered(db, fact.digest, event.position)):
                describe(db, event, known.manifest)

        return {ManifestRegistered: registered_now, MetadataRevised: revised}

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


_KEPT: Final = 4096
_kept: dict[str, Manifest] = {}


def _parsed(digest: str, canonical: bytes) -> Manifest:
    """A manifest, from its text. The last few thousand are kept: most runs share what they refer to."""
    manifest = _kept.get(digest)
    if manifest is None or manifest.canonical != canonical:
        if len(_kept) >= _KEPT:
            _kept.clear()
        manifest = _kept[digest] = stored_manifest(canonical, digest)
    return manifest


def _meaning(text: str, target: str | None, found: Mapping[str, list[Match]]) -> list[Match]:
    prefix = digest_prefix(text) or ""
    if is_digest(prefix) and prefix in found:
        # Nobody can take a record's own id away from it by claiming those digits as an alias.
        return found[prefix]
    if target and target.startswith("source/"):
        return [Match(target, "Source")]
    return found.get(target or prefix, [])


def targets_of(db: sqlite3.Connection, aliases: Iterable[str], position: int) -> dict[str, str]:
    """What each of these aliases names, where it is claimed."""
    query = """SELECT alias, target FROM aliases
      WHERE alias IN (SELECT value FROM json_each(:aliases)) AND from_position <= :position"""
    return dict(db.execute(query, {"aliases": json_list(aliases), "position": position}).fetchall())


def _with_prefixes(
    db: sqlite3.Connection, prefixes: Iterable[str], position: int, kinds: Iterable[str]
) -> dict[str, list[Match]]:
    # "g" sorts behind every hex digit.
    query = f"""SELECT prefix, digest, kind FROM (
        SELECT wanted.value AS prefix, digest, kind,
          row_number() OVER (PARTITION BY wanted.value ORDER BY digest) AS place
        FROM json_each(:prefixes) AS wanted CROSS JOIN manifests
        WHERE digest >= wanted.value AND digest < wanted.value || 'g'
          AND kind IN (SELECT value FROM json_each(:kinds)) AND {AS_OF}
      ) WHERE place <= {MAX_CANDIDATES} ORDER BY prefix, digest"""  # noqa: S608 text is ours
    names = {"prefixes": json_list(sorted(prefixes)), "kinds": json_list(kinds), "position": position}
    found: dict[str, list[Match]] = {}
    for prefix, digest, kind in db.execute(query, names):
        found.setdefault(prefix, []).append(Match(digest, kind))
    return found


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
        "since": event.position,
        "from_position": event.position,
    }
    insert(db, "manifests", row)


def _metadata_revised(db: sqlite3.Connection, event: Event, fact: MetadataRevised) -> None:
    query = f"SELECT kind, project, manifest, since FROM manifests WHERE digest = :digest AND {AS_OF}"  # noqa: S608
    row = db.execute(query, {"digest": fact.digest, "position": event.position}).fetchone()
    if row is None:
        return
    kind, project, manifest, since = row
    parts: dict[str, msgspec.Raw] = msgspec.json.decode(manifest, type=dict[str, msgspec.Raw])
    revised = msgspec.json.encode(parts | {"metadata": fact.metadata}, order="sorted").decode()
    current = {"digest": fact.digest, "kind": kind, "project": project, "manifest": revised, "since": since}
    put(db, "manifests", "digest", current, event.position)


def _alias_claimed(db: sqlite3.Connection, event: Event, fact: AliasClaimed) -> None:
    db.execute("INSERT INTO aliases VALUES (?, ?, ?)", (fact.alias, fact.target, event.position))


READ_MODEL = ReadModel(
    "identities",
    2,
    DDL,
    {
        ManifestRegistered: _manifest_registered,
        RunIngested: _run_ingested,
        MetadataRevised: _metadata_revised,
        AliasClaimed: _alias_claimed,
    },
)
