"""Runs: the records that people cite."""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from domain.events import Event
from domain.facts import (
    AliasClaimed,
    ManifestRegistered,
    MetadataRevised,
    PolicyAdopted,
    RerunRecorded,
    RunIngested,
    RunnerSuspended,
    SourceRegistered,
)
from domain.instants import with_seconds
from domain.manifests import Kind, Manifest, stored_manifest
from domain.policies.evidence import RerunFacts
from projections import identities, lifecycles, reruns, saves
from projections.lifecycles import NOTHING_DECIDED, Lifecycle, lifecycle
from projections.model import AS_OF, TEMPORAL, Doc, ReadModel, insert, json_list, put
from projections.operations import is_operation
from projections.paging import Listing
from projections.references import resolve
from projections.run_documents import Publication, names_of
from projections.run_records import Standing, row_of

DDL = f"""
CREATE TABLE publications (
  digest TEXT PRIMARY KEY, position INTEGER NOT NULL, recorded_at TEXT NOT NULL, actor TEXT NOT NULL,
  source TEXT NOT NULL, external_id TEXT, producer TEXT, published_at TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
  digest TEXT NOT NULL, recorded_position INTEGER NOT NULL, observed_key TEXT NOT NULL, published_key TEXT NOT NULL,
  status TEXT NOT NULL, source TEXT NOT NULL, external_id TEXT,
  implementation TEXT NOT NULL, workload TEXT NOT NULL, protocol TEXT NOT NULL, environment TEXT NOT NULL,
  operation TEXT, project TEXT, hardware TEXT, architecture TEXT, dtypes TEXT NOT NULL,
  comparison_key TEXT, eligible INTEGER NOT NULL, value TEXT, low TEXT, high TEXT, lower_is_better INTEGER,
  profile TEXT NOT NULL, level INTEGER NOT NULL, doc TEXT NOT NULL, {TEMPORAL}, PRIMARY KEY (digest, from_position)
) STRICT;
CREATE INDEX runs_recorded ON runs (recorded_position);
CREATE INDEX runs_observed ON runs (observed_key, digest);
CREATE INDEX runs_published ON runs (published_key, digest);
CREATE INDEX runs_comparison_key ON runs (comparison_key, observed_key, digest);
CREATE INDEX runs_from ON runs (from_position);
CREATE INDEX runs_to ON runs (to_position) WHERE to_position IS NOT NULL;
CREATE INDEX runs_source ON runs (source, external_id);
CREATE INDEX runs_freshness ON runs (source, observed_key);
CREATE INDEX runs_implementation ON runs (implementation);
CREATE INDEX runs_workload ON runs (workload);
CREATE INDEX runs_protocol ON runs (protocol);
CREATE INDEX runs_environment ON runs (environment);
CREATE INDEX runs_operation ON runs (operation);
CREATE INDEX runs_project ON runs (project);
CREATE INDEX runs_hardware ON runs (hardware);
"""

REFERRED_AS = {
    Kind.SOFTWARE_PROJECT: "project",
    Kind.OPERATION_SPEC: "operation",
    Kind.WORKLOAD_CASE: "workload",
    Kind.WORKLOAD_SUITE: "workload",
    Kind.IMPLEMENTATION_REVISION: "implementation",
    Kind.BENCHMARK_PROTOCOL: "protocol",
    Kind.EXECUTION_ENVIRONMENT: "environment",
}


ORDERS = {
    "RECORDED_AT": ("recorded_position",),
    "OBSERVED_AT": ("observed_key", "digest"),
    "PUBLISHED_AT": ("published_key", "digest"),
}
"""Newest first. Never by value: values compare inside a group only."""

EQUALS = (
    "operation",
    "implementation",
    "project",
    "workload",
    "source",
    "hardware",
    "architecture",
    "status",
    "comparison_key",
    "eligible",
)
RANGES = {
    "observed_from": "observed_key >= :observed_from",
    "observed_to": "observed_key < :observed_to",
    "published_from": "published_key >= :published_from",
    "published_to": "published_key < :published_to",
    "level_at_least": "level >= :level_at_least",
    "dtype": "EXISTS (SELECT 1 FROM json_each(dtypes) WHERE value = :dtype)",
}


def listing(criteria: Mapping[str, Any], order: str) -> Listing:
    """Runs that meet all criteria: columns by equal value (``EQUALS``), or one of ``RANGES``."""
    where = tuple(f"{name} = :{name}" if name in EQUALS else RANGES[name] for name in criteria)
    return Listing("runs", ORDERS[order], where, criteria, descending=True)


class Duplicate(msgspec.Struct, frozen=True):
    """Another run that the same source published under the same external id in the same group."""

    digest: str
    of: str


def duplicates(db: sqlite3.Connection, digests: list[str], position: int) -> list[Duplicate]:
    """Runs flagged for each other: nothing is merged, a reader decides what they are."""
    query = f"""
      WITH held AS NOT MATERIALIZED (SELECT * FROM runs WHERE {AS_OF})
      SELECT other.digest, one.digest FROM held AS one JOIN held AS other
        ON other.source = one.source AND other.external_id = one.external_id
        AND other.comparison_key = one.comparison_key AND other.digest <> one.digest
      WHERE one.digest IN (SELECT value FROM json_each(:digests)) ORDER BY other.recorded_position"""  # noqa: S608
    return [Duplicate(*row) for row in db.execute(query, {"digests": json_list(digests), "position": position})]


def measured_workloads(db: sqlite3.Connection, operation: str, hardware: str | None, position: int) -> dict[str, int]:
    """The workloads of an operation that have runs which may be ranked, on that hardware if given, and how many."""
    query = f"""SELECT workload, count(*) FROM runs WHERE operation = :operation AND eligible AND {AS_OF}
      AND (:hardware IS NULL OR hardware = :hardware) GROUP BY workload"""  # noqa: S608 text is ours
    names = {"operation": operation, "hardware": hardware, "position": position}
    return dict(db.execute(query, names).fetchall())


