"""As of which moment the index is read: a position, an instant or a place in the log."""

import strawberry

from domain.instants import in_microseconds
from service.api import cursors
from service.api.context import Context
from service.api.scalars import DateTime, LogCursor, Position
from service.api.snapshot import Snapshot
from service.api.types.described import input_type


@input_type("A moment of the log, named in one of three ways. The future is an error.", one_of=True)
class AsOf:
    position: Position | None = strawberry.field(
        default=strawberry.UNSET,
        description="The last event to take into account. What was written at once is shown at once: a position inside"
        " of that means the one before it. 0 is before the first event.",
    )
    time: DateTime | None = strawberry.field(
        default=strawberry.UNSET,
        description="What was known then: the largest position up to which everything was recorded by that instant.",
    )
    cursor: LogCursor | None = strawberry.field(
        default=strawberry.UNSET, description="The place that a stamp's `cursor` names, in this log."
    )


def snapshot_as_of(as_of: AsOf, context: Context) -> Snapshot:
    """The snapshot of that moment.

    Raises ``POSITION_IN_FUTURE``, or ``INVALID_CURSOR`` for a cursor that is malformed or of another log.
    """
    if isinstance(as_of.position, int):
        return context.pinned_at(as_of.position, "asOf.position")
    if isinstance(as_of.time, str):
        return context.pinned_known_at(in_microseconds(as_of.time), "asOf.time")
    position = cursors.log_position(as_of.cursor or "", context.log_id, "asOf.cursor")
    return context.pinned_at(position, "asOf.cursor")
