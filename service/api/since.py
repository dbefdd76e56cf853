"""What has changed about a run between two moments, each change with its place in the log and its time."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from projections import attestations, rankings, runs, saves
from projections.model import Doc
from service.api.context import Context
from service.api.snapshot import Snapshot

MOST_ATTESTATIONS: Final = 100


class Place(NamedTuple):
    """Where a run stands in its group, and who leads it."""

    rank: int | None
    leader: str | None


async def changes_since(then: Doc, now: Doc, context: Context) -> list[Doc]:
    """The changes from one reading of a run to a later one, oldest first."""
    earlier: Snapshot = then["@"]
    later: Snapshot = now["@"]
    versions = await later.read(lambda db: runs.versions(db, now["digest"], earlier.position, later.position))
    said = await later.read(
        lambda db: attestations.between(db, now["digest"], earlier.position, later.position, MOST_ATTESTATIONS)
    )
    found = [
        *_trust(then, versions),
        *_decided(now["lifecycle"], earlier.position),
        *map(_attested, said),
        *await _standing(then, now, context),
    ]
    times = await later.read(lambda db: {one["position"]: saves.end_of(db, one["position"]).known_at for one in found})
    return sorted((one | {"changedAt": times[one["position"]]} for one in found), key=lambda one: int(one["position"]))


def _change(aspect: str, position: int, before: Any = None, after: Any = None, reason: str | None = None) -> Doc:
    return {"aspect": aspect, "position": position, "before": before, "after": after, "reason": reason}


def _trust(then: Doc, versions: Sequence[runs.Version]) -> Iterator[Doc]:
    """How far it could be trusted, step by step."""
    steps = [runs.Version(0, then), *versions]
    for before, after in pairwise(steps):
        old, new = before.doc["evidence"], after.doc["evidence"]
        if old["level"] != new["level"]:
            yield _change("EVIDENCE_LEVEL", after.since, old["level"], new["level"])
        if old["contested"] != new["contested"]:
            yield _change("CONTESTED", after.since, *(str(one["contested"]).lower() for one in (old, new)))


def _decided(lifecycle: Doc, position: int) -> Iterator[Doc]:
    """What was decided about it after the position."""
    for aspect, act, after in _acts(lifecycle):
        if act["position"] > position:
            yield _change(aspect, act["position"], after=after, reason=act["reason"])


def _acts(lifecycle: Doc) -> Iterator[tuple[str, Doc, str | None]]:
    if retracted := lifecycle["retracted"]:
        yield "RETRACTION", retracted, None
    if successor := lifecycle["supersededBy"]:
        yield "SUPERSESSION", successor, successor["run"]
    for predecessor in lifecycle["supersedes"]:
        yield "PREDECESSOR", predecessor, predecessor["run"]
    for dispute in lifecycle["disputes"]:
        yield "DISPUTE", dispute, "BLOCKING" if dispute["blocking"] else "OPEN"
        if end := dispute["resolution"]:
            yield "DISPUTE", end, end["outcome"]
    for revision in lifecycle["metadataRevisions"]:
        yield "METADATA", revision, None


def _attested(said: attestations.Said) -> Doc:
    aspect = "ATTESTATION_HIDDEN" if said.doc["hidden"] else "ATTESTATION"
    return _change(aspect, said.since, after=said.doc["type"])


async def _standing(then: Doc, now: Doc, context: Context) -> list[Doc]:
    """Whether it stands elsewhere in its group, or another run leads it, and since when that is so."""
    key = now["comparisonKey"]
    if key is None:
        return []
    earlier: Snapshot = then["@"]
    later: Snapshot = now["@"]
    before, after = [await _place(one, key, now["digest"]) for one in (earlier, later)]
    if before == after:
        return []
    points = await later.read(lambda db: rankings.changes(db, key, earlier.position, later.position))

    async def place_at(position: int) -> Place:
        return await _place(context.pinned_at(position, "permalink"), key, now["digest"])

    found = []
    for aspect, index in (("RANK", 0), ("LEADER", 1)):
        if before[index] != after[index]:
            since = await _since_when(points, place_at, lambda place, i=index: place[i] == after[i])  # type: ignore[misc]
            found.append(_change(aspect, since, *(_text(place[index]) for place in (before, after))))
    return found


async def _since_when(
    points: Sequence[int], place_at: Callable[[int], Awaitable[Place]], is_as_now: Callable[[Place], bool]
) -> int:
    """A point at which it became what it is at the last one, found by halving: a group may have thousands of them."""
    low, high = -1, len(points) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if is_as_now(await place_at(points[middle])):
            high = middle
        else:
            low = middle
    return points[high]


async def _place(snapshot: Snapshot, key: str, run: str) -> Place:
    standing = await snapshot.standing(key)
    if standing is None:
        return Place(None, None)
    placed = standing.place_of(run)
    return Place(placed.rank if placed else None, standing.placed[0].entry.run if standing.placed else None)


def _text(value: int | str | None) -> str | None:
    return None if value is None else str(value)
