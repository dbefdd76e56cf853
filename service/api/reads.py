"""The root fields that read. ``Reads`` is what can be asked of any snapshot; ``Query`` asks of the present one."""

import asyncio
from typing import Annotated, Final, cast

import strawberry

from domain.errors import ErrorCode, InvalidInput
from domain.manifests import Kind
from projections import operations, runs, sources
from projections.model import Doc
from service.api import cited, citing, resolving
from service.api.as_of import AsOf, snapshot_as_of
from service.api.asked import Ask, Asked, snapshot_asked
from service.api.filters import OperationFilter, RankingFilter, RunFilter
from service.api.finding import Finding
from service.api.log_reads import LogProofs, LogReads, node
from service.api.record_reads import RecordReads
from service.api.rerun_reads import RerunAndIssueReads
from service.api.scalars import URL, Date, Digest
from service.api.stamps import AccessStamp, stamp
from service.api.types.base import Documented, Node, loaded
from service.api.types.catalogue import Hardware, Implementation, Operation, Project, Source, Workload
from service.api.types.citations import ACCESSED_ON, STYLE, CitationExport
from service.api.types.cited import CitedRecord
from service.api.types.connections import Connection, PageArguments, connection
from service.api.types.described import interface_type, object_type
from service.api.types.enums import CitationFormat, RunOrder
from service.api.types.rankings import Ranking
from service.api.types.runs import Run
from service.api.viewer import RateLimit, Viewer, rate_limit, viewer

MAX_NODES: Final = 100


@interface_type("What can be read of the index as of a position.")
class Reads(Finding, RecordReads, RerunAndIssueReads, LogReads):
    @loaded(Run | None, "A run by digest, unique prefix of at least 8 hex digits, or alias.")
    async def run(self, root: Asked, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await resolving.document_of(snapshot_asked(root, info), id, (Kind.BENCHMARK_RUN,))

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
        snapshot = snapshot_asked(root, info)
        criteria = await resolving.run_criteria(snapshot, filter.given() if filter else {})
        listing = runs.listing(criteria, order_by.value)
        return await connection(
            listing, "runs", PageArguments(first, after, last, before), snapshot, info.context.snapshot_at
        )

    @loaded(Ranking | None, "The ranking of a group; null where no run of it is ranked.")
    async def ranking(self, root: Asked, info: Ask, comparison_key: Digest) -> Doc | None:
        return await resolving.ranking(snapshot_asked(root, info), comparison_key)

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
        snapshot = snapshot_asked(root, info)
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
        snapshot = snapshot_asked(root, info)
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
        return await connection(listing, "operations", arguments, snapshot_asked(root, info), info.context.snapshot_at)

    @loaded(Workload | None, "A workload by digest, unique prefix or alias.")
    async def workload(self, root: Asked, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await resolving.document_of(snapshot_asked(root, info), id, resolving.WORKLOADS)

    @loaded(Implementation | None, "An implementation by digest, unique prefix or alias.")
    async def implementation(self, root: Asked, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await resolving.document_of(snapshot_asked(root, info), id, (Kind.IMPLEMENTATION_REVISION,))

    @loaded(Project | None, "A project by digest, unique prefix or alias.")
    async def project(self, root: Asked, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await resolving.document_of(snapshot_asked(root, info), id, (Kind.SOFTWARE_PROJECT,))

    @loaded(Hardware | None, "A hardware product.")
    async def hardware(self, root: Asked, info: Ask, slug: str) -> Doc | None:
        return await snapshot_asked(root, info).document("hardware", slug)

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
            sources.listing(), "sources", arguments, snapshot_asked(root, info), info.context.snapshot_at
        )

    @loaded(Node | None, "Anything that has an id.")
    async def node(self, root: Asked, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        return await node(root, info, id)

    @loaded(list[Node | None], "Several things that have ids, in the order asked for; at most 100.")
    async def nodes(self, root: Asked, info: Ask, ids: list[strawberry.ID]) -> list[Doc | None]:
        if len(ids) > MAX_NODES:
            raise InvalidInput.because(
                f"{len(ids)} ids are too many",
                code=ErrorCode.INVALID_ARGUMENT,
                path="ids",
                remedy=f"ask for at most {MAX_NODES} at a time",
            )
        found = await asyncio.gather(*(node(root, info, one) for one in ids), return_exceptions=True)
        # An exception in its place is that node's error alone: the others are answered.
        return cast("list[Doc | None]", found)

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
        return await citing.export(ids, snapshot_asked(root, info), info.context, format, style, accessed_on)

    @loaded(AccessStamp, "When and as of which position this is read.")
    async def stamp(self, root: Asked, info: Ask) -> Doc:
        return stamp(snapshot_asked(root, info), info.context.accessed_at)


@strawberry.type(
    name="Snapshot",
    description="The index as of an earlier moment. The ids of its nodes are pinned, `<id>@<position>`, so that caches"
    " keep them apart from the present ones; every field that takes an id takes these.",
)
class PastReads(Documented, Reads):
    graphql_name = "Snapshot"


@object_type("What can be read of the index now. All fields of an operation share one snapshot.")
class Query(Reads, LogProofs):
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


def _either(one: str, other: str) -> InvalidInput:
    return InvalidInput.because(
        f"give {one} or {other}, one of them",
        code=ErrorCode.INVALID_ARGUMENT,
        path=one,
        remedy=f"leave out either {one} or {other}",
    )
