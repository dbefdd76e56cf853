"""The root fields that read. ``Reads`` is what can be asked of any snapshot; ``Query`` asks of the present one."""

import asyncio
from dataclasses import fields
from typing import Annotated, Any, Final, cast

import strawberry
from strawberry.types import Info

from domain.errors import ErrorCode, InvalidInput
from domain.manifests import Kind
from projections import operations, runs, sources
from projections.model import Doc
from service.api import cited, citing, resolving
from service.api.as_of import AsOf, snapshot_as_of
from service.api.context import Context
from service.api.scalars import URL, Date, DateTime, Digest, LogCursor, Position
from service.api.snapshot import Snapshot
from service.api.stamps import AccessStamp, stamp
from service.api.types.audit import (
    Checkpoint,
    ConsistencyProof,
    InclusionProof,
    checkpoint_document,
    consistency_document,
    inclusion_document,
)
from service.api.types.base import Documented, Node, loaded, snapshot_of
from service.api.types.catalogue import Hardware, Implementation, Operation, Project, Source, Workload
from service.api.types.citations import ACCESSED_ON, STYLE, CitationExport
from service.api.types.cited import CitedRecord
from service.api.types.connections import Connection, PageArguments, connection
from service.api.types.enums import CitationFormat, EvidenceLevel, RunOrder, RunStatus
from service.api.types.events import Event, event_connection, event_node, event_position
from service.api.types.rankings import Ranking
from service.api.types.runs import Run
from service.api.viewer import RateLimit, Viewer, rate_limit, viewer

MAX_NODES: Final = 100
Ask = Info[Context, Any]
Asked = strawberry.Parent[Doc | None]
"""What a root field is asked of: the document of ``at``, or None where it is the present."""