class Version(NamedTuple):
    """A run's document and the position since which it holds."""

    since: int
    doc: Doc


def versions(db: sqlite3.Connection, digest: str, after: int, until: int) -> list[Version]:
    """What a run became after one position and up to another, oldest first."""
    query = """SELECT from_position, doc FROM runs
      WHERE digest = ? AND from_position > ? AND from_position <= ? ORDER BY from_position"""
    return [Version(since, msgspec.json.decode(doc)) for since, doc in db.execute(query, (digest, after, until))]


def changed_at(db: sqlite3.Connection, digests: Iterable[str], position: int) -> dict[str, str]:
    """When what is known of each of these runs last changed, as of the position."""
    query = f"""
      SELECT digest, (SELECT known_at FROM saves WHERE saves.position >= runs.from_position ORDER BY position LIMIT 1)
      FROM runs WHERE digest IN (SELECT value FROM json_each(:digests)) AND {AS_OF}"""  # noqa: S608
    return dict(db.execute(query, {"digests": json_list(digests), "position": position}).fetchall())


def refresh(db: sqlite3.Connection, digest: str, position: int) -> None:
    """Derive the row anew from what is known at the position."""
    run = identities.registered(db, digest, position)
    published = db.execute("SELECT * FROM publications WHERE digest = ?", (digest,)).fetchone()
    if run is None or published is None:
        # Its publication is erased: whatever else is said of it shows nothing.
        return
    decided = lifecycle(db, digest)
    standing = _standing(db, position, decided, reruns.facts_of(db, digest, decided.struck_out))
    put(db, "runs", "digest", _derived(db, run.manifest, Publication(*published), standing, position), position)


def _standing(
    db: sqlite3.Connection,
    position: int,
    decided: Lifecycle = NOTHING_DECIDED,
    tested: tuple[RerunFacts, ...] = (),
) -> Standing:
    return Standing(saves.policy(db, "ranking", position), saves.policy(db, "evidence", position), decided, tested)


def _derived(
    db: sqlite3.Connection, run: Manifest, publication: Publication, standing: Standing, position: int
) -> dict[str, Any]:
    return row_of(run, publication, resolve(db, run, position), names_of(db, publication, run), standing)


def _run_ingested(db: sqlite3.Connection, event: Event, fact: RunIngested) -> None:
    publication = Publication(
        digest=fact.digest,
        position=event.position,
        recorded_at=event.recorded_at,
        actor=event.actor,
        source=fact.source,
        external_id=fact.external_id,
        producer=fact.producer,
        published_at=with_seconds(fact.published_at) if fact.published_at else None,
    )
    insert(db, "publications", msgspec.structs.asdict(publication))
    run = stored_manifest(bytes(fact.manifest), fact.digest)
    insert(
        db,
        "runs",
        _derived(db, run, publication, _standing(db, event.position), event.position)
        | {"from_position": event.position},
    )


def _refresh_all(db: sqlite3.Connection, event: Event, column: str, value: str) -> None:
    query = f"SELECT digest FROM runs WHERE {column} = ? AND to_position IS NULL ORDER BY digest"  # noqa: S608
    for (digest,) in db.execute(query, (value,)).fetchall():
        refresh(db, digest, event.position)


def _manifest_registered(db: sqlite3.Connection, event: Event, fact: ManifestRegistered) -> None:
    _refresh_all(db, event, REFERRED_AS[Kind(fact.kind)], fact.digest)


def _alias_claimed(db: sqlite3.Connection, event: Event, fact: AliasClaimed) -> None:
    if is_operation(db, fact.target):
        _refresh_all(db, event, "operation", fact.target)


def _source_registered(db: sqlite3.Connection, event: Event, fact: SourceRegistered) -> None:
    _refresh_all(db, event, "source", fact.slug)


def _policy_adopted(db: sqlite3.Connection, event: Event, fact: PolicyAdopted) -> None:
    if fact.name == "rerun":
        # Outcomes were judged when they were recorded, by the policy that held then.
        return
    for (digest,) in db.execute("SELECT digest FROM runs WHERE to_position IS NULL ORDER BY digest").fetchall():
        refresh(db, digest, event.position)


def _metadata_revised(db: sqlite3.Connection, event: Event, fact: MetadataRevised) -> None:
    if fact.kind == Kind.BENCHMARK_RUN:
        refresh(db, fact.digest, event.position)
    else:
        _refresh_all(db, event, REFERRED_AS[Kind(fact.kind)], fact.digest)


def _decided(db: sqlite3.Connection, event: Event, fact: Any) -> None:
    refresh(db, fact.digest, event.position)


def _rerun_recorded(db: sqlite3.Connection, event: Event, fact: RerunRecorded) -> None:
    refresh(db, fact.run, event.position)


def _runner_suspended(db: sqlite3.Connection, event: Event, fact: RunnerSuspended) -> None:
    for digest in reruns.runs_of_runner(db, fact.runner):
        refresh(db, digest, event.position)


READ_MODEL = ReadModel(
    "runs",
    2,
    DDL,
    {
        **dict.fromkeys(lifecycles.CHANGES, _decided),
        MetadataRevised: _metadata_revised,
        RerunRecorded: _rerun_recorded,
        RunnerSuspended: _runner_suspended,
        RunIngested: _run_ingested,
        ManifestRegistered: _manifest_registered,
        AliasClaimed: _alias_claimed,
        SourceRegistered: _source_registered,
        PolicyAdopted: _policy_adopted,
    },
)
