"""Events: facts with their place in the log. The canonical form of an event is what its digest is taken of.

``state`` below is the stored form, RFC 8785 bytes of ``{actor, cause, data, recordedAt}``. It is written by msgspec
with sorted keys, which gives the same bytes because facts hold only text, integers, booleans and canonical JSON (a
test holds every example against rfc8785).
"""

from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from domain.facts import EVENTS, Erased, Fact
from domain.identity import digest_of


class Cause(msgspec.Struct, frozen=True):
    """Which request appended the event; it is number ``index`` (from 1) of the ``of`` events of its save."""

    request: str
    index: int
    of: int

    @property
    def ends_save(self) -> bool:
        """Whether the log may be shown as of this event: a save is one moment."""
        return self.index == self.of


class Recorded(msgspec.Struct, frozen=True):
    """A fact as it is appended. The first two fields have the names that the log's library asks for."""

    originator_id: str
    originator_version: int
    recorded_at: str
    actor: str
    cause: Cause
    fact: Fact


class Committed(msgspec.Struct, frozen=True):
    """A recorded fact and the recorder id that it was committed under: in commit order, not without gaps."""

    recorder_id: int
    recorded: Recorded

    def at(self, position: int) -> "Event":
        """The event, once its position is known."""
        recorded = self.recorded
        return Event(
            position=position,
            stream=recorded.originator_id,
            version=recorded.originator_version,
            recorded_at=recorded.recorded_at,
            actor=recorded.actor,
            cause=recorded.cause,
            fact=recorded.fact,
        )


class Event(msgspec.Struct, frozen=True):
    """A fact as it is read back: ``position`` counts the log's events from 1 without gaps."""

    position: int
    stream: str
    version: int
    recorded_at: str
    actor: str
    cause: Cause
    fact: Fact

    @property
    def type(self) -> str:
        """The event's plain name."""
        return type_of(self.fact)


class _State(msgspec.Struct, frozen=True, rename="camel"):
    """Either ``data`` or, once that is erased, the digest of the whole canonical event as it was."""

    actor: str
    cause: Cause
    recorded_at: str
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    erased: str | msgspec.UnsetType = msgspec.UNSET


_ENCODER: Final = msgspec.json.Encoder(order="sorted")
_STATE: Final = msgspec.json.Decoder(_State)
_FACTS: Final = {name: msgspec.json.Decoder(fact) for name, fact in EVENTS.items()}


def encode_fact(fact: Fact) -> bytes:
    """RFC 8785 bytes of an event's ``data``."""
    return _ENCODER.encode(fact)


def type_of(fact: Fact) -> str:
    """The plain name of the fact's event; an erased one keeps its own."""
    return fact.type if isinstance(fact, Erased) else type(fact).__name__


def encode_state(recorded: Recorded) -> bytes:
    """RFC 8785 bytes of ``{actor, cause, data, recordedAt}``, with ``erased`` in the place of ``data`` that is gone."""
    fact = recorded.fact
    return _ENCODER.encode(
        _State(
            actor=recorded.actor,
            cause=recorded.cause,
            recorded_at=recorded.recorded_at,
            data=msgspec.UNSET if isinstance(fact, Erased) else msgspec.Raw(_ENCODER.encode(fact)),
            erased=fact.digest if isinstance(fact, Erased) else msgspec.UNSET,
        )
    )


def decode_state(stream: str, version: int, event_type: str, state: bytes) -> Recorded:
    """The recorded fact.

    Raises :class:`UnknownEventType` for a type that this release doesn't know, :class:`DamagedEvent` for bytes that are
    none of its type.
    """
    try:
        decoder = _FACTS[event_type]
    except KeyError:
        raise UnknownEventType(event_type) from None
    try:
        stored = _STATE.decode(state)
        if isinstance(stored.data, msgspec.Raw):
            fact = decoder.decode(stored.data)
        else:
            fact = Erased(originator=stream, type=event_type, digest=str(stored.erased))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DamagedEvent(stream, version) from error
    return Recorded(
        originator_id=stream,
        originator_version=version,
        recorded_at=stored.recorded_at,
        actor=stored.actor,
        cause=stored.cause,
        fact=fact,
    )


class UnknownEventType(Exception):
    """The log was written by a newer release: this one must not guess what its events mean."""

    def __init__(self, event_type: str) -> None:
        super().__init__(f"the log holds events of type {event_type}, which this release doesn't know; upgrade it")
        self.event_type = event_type


class DamagedEvent(Exception):
    """What is stored of an event is not what was written."""

    def __init__(self, stream: str, version: int) -> None:
        super().__init__(f"the log is damaged: event {version} of {stream} can't be read; restore log.db from a copy")


def canonical_event(event: Event) -> bytes:
    """RFC 8785 bytes of all fields of the event but its position. An erased one has only its :func:`event_digest`."""
    fields: dict[str, Any] = {
        "actor": event.actor,
        "cause": event.cause,
        "data": msgspec.Raw(encode_fact(event.fact)),
        "recordedAt": event.recorded_at,
        "stream": event.stream,
        "type": event.type,
        "version": event.version,
    }
    return _ENCODER.encode(fields)


class _Line(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    actor: str
    cause: Cause
    recorded_at: str
    stream: str
    type: str
    version: int
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    erased: str | msgspec.UnsetType = msgspec.UNSET


_LINE: Final = msgspec.json.Decoder(_Line)


def export_line(event: Event) -> bytes:
    """The event in an exported log: its canonical bytes, with ``erased`` (the digest) in the place of ``data`` gone."""
    if not isinstance(event.fact, Erased):
        return canonical_event(event)
    return _ENCODER.encode(
        _Line(
            actor=event.actor,
            cause=event.cause,
            recorded_at=event.recorded_at,
            stream=event.stream,
            type=event.type,
            version=event.version,
            erased=event.fact.digest,
        )
    )


def read_export_line(line: bytes) -> Recorded:
    """The fact of a line. Raises ``msgspec.DecodeError`` for what is no event, :class:`UnknownEventType`."""
    read = _LINE.decode(line)
    if read.type not in EVENTS:
        raise UnknownEventType(read.type)
    if isinstance(read.data, msgspec.Raw):
        fact = _FACTS[read.type].decode(read.data)
    else:
        fact = Erased(originator=read.stream, type=read.type, digest=str(read.erased))
    return Recorded(read.stream, read.version, read.recorded_at, read.actor, read.cause, fact)


def event_digest(event: Event) -> str:
    """``sha256:`` of the canonical event, of which an erased one keeps nothing else."""
    return event.fact.digest if isinstance(event.fact, Erased) else digest_of(canonical_event(event))


def erased(event: Event) -> Recorded:
    """What takes the event's place in the log when its payload has to go. Erased again it stays as it is."""
    remains = Erased(originator=event.stream, type=event.type, digest=event_digest(event))
    return Recorded(event.stream, event.version, event.recorded_at, event.actor, event.cause, remains)


def timestamp(moment: datetime) -> str:
    """UTC with microseconds and ``Z``, as ``recordedAt`` is written."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
