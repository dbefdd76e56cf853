"""The root fields that read. ``Reads`` is what can be asked of any snapshot; ``Query`` asks of the present one."""

import asyncio
from typing import Any, Final, cast

import strawberry

from domain.errors import ErrorCode, InvalidInput
from domain.manifests import Kind
from projections import operations, runs, sources
from projections.model import Doc
from service.api import resolving
from service.api.asked import Ask, Given
from service.api.rerun_reads import RerunAndIssueReads
from service.api.scalars import DateTime, Digest
from service.api.snapshot import Snapshot
from service.api.stamps import AccessStamp, stamp
from service.api.types.base import Node, loaded
from service.api.types.catalogue import Hardware, Implementation, Operation, Project, Source, Workload
from service.api.types.connections import Connection, PageArguments, connection
from service.api.types.enums import EvidenceLevel, RunOrder, RunStatus
from service.api.types.rankings import Ranking
from service.api.types.runs import Run
from service.api.viewer import RateLimit, Viewer, rate_limit, viewer

MAX_NODES: Final = 100


@strawberry.input(description="Which runs. All given fields must hold.")
class RunFilter(Given):
    operation: strawberry.ID | None = strawberry.field(default=None, description="Of this operation.")
    implementation: strawberry.ID | None = strawberry.field(default=None, description="Of this implementation.")
    project: strawberry.ID | None = strawberry.field(default=None, description="Of this project's implementations.")
    workload: strawberry.ID | None = strawberry.field(default=None, description="On this workload.")
    source: str | None = strawberry.field(default=None, description="From the source of this slug.")
    hardware: str | None = strawberry.field(default=None, description="On this product, by name or slug.")
    architecture: str | None = strawberry.field(default=None, description="On this architecture, such as `sm_100`.")
    dtype: str | None = strawberry.field(default=None, description="Whose workload has this element type.")
    status: RunStatus | None = strawberry.field(default=None, description="With this status.")
    evidence_at_least: EvidenceLevel | None = strawberry.field(default=None, description="Trusted at least so far.")
    eligible: bool | None = strawberry.field(default=None, description="That may be ranked, or that may not.")
    comparison_key: Digest | None = strawberry.field(default=None, description="Of this group, ranked or not.")
    observed_from: DateTime | None = strawberry.field(default=None, description="Measured then or later.")
    observed_to: DateTime | None = strawberry.field(default=None, description="Measured before then.")
    published_from: DateTime | None = strawberry.field(default=None, description="Published then or later.")
    published_to: DateTime | None = strawberry.field(default=None, description="Published before then.")

    def given(self) -> dict[str, Any]:
        """The criteria; a level is compared by its place among the levels."""
        criteria = super().given()
        if level := criteria.pop("evidence_at_least", None):
            criteria["level_at_least"] = level.ordinal
        return criteria


@strawberry.input(description="Which groups. All given fields must hold.")
class RankingFilter(Given):
    operation: strawberry.ID | None = strawberry.field(default=None, description="Of this operation.")
    workload: strawberry.ID | None = strawberry.field(default=None, description="On this workload.")
    hardware: str | None = strawberry.field(default=None, description="On this product, by name or slug.")
    dtype: str | None = strawberry.field(default=None, description="Whose workload has this element type.")
    source: str | None = strawberry.field(default=None, description="With ranked runs from the source of this slug.")


@strawberry.input(description="Which operations.")
class OperationFilter(Given):
    family: str | None = strawberry.field(default=None, description="Of this family.")


