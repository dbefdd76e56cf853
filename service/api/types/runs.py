"""Runs: the records that people cite."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Final

import strawberry
from strawberry.types import Info

from domain.identity import hex_of
from projections.model import Doc
from projections.rankings import Standing
from service.api import citing
from service.api.context import Context
from service.api.scalars import URL, Date, DateTime, Digest, LogCursor, Position
from service.api.stamps import AccessStamp, stamp
from service.api.types.base import (
    Documented,
    Fact,
    LazyRun,
    Registered,
    Root,
    by_snapshot,
    linked,
    loaded,
    picked,
    snapshot_of,
)
from service.api.types.catalogue import (
    Environment,
    Implementation,
    Operation,
    Project,
    Protocol,
    Source,
    Workload,
)
from service.api.types.citations import ACCESSED_ON, PROOF, STYLE, Citation
from service.api.types.connections import Connection
from service.api.types.described import object_type
from service.api.types.enums import CitationFormat, Profile, RunStatus
from service.api.types.events import Event, history_connection
from service.api.types.parts import Artifact, ComparisonParts, Correctness, Evidence, Measurement, SourceMetric
from service.api.types.run_lists import RunLists


@object_type("Where a run stands in its group.")
class RunRanking:
    rank: int | None = picked("The rank, dense from 1; null for a run that is not ranked.")
    tied: bool = picked("Whether another run has the same rank.")
    group_size: int = picked("How many runs of the group are ranked.")
    ratio_to_leader: float | None = picked("How far behind the leader's value it is: 1 for the leader, else above.")
    eligible: bool = picked("Whether the run may be ranked.")
    reasons: list[str] = picked("Why it may not: codes such as `STATUS_TIMEOUT` or `REFERENCE_UNRESOLVED`.")
    profile: Profile = picked("How the runs of the group compare.")

    leader = linked(
        LazyRun | None, "The run that leads the group; of tied leaders the first in the order shown.", "runs", "@leader"
    )


async def _rankings(runs: Sequence[Doc]) -> Sequence[Doc]:
    standings = await by_snapshot(
        runs, lambda snapshot, docs: snapshot.standings([run["comparisonKey"] for run in docs])
    )
    return [_ranking(run, standing) for run, standing in zip(runs, standings, strict=True)]


def _ranking(run: Doc, standing: Standing | None) -> Doc:
    placed = standing.place_of(run["digest"]) if standing else None
    return snapshot_of(run).adopt(
        {
            "rank": placed.rank if placed else None,
            "tied": bool(placed and placed.tied),
            "groupSize": len(standing.placed) if standing else 0,
            "ratioToLeader": standing.ratio_to_leader(placed) if standing and placed else None,
            "eligible": not run["ineligibleReasons"],
            "reasons": run["ineligibleReasons"],
            "profile": standing.group.profile if standing else run["profile"],
            "@leader": standing.placed[0].entry.run if standing and standing.placed else None,
        }
    )


PLACED_BY: Final = ("comparisonKey", "digest", "ineligibleReasons", "profile")
"""What :func:`_ranking` reads of a run."""


async def _sources(runs: Sequence[Doc]) -> Sequence[Doc]:
    return await by_snapshot(runs, lambda snapshot, docs: snapshot.sources([run["source"] for run in docs]))


@object_type("A benchmark run: who measured which implementation on what, how, where, and the result.")
class Run(RunLists, Documented, Registered):
    status: RunStatus = picked("What the harness said.")
    observed_at: DateTime = picked("When it was measured.")
    published_at: DateTime = picked("When it was first published, by another index if that one says so.")
    recorded_at: DateTime = picked("When this index recorded it.")
    position: Position = picked("The position of the event that recorded it.")
    primary: Measurement | None = picked("The measurement that it is ranked by.")
    measurements: list[Measurement] = picked("All measured values, the primary one first.")
    source_metrics: list[SourceMetric] = picked("Numbers that the source reported beside them.")
    source_metrics_text: str | None = picked("Those numbers in one line.")
    profile: Profile = picked("How it compares with others.")
    comparison_text: str = picked("How it compares with others, in words.")
    comparison_key: Digest | None = picked("The group in which it compares; null until its workload is registered.")
    comparison: ComparisonParts | None = picked("What the comparison key is made of.")
    revision: str | None = picked("What the implementation calls its revision.")
    workload_label: str = picked("The workload in one line.")
    identity_facts: list[Fact] = picked("The lines of its page about what it is.")
    workload_facts: list[Fact] = picked("The lines of its page about the workload.")
    protocol_facts: list[Fact] = picked("The lines of its page about the protocol.")
    environment_facts: list[Fact] = picked("The lines of its page about the environment.")
    correctness: Correctness | None = picked("What it says of its correctness check.")
    correctness_text: str = picked("What is known of its correctness, in words.")
    external_id: str | None = picked("The id that its source gave it.")
    producer: str | None = picked("Who produced the result, where the record says so.")
    unresolved: list[Digest] = picked("What it refers to that is not registered here; while any is, it is not ranked.")
    evidence: Evidence = picked("How far it can be trusted, and why.")
    submitted_by: str = picked("The principal that sent it in. Neither its attestations nor its reruns count.")

    @loaded(URL, "Where it can be found, for ever.", needs=("digest",))
    def permalink(self, root: Root) -> str:
        return f"{snapshot_of(root).base_url}/runs/{hex_of(root['digest'])}"

    @loaded(URL, "Where it can be found as it stands at this position, for ever.", needs=("digest",))
    def pinned_permalink(self, root: Root) -> str:
        snapshot = snapshot_of(root)
        return f"{snapshot.base_url}/runs/{hex_of(root['digest'])}/at/{snapshot.position}"

    @loaded(AccessStamp, "When and as of which position this was read.", needs=())
    async def stamp(self, root: Root, info: Info[Context, Any]) -> Doc:
        return stamp(snapshot_of(root), info.context.accessed_at)

    @loaded(Citation, "The run as it is cited: as of the position at which it is read.")
    async def citation(
        self,
        root: Root,
        info: Info[Context, Any],
        format: Annotated[CitationFormat, strawberry.argument(description="In which format.")] = CitationFormat.TEXT,  # noqa: A002 the schema's name
        style: Annotated[str | None, strawberry.argument(description=STYLE)] = None,
        accessed_on: Annotated[Date | None, strawberry.argument(description=ACCESSED_ON)] = None,
        proof: Annotated[bool, strawberry.argument(description=PROOF)] = False,
    ) -> Doc:
        cited = await citing.citation(root, info.context, format, style, accessed_on)
        if not proof:
            return cited | {"proof": None}
        proving = info.context.index.proving
        (proven,) = await snapshot_of(root).batched("proofs", proving.tlog_proofs, [root["position"]])
        return cited | {"proof": str(proven)}

    @loaded(RunRanking, "Where it stands in its group.", together=_rankings, needs=PLACED_BY)
    async def ranking(self, root: Root) -> Doc:
        key = root["comparisonKey"]
        standing = await snapshot_of(root).standing(key) if key else None
        return _ranking(root, standing)

    implementation = linked(
        Implementation | None,
        "The implementation that was measured; null while it is not registered.",
        "implementations",
        "implementation",
    )
    project = linked(Project | None, "The implementation's project.", "projects", "project")
    operation = linked(
        Operation | None, "The operation that was measured; null while it is not registered.", "operations", "operation"
    )
    workload = linked(
        Workload | None, "What it was measured on; null while it is not registered.", "workloads", "workload"
    )
    protocol = linked(
        Protocol | None, "How it was measured; null while that is not registered.", "conditions", "protocol"
    )
    environment = linked(
        Environment | None, "Where it was measured; null while that is not registered.", "conditions", "environment"
    )

    @loaded(Source, "Who says so.", together=_sources, needs=("source",))
    async def source(self, root: Root) -> Doc:
        return await snapshot_of(root).source(root["source"])

    @loaded(list[Artifact], "The files that it names by content digest.")
    async def artifacts(self, root: Root) -> list[Doc]:
        named: Sequence[Doc] = root["artifacts"]
        snapshot = snapshot_of(root)
        # One by one, so that those of other runs are looked up with them.
        recorded = await asyncio.gather(*(snapshot.document("artifacts", one["digest"]) for one in named))
        return [_artifact(one, record) for one, record in zip(named, recorded, strict=True)]

    @loaded(Connection[Event], "All events that concern it, first to last: its own, and what others said of it.")
    async def history(
        self, root: Root, info: Info[Context, Any], first: int | None = None, after: LogCursor | None = None
    ) -> Doc:
        return await history_connection(info.context, snapshot_of(root), root["digest"], first, after)

    @loaded(
        list[LazyRun],
        "Other runs of its group that its source published under the same external id: flagged, never merged.",
    )
    async def duplicates(self, root: Root) -> list[Doc]:
        snapshot = snapshot_of(root)
        same = await snapshot.duplicates(root["digest"])
        found = await asyncio.gather(*(snapshot.document("runs", digest) for digest in same))
        return [doc for doc in found if doc]


def _artifact(named: Doc, recorded: Doc | None) -> Doc:
    known = recorded or {}
    return {
        **named,
        "recorded": recorded is not None,
        **{field: known.get(field) for field in ("kind", "mediaType", "sizeBytes", "licence")},
    }