class _Given:
    def given(self) -> dict[str, Any]:
        """The fields that were given, under the names of columns."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in values.items() if value is not None}


@strawberry.input(description="Which runs. All given fields must hold.")
class RunFilter(_Given):
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
class RankingFilter(_Given):
    operation: strawberry.ID | None = strawberry.field(default=None, description="Of this operation.")
    workload: strawberry.ID | None = strawberry.field(default=None, description="On this workload.")
    hardware: str | None = strawberry.field(default=None, description="On this product, by name or slug.")
    dtype: str | None = strawberry.field(default=None, description="Whose workload has this element type.")
    source: str | None = strawberry.field(default=None, description="With ranked runs from the source of this slug.")


@strawberry.input(description="Which operations.")
class OperationFilter(_Given):
    family: str | None = strawberry.field(default=None, description="Of this family.")


@strawberry.input(description="Which events. All given fields must hold.")
class EventFilter(_Given):
    types: list[str] | None = strawberry.field(default=None, description="Of one of these types, say `RunIngested`.")
    stream: str | None = strawberry.field(default=None, description="In this stream, such as `source/<slug>`.")
    run: strawberry.ID | None = strawberry.field(default=None, description="That concern this run.")
    actor: str | None = strawberry.field(default=None, description="By this principal.")
    recorded_from: DateTime | None = strawberry.field(default=None, description="Recorded then or later.")
    recorded_to: DateTime | None = strawberry.field(default=None, description="Recorded before then.")


@strawberry.interface(description="What can be read of the index as of a position.")
class Reads:
    @loaded(Run | None, "A run by digest, unique prefix of at least 8 hex digits, or alias.")
    async def run(self, root: Asked, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await resolving.document_of(_snapshot(root, info), id, (Kind.BENCHMARK_RUN,))

    @loaded(Connection[Run] | None, "Runs, newest first.")
    async def runs(
        self,
        root: Asked,
        info: Ask,
        filter: RunFilter | None = None,  # noqa: A002 the schema's name
        order_by: RunOrder = RunOrder.RECORDED_AT,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        snapshot = _snapshot(root, info)
        criteria = await resolving.run_criteria(snapshot, filter.given() if filter else {})
        listing = runs.listing(criteria, order_by.value)
        return await connection(
            listing, "runs", PageArguments(first, after, last, before), snapshot, info.context.snapshot_at
        )

    @loaded(Ranking | None, "The ranking of a group; null where no run of it is ranked.")
    async def ranking(self, root: Asked, info: Ask, comparison_key: Digest) -> Doc | None:
        return await resolving.ranking(_snapshot(root, info), comparison_key)

    @loaded(Connection[Ranking] | None, "Groups with ranked runs, the largest first.")
    async def rankings(
        self,
        root: Asked,
        info: Ask,
        filter: RankingFilter | None = None,  # noqa: A002 the schema's name
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        snapshot = _snapshot(root, info)
        listing = await resolving.ranking_listing(snapshot, filter.given() if filter else {})
        return await connection(
            listing, "rankings", PageArguments(first, after, last, before), snapshot, info.context.snapshot_at
        )

    @loaded(Operation | None, "An operation by id, or the newest one of a slug.")
    async def operation(
        self,
        root: Asked,
        info: Ask,
        id: strawberry.ID | None = None,  # noqa: A002 the schema's name
        slug: str | None = None,
    ) -> Doc | None:
        snapshot = _snapshot(root, info)
        if (id is None) is (slug is None):
            raise _either("id", "slug")
        if id is not None:
            return await resolving.document_of(snapshot, id, (Kind.OPERATION_SPEC,))
        found = await snapshot.read(lambda db: operations.with_slug(db, slug or "", snapshot.position))
        return snapshot.adopt(found) if found else None

    @loaded(Connection[Operation] | None, "Operations by name.")
    async def operations(
        self,
        root: Asked,
        info: Ask,
        filter: OperationFilter | None = None,  # noqa: A002 the schema's name
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        listing = operations.listing(filter.given() if filter else {})
        arguments = PageArguments(first, after, last, before)
        return await connection(listing, "operations", arguments, _snapshot(root, info), info.context.snapshot_at)

    @loaded(Workload | None, "A workload by digest, unique prefix or alias.")
    async def workload(self, root: Asked, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await resolving.document_of(_snapshot(root, info), id, resolving.WORKLOADS)

    @loaded(Implementation | None, "An implementation by digest, unique prefix or alias.")
    async def implementation(self, root: Asked, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await resolving.document_of(_snapshot(root, info), id, (Kind.IMPLEMENTATION_REVISION,))

    @loaded(Project | None, "A project by digest, unique prefix or alias.")
    async def project(self, root: Asked, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await resolving.document_of(_snapshot(root, info), id, (Kind.SOFTWARE_PROJECT,))

    @loaded(Hardware | None, "A hardware product.")
    async def hardware(self, root: Asked, info: Ask, slug: str) -> Doc | None:
        return await _snapshot(root, info).document("hardware", slug)

    @loaded(Connection[Source] | None, "Registered sources by name.")
    async def sources(
        self,
        root: Asked,
        info: Ask,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        arguments = PageArguments(first, after, last, before)
        return await connection(
            sources.listing(), "sources", arguments, _snapshot(root, info), info.context.snapshot_at
        )

    @loaded(Node | None, "Anything that has an id.")
    async def node(self, root: Asked, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await _node(root, info, id)

    @loaded(list[Node | None], "Several things that have ids, in the order asked for; at most 100.")
    async def nodes(self, root: Asked, info: Ask, ids: list[strawberry.ID]) -> list[Doc | None]:
        if len(ids) > MAX_NODES:
            raise InvalidInput.because(
                f"{len(ids)} ids are too many",
                code=ErrorCode.INVALID_ARGUMENT,
                path="ids",
                remedy=f"ask for at most {MAX_NODES} at a time",
            )
        found = await asyncio.gather(*(_node(root, info, one) for one in ids), return_exceptions=True)
        # An exception in its place is that node's error alone: the others are answered.
        return cast("list[Doc | None]", found)

    @loaded(Connection[Event] | None, "The log's events, first to last.")
    async def events(
        self,
        root: Asked,
        info: Ask,
        filter: EventFilter | None = None,  # noqa: A002 the schema's name
        first: int | None = None,
        after: LogCursor | None = None,
    ) -> Doc:
        snapshot = _snapshot(root, info)
        criteria = await resolving.event_criteria(snapshot, filter.given() if filter else {})
        return await event_connection(info.context, snapshot, criteria, first, after)

    @loaded(Checkpoint | None, "The newest signed checkpoint: what the log promises to whoever keeps it.")
    async def checkpoint(self, info: Ask) -> Doc:
        return await checkpoint_document(info.context)

    @loaded(InclusionProof | None, "The proof that the event at a position is in the log.")
    async def inclusion_proof(self, root: Asked, info: Ask, position: Position) -> Doc:
        return await inclusion_document(info.context, _snapshot(root, info), position)

    @loaded(CitationExport | None, "Several runs as they are cited, in one file; at most 100.")
    async def citations(
        self,
        root: Asked,
        info: Ask,
        ids: list[strawberry.ID],
        format: CitationFormat,  # noqa: A002 the schema's name
        style: Annotated[str | None, strawberry.argument(description=STYLE)] = None,
        accessed_on: Annotated[Date | None, strawberry.argument(description=ACCESSED_ON)] = None,
    ) -> Doc:
        return await citing.export(ids, _snapshot(root, info), info.context, format, style, accessed_on)

    @loaded(AccessStamp, "When and as of which position this is read.")
    async def stamp(self, root: Asked, info: Ask) -> Doc:
        return stamp(_snapshot(root, info), info.context.accessed_at)


@strawberry.type(
    name="Snapshot",
    description="The index as of an earlier moment. The ids of its nodes are pinned, `<id>@<position>`, so that caches"
    " keep them apart from the present ones; every field that takes an id takes these.",
)
class PastReads(Documented, Reads):
    graphql_name = "Snapshot"


@strawberry.type(description="What can be read of the index now. All fields of an operation share one snapshot.")
class Query(Reads):
    @loaded(ConsistencyProof | None, "The proof that the log up to one position is how it begins up to a later one.")
    async def consistency_proof(
        self,
        info: Ask,
        from_: Annotated[Position, strawberry.argument(name="from")],
        to: Position,
    ) -> Doc:
        return await consistency_document(info.context.snapshot, from_, to)

    @loaded(
        PastReads | None,
        "What could be read at an earlier moment; its `stamp` says to which position that comes.",
    )
    async def at(self, info: Ask, as_of: AsOf) -> Doc | None:
        return {"@type": "Snapshot", "@": snapshot_as_of(as_of, info.context)}

    @loaded(
        CitedRecord | None,
        "A record as somebody cited it and what has changed since; null where no run has the permalink's id.",
    )
    async def cited_record(
        self,
        info: Ask,
        permalink: Annotated[URL, strawberry.argument(description="As cited; a position in it says the moment.")],
        digest: Annotated[Digest | None, strawberry.argument(description="As cited; is it that of the record?")] = None,
        accessed_on: Annotated[
            Date | None, strawberry.argument(description="The UTC day of access: without a position, its end is meant.")
        ] = None,
    ) -> Doc | None:
        return await cited.cited_record(info.context, permalink, digest, accessed_on)

    @loaded(Viewer | None, "Who asks; null without a key.")
    async def viewer(self, info: Ask) -> Doc | None:
        return viewer(info.context.caller)

    @loaded(RateLimit, "How often you may ask, and how often you still may.")
    async def rate_limit(self, info: Ask) -> Doc:
        context = info.context
        return rate_limit(context.index.rates.standing(context.caller))


def _snapshot(root: Doc | None, info: Ask) -> Snapshot:
    """What is read: the snapshot under ``at``, else the present one."""
    return snapshot_of(root) if root else info.context.snapshot


async def _node(root: Doc | None, info: Ask, text: str) -> Doc | None:
    """The document of any node; events are those of the log, all others stand in the views."""
    if (position := event_position(text)) is not None:
        return await event_node(info.context, _snapshot(root, info), position)
    return await resolving.node(_snapshot(root, info), text)


def _either(one: str, other: str) -> InvalidInput:
    return InvalidInput.because(
        f"give {one} or {other}, one of them",
        code=ErrorCode.INVALID_ARGUMENT,
        path=one,
        remedy=f"leave out either {one} or {other}",
    )
