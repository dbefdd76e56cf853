"""Root fields that read what others say and do about runs: reruns and who does them, issues."""

from typing import Any

import strawberry

from domain.display.names import slugify
from domain.facts import IssueCategory, RerunOutcome
from domain.manifests import Kind
from projections import issues, reruns, runners
from projections.model import Doc
from projections.paging import Listing
from service.api import resolving
from service.api.asked import Ask, Asked, Given, snapshot_asked
from service.api.resolving import bare_id, require_id
from service.api.snapshot import Snapshot
from service.api.types.base import loaded
from service.api.types.connections import Connection, PageArguments, connection
from service.api.types.described import input_type
from service.api.types.enums import IssueState, RerunState
from service.api.types.issues import Issue
from service.api.types.reruns import Rerun, Runner


@input_type("Which reruns. All given fields must hold.")
class RerunFilter(Given):
    state: RerunState | None = strawberry.field(default=None, description="In this state.")
    hardware: str | None = strawberry.field(default=None, description="Of runs on this product, by name or slug.")
    run: strawberry.ID | None = strawberry.field(default=None, description="Of this run.")
    runner: strawberry.ID | None = strawberry.field(default=None, description="That this runner started last.")
    outcome: RerunOutcome | None = strawberry.field(default=None, description="With this outcome.")


@input_type("Which issues. All given fields must hold.")
class IssueFilter(Given):
    run: strawberry.ID | None = strawberry.field(default=None, description="On this run.")
    category: IssueCategory | None = strawberry.field(default=None, description="Of this kind.")
    state: IssueState | None = strawberry.field(default=None, description="In this state.")


@input_type("Which runners. All given fields must hold.")
class RunnerFilter(Given):
    operator: str | None = strawberry.field(default=None, description="Of this operator.")
    host: str | None = strawberry.field(default=None, description="On this machine.")
    hardware: str | None = strawberry.field(default=None, description="That measures on this product, by name or slug.")
    suspended: bool | None = strawberry.field(default=None, description="Not trusted any more, or still trusted.")


@strawberry.type
class RerunAndIssueReads:
    """Fields of :class:`service.api.reads.Reads`."""

    @loaded(Rerun | None, "A rerun.")
    async def rerun(self, root: Asked, info: Ask, id: strawberry.ID) -> Doc | None:  # noqa: A002 the schema's name
        whole = id if id.startswith("rerun/") else f"rerun/{id}"
        return await resolving.node(snapshot_asked(root, info), whole)

    @loaded(Connection[Rerun] | None, "Requests to measure runs again, and what came of them, oldest first.")
    async def rerun_requests(
        self,
        root: Asked,
        info: Ask,
        filter: RerunFilter | None = None,  # noqa: A002 the schema's name
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        listing = reruns.listing(await rerun_criteria(snapshot_asked(root, info), filter))
        return await _page(root, info, "rerunRequests", listing, PageArguments(first, after, last, before))

    @loaded(Connection[Issue] | None, "What people say is wrong with runs, oldest first.")
    async def issues(
        self,
        root: Asked,
        info: Ask,
        filter: IssueFilter | None = None,  # noqa: A002 the schema's name
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        listing = issues.listing(await _criteria(snapshot_asked(root, info), filter))
        return await _page(root, info, "issues", listing, PageArguments(first, after, last, before))

    @loaded(Connection[Runner] | None, "The machines whose reruns count, or once did, oldest first.")
    async def runners(
        self,
        root: Asked,
        info: Ask,
        filter: RunnerFilter | None = None,  # noqa: A002 the schema's name
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        listing = runners.listing(await _criteria(snapshot_asked(root, info), filter))
        return await _page(root, info, "runners", listing, PageArguments(first, after, last, before))


async def rerun_criteria(snapshot: Snapshot, filter_: RerunFilter | None) -> dict[str, Any]:
    """The criteria of :func:`projections.reruns.listing` from a filter."""
    return await _criteria(snapshot, filter_)


async def _criteria(snapshot: Snapshot, filter_: Given | None) -> dict[str, Any]:
    given = filter_.given() if filter_ else {}
    if "run" in given:
        given["run"] = await require_id(snapshot, given["run"], (Kind.BENCHMARK_RUN,), "filter.run")
    if "runner" in given:
        given["runner"] = bare_id("runner", given["runner"], "filter.runner")
    if "hardware" in given:
        given["hardware"] = slugify(given["hardware"])
    return given


async def _page(root: Doc | None, info: Ask, name: str, listing: Listing, arguments: PageArguments) -> Doc:
    return await connection(listing, name, arguments, snapshot_asked(root, info), info.context.snapshot_at)
