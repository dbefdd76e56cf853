"""Disputes about the results of runs, which moderators open and end."""

from typing import cast

import strawberry

from domain.commands import OpenDispute, ResolveDispute
from domain.facts import DisputeOutcome
from projections.model import Doc
from service.api.context import Context
from service.api.mutations.answers import Written
from service.api.mutations.failures import payload
from service.api.mutations.reading import idempotency_key, run_digest
from service.api.mutations.writing import Ask, written
from service.api.resolving import bare_id
from service.api.types.base import Root, loaded, snapshot_of
from service.api.types.described import input_type, object_type
from service.api.types.lifecycle import Dispute, lifecycle
from service.api.types.runs import Run


@input_type("A doubt about the result of a run.")
class OpenDisputeInput:
    run: strawberry.ID = strawberry.field(description="The run: a digest, a unique prefix of one, or an alias.")
    blocking: bool = strawberry.field(description="Whether the run is kept out of the rankings while this is open.")
    reason: str = strawberry.field(description="Why, in at most 2,000 characters; everyone can read it.")
    issue: strawberry.ID | None = strawberry.field(default=None, description="The issue on the run that led to it.")
    idempotency_key: str = idempotency_key()

    async def command(self, context: Context) -> OpenDispute:
        return OpenDispute(
            dispute=context.index.new_id(),
            run=await run_digest(context.snapshot, self.run),
            blocking=self.blocking,
            reason=self.reason,
            issue=bare_id("issue", self.issue) if self.issue is not None else None,
        )


@input_type("How a dispute ends.")
class ResolveDisputeInput:
    run: strawberry.ID = strawberry.field(description="The run: a digest, a unique prefix of one, or an alias.")
    dispute: strawberry.ID = strawberry.field(description="The dispute.")
    outcome: DisputeOutcome = strawberry.field(
        description="`CORRECTED` corrects the run with it: give a `successor`, or `retract: true`."
    )
    reason: str = strawberry.field(description="Why, in at most 2,000 characters; everyone can read it.")
    successor: strawberry.ID | None = strawberry.field(
        default=None, description="The run that stands in the place of the one that was wrong."
    )
    retract: bool = strawberry.field(default=False, description="Whether the run is retracted.")
    idempotency_key: str = idempotency_key()

    async def command(self, context: Context) -> ResolveDispute:
        by = self.successor
        return ResolveDispute(
            run=await run_digest(context.snapshot, self.run),
            dispute=bare_id("dispute", self.dispute),
            outcome=self.outcome,
            reason=self.reason,
            successor=await run_digest(context.snapshot, by, "successor") if by is not None else None,
            retract=self.retract,
        )


@strawberry.type
class DisputeWritten(Written):
    @loaded(Dispute, "The dispute, as it stands by now.")
    async def dispute(self, root: Root) -> Doc | None:
        disputes = lifecycle(await _run(root))["disputes"]
        return next((dispute for dispute in disputes if dispute["id"] == root["@subject"]), None)

    @loaded(Run, "The run, as it stands by now.")
    async def run(self, root: Root) -> Doc:
        return await _run(root)


async def _run(root: Doc) -> Doc:
    snapshot = snapshot_of(root)
    digest = await run_digest(snapshot, root["@given"].run)
    return cast("Doc", await snapshot.document("runs", digest))


@object_type("A dispute that is open.")
class OpenDisputeSuccess(DisputeWritten):
    pass


@object_type("A dispute that has ended.")
class ResolveDisputeSuccess(DisputeWritten):
    pass


@strawberry.type
class DisputeMutations:
    @loaded(
        payload(OpenDisputeSuccess, "What became of a dispute."),
        "Say that the result of a run is in doubt: it is contested from now on, and at most `REPRODUCIBLE`.",
    )
    async def open_dispute(self, info: Ask, input: OpenDisputeInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input)

    @loaded(payload(ResolveDisputeSuccess, "What became of a dispute's end."), "End a dispute.")
    async def resolve_dispute(self, info: Ask, input: ResolveDisputeInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input)
