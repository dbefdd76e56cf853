"""Rankings: groups of runs that compare, best first."""

from typing import Any, cast

from strawberry.types import Info

from domain.measurements import decimal_text
from domain.policies.ranking import Placed
from projections.model import Doc
from projections.rankings import Standing
from service.api import cursors
from service.api.context import Context
from service.api.cursors import PageCursor
from service.api.scalars import Decimal, Digest
from service.api.snapshot import Snapshot
from service.api.types.base import Documented, Node, Root, linked, loaded, picked, snapshot_of
from service.api.types.catalogue import Environment, Hardware, Operation, Protocol, Workload
from service.api.types.connections import Connection, PageArguments, connection_document, paged
from service.api.types.described import object_type
from service.api.types.enums import Profile
from service.api.types.parts import ComparisonParts
from service.api.types.runs import Run


@object_type("A run in the ranking of its group.")
class RankingEntry:
    rank: int = picked("The rank, dense from 1.")
    tied: bool = picked("Whether another run has the same rank.")
    value: Decimal = picked("The value that it is ranked by, exact.")
    run = linked(Run, "The run.", "runs", "@run")

    @loaded(float | None, "How far behind the leader's value it is: 1 for the leader, else above.", needs=())
    def ratio_to_leader(self, root: Root) -> float | None:
        standing: Standing = root["@standing"]
        return standing.ratio_to_leader(root["@placed"])


@object_type("A group of runs that compare: same operation, workload, protocol, environment, metric.")
class Ranking(Documented, Node):
    comparison_key: Digest = picked("The key that its runs share.")
    comparison: ComparisonParts = picked("What the key is made of.")
    metric: str = picked("What is measured.")
    statistic: str = picked("By which statistic.")
    unit: str = picked("In which unit.")
    lower_is_better: bool = picked("Whether lower values rank higher.")

    @loaded(int, "How many runs are ranked.")
    async def size(self, root: Root) -> int:
        return len((await _standing(root)).placed)

    @loaded(Profile, "How its runs compare.")
    async def profile(self, root: Root) -> str:
        return (await _standing(root)).group.profile

    operation = linked(Operation | None, "The operation.", "operations", "operation")
    workload = linked(Workload | None, "The workload.", "workloads", "workload")
    protocol = linked(Protocol | None, "The protocol.", "conditions", "protocol")
    environment = linked(Environment | None, "The environment.", "conditions", "environment")
    hardware = linked(Hardware | None, "The hardware product.", "hardware", "hardware")

    @loaded(Run | None, "The run that leads; of tied leaders the first in the order shown.")
    async def leader(self, root: Root) -> Doc | None:
        standing = await _standing(root)
        return await snapshot_of(root).document("runs", standing.placed[0].entry.run) if standing.placed else None

    @loaded(Connection[RankingEntry], "Its runs, best first.")
    async def entries(
        self,
        root: Root,
        info: Info[Context, Any],
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        return await _entries(root, info.context, PageArguments(first, after, last, before))


async def _standing(ranking: Doc) -> Standing:
    return cast("Standing", await snapshot_of(ranking).standing(ranking["comparisonKey"]))


async def _entries(ranking: Doc, context: Context, arguments: PageArguments) -> Doc:
    """A page of a standing: it is ranked already, so a page costs what it returns."""
    snapshot, key = snapshot_of(ranking), ranking["comparisonKey"]
    binding = cursors.fingerprint(snapshot.log_id, "entries", key)
    size = arguments.size()
    after, before = arguments.cursors(binding, snapshot.position)
    if cursor := after or before:
        snapshot = await paged(snapshot, cursor, context.snapshot_at, "after" if after else "before")
    standing = await snapshot.standing(key)
    if standing is None:
        raise cursors.invalid("is from a time when no run of this group was ranked", "after" if after else "before")
    start = _index(standing, after, "after") + 1 if after else 0
    end = _index(standing, before, "before") if before else len(standing.placed)
    if arguments.last is not None:
        page = range(max(start, end - size), end)
    else:
        page = range(start, min(end, start + size))
    rows = []
    for index in page:
        placed = standing.placed[index]
        rows.append(((placed.entry.run,), _entry(placed, standing, snapshot)))

    async def count() -> int:
        return len(standing.placed)

    def place(key: tuple[str]) -> str:
        return cursors.encode(PageCursor(binding, snapshot.position, key))

    return {
        **connection_document(rows, place, has_next=page.stop < len(standing.placed), has_previous=page.start > 0),
        "position": snapshot.position,
        "@count": count,
    }


def _index(standing: Standing, cursor: PageCursor, path: str) -> int:
    try:
        return standing.places[str(cursor.key[0])]
    except KeyError:
        raise cursors.invalid("is of a run that was not ranked in this group", path) from None


def _entry(placed: Placed, standing: Standing, snapshot: Snapshot) -> Doc:
    return snapshot.adopt(
        {
            "rank": placed.rank,
            "tied": placed.tied,
            "value": decimal_text(placed.entry.value),
            "@placed": placed,
            "@standing": standing,
            "@run": placed.entry.run,
        }
    )
