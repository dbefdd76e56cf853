"""Root fields that read the log itself: its events, its checkpoints, and proofs of what is in it."""

from typing import Annotated

import strawberry

from projections.model import Doc
from service.api import resolving
from service.api.asked import Ask, Asked, Given, snapshot_asked
from service.api.scalars import DateTime, LogCursor, Position
from service.api.types.audit import (
    Checkpoint,
    ConsistencyProof,
    InclusionProof,
    checkpoint_document,
    consistency_document,
    inclusion_document,
)
from service.api.types.base import loaded
from service.api.types.connections import Connection
from service.api.types.described import input_type
from service.api.types.events import Event, event_connection, event_node, event_position


@input_type("Which events. All given fields must hold.")
class EventFilter(Given):
    types: list[str] | None = strawberry.field(default=None, description="Of one of these types, say `RunIngested`.")
    stream: str | None = strawberry.field(default=None, description="In this stream, such as `source/<slug>`.")
    run: strawberry.ID | None = strawberry.field(default=None, description="That concern this run.")
    actor: str | None = strawberry.field(default=None, description="By this principal.")
    recorded_from: DateTime | None = strawberry.field(default=None, description="Recorded then or later.")
    recorded_to: DateTime | None = strawberry.field(default=None, description="Recorded before then.")


@strawberry.type
class LogReads:
    """Fields of :class:`service.api.reads.Reads`."""

    @loaded(Connection[Event] | None, "The log's events, first to last.")
    async def events(
        self,
        root: Asked,
        info: Ask,
        filter: EventFilter | None = None,  # noqa: A002 the schema's name
        first: int | None = None,
        after: LogCursor | None = None,
    ) -> Doc:
        snapshot = snapshot_asked(root, info)
        criteria = await resolving.event_criteria(snapshot, filter.given() if filter else {})
        return await event_connection(info.context, snapshot, criteria, first, after)

    @loaded(Checkpoint | None, "The newest signed checkpoint: what the log promises to whoever keeps it.")
    async def checkpoint(self, info: Ask) -> Doc:
        return await checkpoint_document(info.context)

    @loaded(InclusionProof | None, "The proof that the event at a position is in the log.")
    async def inclusion_proof(self, root: Asked, info: Ask, position: Position) -> Doc:
        return await inclusion_document(info.context, snapshot_asked(root, info), position)


@strawberry.type
class LogProofs:
    """Fields of :class:`service.api.reads.Query` alone."""

    @loaded(ConsistencyProof | None, "The proof that the log up to one position is how it begins up to a later one.")
    async def consistency_proof(
        self,
        info: Ask,
        from_: Annotated[Position, strawberry.argument(name="from")],
        to: Position,
    ) -> Doc:
        return await consistency_document(info.context.snapshot, from_, to)


async def node(root: Doc | None, info: Ask, text: str) -> Doc | None:
    """The document of any node; events are those of the log, all others stand in the views."""
    snapshot, bare = resolving.meant(snapshot_asked(root, info), text, "id")
    if (position := event_position(bare)) is not None:
        return await event_node(info.context, snapshot, position)
    return await resolving.node(snapshot_asked(root, info), text)
