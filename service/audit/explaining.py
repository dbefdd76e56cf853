"""What a break in a log comes from: looked for in the whole file, once it is known that something is wrong."""

from collections.abc import Callable, Iterator
from pathlib import Path

from domain.audit.continuity import Broken, Located, WrongVersion, diagnose, place_of
from domain.audit.findings import Tampered, Tampering
from domain.events import Recorded
from service.audit.exporting import read_exported


def explain(log: Path, broken: Broken, promised: int) -> Tampered:
    """Which tampering it is that an event doesn't follow the one before; ``promised`` events were signed."""
    place, expected = place_of(broken.found.cause), broken.expected
    earlier = later = None
    count, before = 0, None
    neighbours: tuple[Recorded | None, Recorded | None] = (None, None)
    for count, event in _events(log):
        if count < broken.position and place_of(event.cause) == place:
            earlier = count
        if count > broken.position and later is None and expected and place_of(event.cause) == expected:
            later, neighbours = count, (before, event)
        before = event
    located = Located(earlier=earlier, expected=later, swapped=_is_swapped(broken, *neighbours))
    return diagnose(broken, located, count, promised)


def explain_version(log: Path, wrong: WrongVersion, promised: int) -> Tampered:
    """Which tampering it is that a stream's versions don't follow one another."""
    stream, version, at = wrong.found.originator_id, wrong.found.originator_version, wrong.position
    what = f"event {at} has version {version} of {stream}, which is at version {wrong.expected - 1}"
    if version < wrong.expected:
        twin = _find(log, lambda event, position: position < at and _is(event, stream, version))
        same = twin is not None and place_of(twin[1].cause) == place_of(wrong.found.cause)
        if same and twin:
            return Tampered(Tampering.EVENT_REPEATED, f"{what}: it is event {twin[0]} again", at)
        where = f", as event {twin[0]} has" if twin else ""
        return Tampered(Tampering.EVENT_INSERTED, f"{what}{where}: one of them was inserted", at)
    found = _find(log, lambda event, position: position > at and _is(event, stream, wrong.expected))
    if found:
        return Tampered(Tampering.EVENTS_SWAPPED, f"{what}: event {found[0]} belongs before it", at)
    if sum(1 for _ in _events(log)) < promised:
        return Tampered(Tampering.EVENT_REMOVED, f"{what}: the event before it in that stream is missing", at)
    return Tampered(Tampering.VERSION_SKIPPED, f"{what}: version {wrong.expected} is nowhere", at)


def _is_swapped(broken: Broken, before: Recorded | None, expected: Recorded | None) -> bool:
    """Whether the event that stands too early would follow where the expected one stands."""
    if expected is None or before is None:
        return False
    found = broken.found.cause
    # Neighbours that changed places: what follows the expected event is then the one found before it.
    last = expected.cause if before.cause == found else before.cause
    if last.ends_save:
        return found.index == 1
    return (found.request, found.index, found.of) == (last.request, last.index + 1, last.of)


def _is(event: Recorded, stream: str, version: int) -> bool:
    return event.originator_id == stream and event.originator_version == version


def _find(log: Path, wanted: Callable[[Recorded, int], bool]) -> tuple[int, Recorded] | None:
    return next(((position, event) for position, event in _events(log) if wanted(event, position)), None)


def _events(log: Path) -> Iterator[tuple[int, Recorded]]:
    """The events of a log with their positions, as far as they can be read."""
    try:
        for position, (event, _) in enumerate(read_exported(log), 1):
            yield position, event
    except Tampered:
        return
