"""Access stamps: two clocks kept apart, when something was read and as of which position of the log."""

from base64 import b64encode
from datetime import datetime

from domain.events import timestamp
from projections.model import Doc
from service.api import cursors
from service.api.scalars import Date, DateTime, LogCursor, Position
from service.api.snapshot import Snapshot
from service.api.types.base import picked
from service.api.types.described import object_type


@object_type("When and as of which position of the log something was read: what makes it citable.")
class AccessStamp:
    accessed_at: DateTime = picked("When it was read.")
    accessed_on: Date = picked("The UTC day on which it was read.")
    log_id: str = picked("The id of the log, as runners sign it.")
    position: Position = picked("The position of the last event that it takes into account.")
    as_of: DateTime = picked("When that event was recorded, or any before it, whichever is later.")
    tree_size: Position = picked("How many events the Merkle tree over the log holds then: the position.")
    root_hash: str = picked("The root hash of that tree (RFC 6962), in base64 as checkpoints write it.")
    cursor: LogCursor = picked("That place in the log, for subscriptions to go on from.")


def stamp(snapshot: Snapshot, accessed_at: datetime) -> Doc:
    """The document of a stamp."""
    moment = timestamp(accessed_at)
    return {
        "accessedAt": moment,
        "accessedOn": moment[: len("2026-08-01")],
        "logId": snapshot.log_id,
        "position": snapshot.position,
        "asOf": snapshot.known_at,
        "treeSize": snapshot.position,
        "rootHash": b64encode(snapshot.root_hash()).decode(),
        "cursor": cursors.log_cursor(snapshot.log_id, snapshot.position),
    }
