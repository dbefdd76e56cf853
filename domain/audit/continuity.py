"""How events of a log follow one another: saves are whole, and all events of a save have one time and one actor."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from domain.audit.findings import Tampered, Tampering
from domain.events import Cause, Recorded
from domain.facts import LogOpened

Place = tuple[str, int]
"""A request and an index in it: what no two events share."""


class Broken(Exception):
    """The event at ``position`` doesn't follow the one before. ``expected`` is what should, where that is known."""

    def __init__(self, position: int, found: Recorded, expected: Place | None) -> None:
        super().__init__(f"position {position}")
        self.position = position
        self.found = found
        self.expected = expected


class WrongVersion(Exception):
    """The event at ``position`` has not the version that its stream has come to."""

    def __init__(self, position: int, found: Recorded, expected: int) -> None:
        super().__init__(f"position {position}")
        self.position = position
        self.found = found
        self.expected = expected


def place_of(cause: Cause) -> Place:
    """Where an event stands in its save."""
    return cause.request, cause.index


def follows(before: Recorded | None, event: Recorded, position: int) -> None:
    """Raise :class:`Broken` unless the event continues the save of the one before, or begins one where that ended."""
    last, cause = before.cause if before else None, event.cause
    if last is None or last.ends_save:
        if cause.index != 1 or (last and cause.request == last.request):
            raise Broken(position, event, (cause.request, 1) if cause.index != 1 else None)
    elif (cause.request, cause.index, cause.of) != (last.request, last.index + 1, last.of):
        raise Broken(position, event, (last.request, last.index + 1))


def opens(event: Recorded, origin: str) -> None:
    """Raise :class:`Tampered` unless this event opens the log of that origin."""
    if not isinstance(event.fact, LogOpened):
        raise Tampered(
            Tampering.START_REMOVED, f"the log begins with {event.originator_id} and not with LogOpened", position=1
        )
    if event.fact.origin != origin:
        raise Tampered(
            Tampering.OTHER_ORIGIN,
            f"the log is {event.fact.origin!r}, the checkpoint's {origin!r}",
            position=1,
        )


def is_one_moment(save: Sequence[Recorded], first: int) -> None:
    """Raise :class:`Tampered` where an event of a save has another time or actor than the others."""
    for kind, name, values in (
        (Tampering.TIME_ALTERED, "recordedAt", [event.recorded_at for event in save]),
        (Tampering.ACTOR_ALTERED, "actor", [event.actor for event in save]),
    ):
        if len(set(values)) > 1:
            ((usual, _),) = Counter(values).most_common(1)
            place = next(place for place, value in enumerate(values) if value != usual)
            raise Tampered(
                kind,
                f"event {first + place} has {name} {values[place]!r}, the others of its save (events {first} to"
                f" {first + len(save) - 1}) have {usual!r}",
                position=first + place,
            )


class Located(msgspec.Struct, frozen=True):
    """Where the events are found that explain a break: positions, or None where they are nowhere."""

    earlier: int | None
    expected: int | None
    swapped: bool


def diagnose(broken: Broken, located: Located, count: int, promised: int) -> Tampered:
    """Which tampering a break is, of a log of ``count`` events of which ``promised`` were signed."""
    at = broken.position
    what = f"event {at} ({broken.found.originator_id}, {type(broken.found.fact).__name__})"
    if located.earlier is not None:
        return Tampered(Tampering.EVENT_REPEATED, f"{what} is event {located.earlier} again", at)
    if located.expected is None:
        kind = Tampering.START_REMOVED if at == 1 else Tampering.EVENT_REMOVED
        missing = f"between events {at - 1} and {at} at least one is missing" if at > 1 else "its beginning is missing"
        return Tampered(kind, f"{what} doesn't follow: {missing}", at)
    if located.swapped and count <= promised:
        return Tampered(Tampering.EVENTS_SWAPPED, f"{what} stands in the place of event {located.expected}", at)
    return Tampered(Tampering.EVENT_INSERTED, f"{what} stands inside the save of others: it was inserted", at)
