"""Correcting records. Nothing is edited: each correction is an event with a reason, and shows who made it."""

import strawberry

from domain.commands import RetractRun, ReviseMetadata, SupersedeRun
from projections.model import Doc
from service.api.context import Context
from service.api.mutations.answers import RunWritten, Written
from service.api.mutations.failures import payload
from service.api.mutations.reading import idempotency_key, manifest_of, run_digest
from service.api.mutations.writing import Ask, written
from service.api.resolving import node
from service.api.scalars import ManifestText
from service.api.types.base import Node, Root, loaded, snapshot_of
from service.api.types.described import input_type, object_type


@input_type("A record, and the editorial part that it is to have.")
class ReviseMetadataInput:
    manifest: ManifestText = strawberry.field(
        description="The whole manifest of a registered record with its new `metadata`; the rest must be as it is."
    )
    reason: str = strawberry.field(description="Why, in at most 2,000 characters; everyone can read it.")
    idempotency_key: str = idempotency_key()

    async def command(self, context: Context) -> ReviseMetadata:
        manifest = await manifest_of(self.manifest, "manifest")
        return ReviseMetadata(manifest=manifest, reason=self.reason, salt=context.index.new_id())


@input_type("A run to withdraw.")
class RetractRunInput:
    run: strawberry.ID = strawberry.field(description="The run: a digest, a unique prefix of one, or an alias.")
    reason: str = strawberry.field(description="Why, in at most 2,000 characters; everyone can read it.")
    idempotency_key: str = idempotency_key()

    async def command(self, context: Context) -> RetractRun:
        return RetractRun(run=await run_digest(context.snapshot, self.run), reason=self.reason)


@input_type("A run that another one takes the place of.")
class SupersedeRunInput:
    run: strawberry.ID = strawberry.field(description="The run: a digest, a unique prefix of one, or an alias.")
    successor: strawberry.ID = strawberry.field(description="The run that stands in its place.")
    reason: str = strawberry.field(description="Why, in at most 2,000 characters; everyone can read it.")
    idempotency_key: str = idempotency_key()

    async def command(self, context: Context) -> SupersedeRun:
        return SupersedeRun(
            run=await run_digest(context.snapshot, self.run),
            successor=await run_digest(context.snapshot, self.successor, "successor"),
            reason=self.reason,
        )


@object_type("A record whose editorial part is the one that was sent.")
class ReviseMetadataSuccess(Written):
    @loaded(Node, "The record, as it stands by now.")
    async def node(self, root: Root) -> Doc | None:
        return await node(snapshot_of(root), root["@subject"])


@object_type("A run that is retracted. Its permalink goes on resolving, and says why.")
class RetractRunSuccess(RunWritten):
    pass


@object_type("A run that is superseded. Its permalink goes on resolving, and says by what and why.")
class SupersedeRunSuccess(RunWritten):
    pass


@strawberry.type
class CorrectionMutations:
    @loaded(
        payload(ReviseMetadataSuccess, "What became of a revision."),
        "Give a record another editorial part. What makes it itself stays as it is.",
    )
    async def revise_metadata(self, info: Ask, input: ReviseMetadataInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input)

    @loaded(payload(RetractRunSuccess, "What became of a retraction."), "Withdraw a run. It is not ranked any more.")
    async def retract_run(self, info: Ask, input: RetractRunInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input)

    @loaded(
        payload(SupersedeRunSuccess, "What became of a supersession."),
        "Let another run stand in a run's place. The one that it replaces is not ranked any more.",
    )
    async def supersede_run(self, info: Ask, input: SupersedeRunInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input)