@strawberry.interface(description="What can be read of the index as of a position.")
class Reads(RerunAndIssueReads):
    @loaded(Run | None, "A run by digest, unique prefix of at least 8 hex digits, or alias.")
    async def run(self, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await resolving.document_of(_snapshot(info), id, (Kind.BENCHMARK_RUN,))

    @loaded(Connection[Run] | None, "Runs, newest first.")
    async def runs(
        self,
        info: Ask,
        filter: RunFilter | None = None,  # noqa: A002 the schema's name
        order_by: RunOrder = RunOrder.RECORDED_AT,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        snapshot = _snapshot(info)
        criteria = await resolving.run_criteria(snapshot, filter.given() if filter else {})
        listing = runs.listing(criteria, order_by.value)
        return await connection(
            listing, "runs", PageArguments(first, after, last, before), snapshot, info.context.snapshot_at
        )

    @loaded(Ranking | None, "The ranking of a group; null where no run of it is ranked.")
    async def ranking(self, info: Ask, comparison_key: Digest) -> Doc | None:
        return await resolving.ranking(_snapshot(info), comparison_key)

    @loaded(Connection[Ranking] | None, "Groups with ranked runs, the largest first.")
    async def rankings(
        self,
        info: Ask,
        filter: RankingFilter | None = None,  # noqa: A002 the schema's name
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        snapshot = _snapshot(info)
        listing = await resolving.ranking_listing(snapshot, filter.given() if filter else {})
        return await connection(
            listing, "rankings", PageArguments(first, after, last, before), snapshot, info.context.snapshot_at
        )

    @loaded(Operation | None, "An operation by id, or the newest one of a slug.")
    async def operation(
        self,
        info: Ask,
        id: strawberry.ID | None = None,  # noqa: A002 the schema's name
        slug: str | None = None,
    ) -> Doc | None:
        snapshot = _snapshot(info)
        if (id is None) is (slug is None):
            raise _either("id", "slug")
        if id is not None:
            return await resolving.document_of(snapshot, id, (Kind.OPERATION_SPEC,))
        found = await snapshot.read(lambda db: operations.with_slug(db, slug or "", snapshot.position))
        return snapshot.adopt(found) if found else None

    @loaded(Connection[Operation] | None, "Operations by name.")
    async def operations(
        self,
        info: Ask,
        filter: OperationFilter | None = None,  # noqa: A002 the schema's name
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        listing = operations.listing(filter.given() if filter else {})
        arguments = PageArguments(first, after, last, before)
        return await connection(listing, "operations", arguments, _snapshot(info), info.context.snapshot_at)

    @loaded(Workload | None, "A workload by digest, unique prefix or alias.")
    async def workload(self, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await resolving.document_of(_snapshot(info), id, resolving.WORKLOADS)

    @loaded(Implementation | None, "An implementation by digest, unique prefix or alias.")
    async def implementation(self, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await resolving.document_of(_snapshot(info), id, (Kind.IMPLEMENTATION_REVISION,))

    @loaded(Project | None, "A project by digest, unique prefix or alias.")
    async def project(self, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await resolving.document_of(_snapshot(info), id, (Kind.SOFTWARE_PROJECT,))

    @loaded(Hardware | None, "A hardware product.")
    async def hardware(self, info: Ask, slug: str) -> Doc | None:
        return await _snapshot(info).document("hardware", slug)

    @loaded(Connection[Source] | None, "Registered sources by name.")
    async def sources(
        self,
        info: Ask,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        arguments = PageArguments(first, after, last, before)
        return await connection(sources.listing(), "sources", arguments, _snapshot(info), info.context.snapshot_at)

    @loaded(Node | None, "Anything that has an id.")
    async def node(self, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await resolving.node(_snapshot(info), id)

    @loaded(list[Node | None], "Several things that have ids, in the order asked for; at most 100.")
    async def nodes(self, info: Ask, ids: list[strawberry.ID]) -> list[Doc | None]:
        if len(ids) > MAX_NODES:
            raise InvalidInput.because(
                f"{len(ids)} ids are too many",
                code=ErrorCode.INVALID_ARGUMENT,
                path="ids",
                remedy=f"ask for at most {MAX_NODES} at a time",
            )
        snapshot = _snapshot(info)
        found = await asyncio.gather(*(resolving.node(snapshot, one) for one in ids), return_exceptions=True)
        # An exception in its place is that node's error alone: the others are answered.
        return cast("list[Doc | None]", found)

    @loaded(AccessStamp, "When and as of which position this is read.")
    async def stamp(self, info: Ask) -> Doc:
        return stamp(_snapshot(info), info.context.accessed_at)


@strawberry.type(description="What can be read of the index now. All fields of an operation share one snapshot.")
class Query(Reads):
    @loaded(Viewer | None, "Who asks; null without a key.")
    async def viewer(self, info: Ask) -> Doc | None:
        return viewer(info.context.caller)

    @loaded(RateLimit, "How often you may ask, and how often you still may.")
    async def rate_limit(self, info: Ask) -> Doc:
        context = info.context
        return rate_limit(context.index.rates.standing(context.caller))


def _snapshot(info: Ask) -> Snapshot:
    return info.context.snapshot


def _either(one: str, other: str) -> InvalidInput:
    return InvalidInput.because(
        f"give {one} or {other}, one of them",
        code=ErrorCode.INVALID_ARGUMENT,
        path=one,
        remedy=f"leave out either {one} or {other}",
    )
