"""Events as they stand in the log: what happened, when, by whom and why, with the hash of each one's leaf."""

import re
from base64 import b64encode
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec

from domain.audit.leaves import digest_bytes, leaf_of
from domain.events import Event as LogEvent
from domain.events import canonical_event, encode_fact, event_digest
from domain.facts import Erased
from projections import events
from projections.events import Criteria, Found
from projections.model import Doc
from service.api import cursors
from service.api.context import Context
from service.api.scalars import DateTime, Digest, LogCursor, Position
from service.api.snapshot import Snapshot
from service.api.types.base import Documented, Node, picked
from service.api.types.connections import PageArguments, connection_document
from service.api.types.described import object_type

_ID: Final = re.compile(r"event/([1-9][0-9]{0,15})\Z")


@object_type("Which request appended an event. All events of a request became known at once.")
class EventCause:
    request: str = picked("The id of the request.")
    index: int = picked("The event's number among those of the request, from 1.")
    of: int = picked("How many events the request appended.")


@object_type("Something that happened, as the log holds it for ever.")
class Event(Documented, Node):
    position: Position = picked("Its place in the log, from 1; its leaf has the index before it.")
    type: str = picked("What happened, such as `RunIngested`.")
    stream: str = picked("What it happened to, such as `run/<digest>`.")
    version: int = picked("Its number in that stream, from 1.")
    recorded_at: DateTime = picked("When it was recorded, by the clock of the host that did.")
    actor: str = picked("The principal that acted: an opaque id.")
    cause: EventCause = picked("Which request it came from.")
    data: str | None = picked("What is known of it, as canonical JSON text; null where it was erased.")
    canonical: str | None = picked("All fields but the position as canonical JSON text; null where it was erased.")
    digest: Digest = picked("`sha256:` and the hex SHA-256 of `canonical`; an erased event keeps its own.")
    leaf_hash: str = picked("SHA-256 of a zero byte and the digest's text, in base64: its leaf in the Merkle tree.")
    erased: bool = picked("Whether the law had its payload erased.")


def event_document(event: LogEvent, snapshot: Snapshot) -> Doc:
    """The document of an event."""
    erased = isinstance(event.fact, Erased)
    return snapshot.adopt(
        {
            "@type": "Event",
            "id": f"event/{event.position}",
            "position": event.position,
            "type": event.type,
            "stream": event.stream,
            "version": event.version,
            "recordedAt": event.recorded_at,
            "actor": event.actor,
            "cause": msgspec.structs.asdict(event.cause),
            "data": None if erased else encode_fact(event.fact).decode(),
            "canonical": None if erased else canonical_event(event).decode(),
            "digest": event_digest(event),
            "leafHash": b64encode(leaf_of(digest_bytes(event))).decode(),
            "erased": erased,
        }
    )


def event_position(node: str) -> int | None:
    """The position in the id of an event; None for other ids."""
    match = _ID.match(node)
    return int(match[1]) if match else None


async def event_node(context: Context, snapshot: Snapshot, position: int) -> Doc | None:
    """The document of the event at a position; None where the snapshot has none."""
    if position > snapshot.position:
        return None
    (event,) = await snapshot.batched("events at", context.events.events, [position])
    return event_document(event, snapshot)


def _start(after: str, log_id: str, head: int) -> int:
    position = cursors.log_position(after, log_id, "after")
    if not 0 <= position <= head:
        raise cursors.invalid("is from a later position than the one that is shown", "after", cursors.FROM_A_STAMP)
    return position


async def event_connection(
    context: Context, snapshot: Snapshot, criteria: Criteria, first: int | None, after: LogCursor | None
) -> Doc:
    """A page of the log. Its cursors are places in the log, so paging may go on however much is written meanwhile."""
    size = PageArguments(first=first).size()
    head, log_id = snapshot.position, snapshot.log_id
    start = _start(after, log_id, head) if after is not None else 0
    found = await snapshot.read(lambda db: events.page(db, criteria, start, head, size))

    async def count() -> int:
        return int(await snapshot.read(lambda db: events.count(db, criteria, head)))

    rows = await context.events.load(found.rows)
    return _document(rows, snapshot, has_next=found.has_next, start=start, count=count)


async def history_connection(
    context: Context, snapshot: Snapshot, record: str, first: int | None, after: LogCursor | None
) -> Doc:
    """A page of what concerns a record; of many records the pages are read at once."""
    size = PageArguments(first=first).size()
    head = snapshot.position
    start = _start(after, snapshot.log_id, head) if after is not None else 0
    found: Found = await snapshot.gathered(
        f"histories of {size} from {start}",
        lambda db, records: events.histories(db, records, start, head, size),
        record,
    )

    async def count() -> int:
        lengths = await snapshot.gathered("lengths", lambda db, records: events.lengths(db, records, head), record)
        return int(lengths)

    rows = await snapshot.batched("events", context.events.load, found.rows)
    return _document(rows, snapshot, has_next=found.has_next, start=start, count=count)


def _document(
    rows: Sequence[LogEvent], snapshot: Snapshot, *, has_next: bool, start: int, count: Callable[[], Awaitable[int]]
) -> Doc:
    nodes = [(one.position, event_document(one, snapshot)) for one in rows]

    def cursor(position: int) -> str:
        return cursors.log_cursor(snapshot.log_id, position)

    return {
        **connection_document(nodes, cursor, has_next=has_next, has_previous=start > 0),
        "position": snapshot.position,
        "@count": count,
    }
