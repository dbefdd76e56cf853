"""What others have said and done about a run: lists that hang below it."""

from typing import Any

import strawberry
from strawberry.types import Info

from projections import attestations, issues, reruns
from projections.model import Doc
from projections.paging import Branch, Listing
from service.api.context import Context
from service.api.types.attestations import Attestation, AttestationCount
from service.api.types.base import Root, loaded, snapshot_of
from service.api.types.connections import Connection, PageArguments, branch_connection
from service.api.types.issues import Issue
from service.api.types.lifecycle import Lifecycle, lifecycle
from service.api.types.reruns import Rerun

Ask = Info[Context, Any]


@strawberry.type
class RunLists:
    """Fields of :class:`service.api.types.runs.Run`."""

    @loaded(Lifecycle, "What was decided about it after it was published.")
    async def lifecycle(self, root: Root) -> Doc:
        return lifecycle(root)

    @loaded(list[AttestationCount], "How many voices attest to it, by what they attest.")
    async def attestation_counts(self, root: Root) -> list[Doc]:
        return await snapshot_of(root).attestation_counts(root["digest"])

    @loaded(Connection[Attestation], "What people say became of trying it, oldest first; hidden ones are left out.")
    async def attestations(
        self,
        root: Root,
        info: Ask,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        arguments = PageArguments(first, after, last, before)
        return await _about(root, info, "attestations", attestations.SHOWN, arguments)

    @loaded(Connection[Rerun], "Requests to measure it again, and what came of them, oldest first.")
    async def reruns(
        self,
        root: Root,
        info: Ask,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        arguments = PageArguments(first, after, last, before)
        return await _about(root, info, "reruns", reruns.listing({}), arguments)

    @loaded(Connection[Issue], "What people say is wrong with it, oldest first.")
    async def issues(
        self,
        root: Root,
        info: Ask,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        arguments = PageArguments(first, after, last, before)
        return await _about(root, info, "issues", issues.listing({}), arguments)


async def _about(root: Doc, info: Ask, name: str, listing: Listing, arguments: PageArguments) -> Doc:
    """A page of those rows of a listing that are about the run."""
    branch = Branch(listing, "run = parent.value")
    snapshot, snapshot_at = snapshot_of(root), info.context.snapshot_at
    return await branch_connection(branch, f"run.{name}", root["digest"], arguments, snapshot, snapshot_at)
