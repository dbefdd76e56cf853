"""What the pages of operations, workloads, implementations, projects, hardware and sources have in common.

Their runs, newest first; the groups in which these are ranked; how much was measured. Every group has a ranking of its
own: there is no order of runs across groups by value.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import strawberry
from strawberry.types import Info

from projections import coverage
from projections.coverage import Coverage as Covered
from projections.coverage import groups_of, runs_of
from projections.model import Doc
from projections.paging import Branch
from projections.rankings import Standing as GroupStanding
from service.api.context import Context
from service.api.snapshot import Snapshot
from service.api.types.base import Root, loaded, picked, snapshot_of
from service.api.types.connections import Connection, PageArguments, branch_connection
from service.api.types.described import object_type

LazyRun = Annotated["Run", strawberry.lazy("service.api.types.runs")]  # type: ignore[name-defined]  # noqa: F821
LazyRanking = Annotated["Ranking", strawberry.lazy("service.api.types.rankings")]  # type: ignore[name-defined]  # noqa: F821
Ask = Info[Context, Any]

COLUMNS: Final[Mapping[str, str]] = {
    "Operation": "operation",
    "WorkloadCase": "workload",
    "WorkloadSuite": "workload",
    "Implementation": "implementation",
    "Project": "project",
    "Hardware": "hardware",
    "Source": "source",
}
"""By which column a run belongs to a document of a type."""


def key_of(doc: Doc) -> str:
    """What runs call the thing: its slug where it has no digest."""
    return str(doc.get("digest") or doc["slug"])


async def of_parent(root: Doc, info: Ask, field: str, branch: Branch, arguments: PageArguments) -> Doc:
    """A page of what belongs to the document."""
    name = f"{COLUMNS[root['@type']]}.{field}"
    return await branch_connection(branch, name, key_of(root), arguments, snapshot_of(root), info.context.snapshot_at)


@object_type("How much of something was measured. Everything counts once.")
class Coverage:
    run_count: int = picked("Its runs.")
    ranked_run_count: int = picked("Those of its runs that may be ranked.")
    group_count: int = picked("The groups in which its runs are ranked.")
    workload_count: int = picked("The workloads on which it has runs.")
    implementation_count: int = picked("The implementations with such runs.")
    hardware_count: int = picked("The hardware products with such runs.")
    source_count: int = picked("The sources of its runs.")


@object_type("What has runs.")
class HasRuns:
    @loaded(Coverage, "How much of it was measured.")
    async def coverage(self, root: Root) -> Doc:
        snapshot, column = snapshot_of(root), COLUMNS[root["@type"]]
        found = await snapshot.gathered(
            f"coverage of {column}",
            lambda db, parents: coverage.coverage(db, column, parents, snapshot.position),
            key_of(root),
        )
        return _coverage(found or Covered())

    @loaded(Connection[LazyRun], "Its runs, those recorded last first.")
    async def runs(
        self,
        root: Root,
        info: Ask,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        branch = runs_of(COLUMNS[root["@type"]])
        return await of_parent(root, info, "runs", branch, PageArguments(first, after, last, before))


@object_type("What groups belong to.")
class HasRankings(HasRuns):
    @loaded(Connection[LazyRanking], "Its groups with ranked runs, the largest first. Each has an order of its own.")
    async def rankings(
        self,
        root: Root,
        info: Ask,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        branch = groups_of(COLUMNS[root["@type"]])
        return await of_parent(root, info, "rankings", branch, PageArguments(first, after, last, before))


@object_type("Where an implementation or a project stands in a group: at the place of its best run.")
class Standing:
    @loaded(LazyRanking, "The group.")
    async def ranking(self, root: Root) -> Doc:
        return root

    @loaded(LazyRun, "Its best run there.")
    async def run(self, root: Root) -> Doc | None:
        standing, runs = await _placed(root)
        return await snapshot_of(root).document(
            "runs", standing.placed[min(standing.places[run] for run in runs)].entry.run
        )

    @loaded(int, "The rank of that run.")
    async def rank(self, root: Root) -> int:
        standing, runs = await _placed(root)
        return min(standing.placed[standing.places[run]].rank for run in runs)

    @loaded(float | None, "How far that run is behind the leader's value: 1 for the leader, else above.")
    async def ratio_to_leader(self, root: Root) -> float | None:
        standing, runs = await _placed(root)
        return standing.ratio_to_leader(standing.placed[min(standing.places[run] for run in runs)])

    @loaded(int, "How many of its runs are ranked there.")
    async def run_count(self, root: Root) -> int:
        return len((await _placed(root))[1])


@object_type("What stands in groups.")
class HasStandings(HasRuns):
    @loaded(Connection[Standing], "Where it stands, in each group in which it is ranked; the largest group first.")
    async def standings(
        self,
        root: Root,
        info: Ask,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        column, arguments = COLUMNS[root["@type"]], PageArguments(first, after, last, before)
        page = await of_parent(root, info, "standings", groups_of(column), arguments)
        for group in page["nodes"]:
            group["@stands"] = (column, key_of(root))
        return page


async def _placed(group: Doc) -> tuple[GroupStanding, list[str]]:
    """The ranking of a group, and which of its runs belong to whom the standing is of."""
    snapshot: Snapshot = snapshot_of(group)
    column, parent = group["@stands"]
    key = group["comparisonKey"]
    runs: list[str] = await snapshot.gathered(
        f"ranked runs of {column}",
        lambda db, pairs: coverage.ranked_runs(db, column, pairs, snapshot.position),
        (parent, key),
    )
    standing = await snapshot.standing(key)
    assert standing  # noqa: S101 a group with ranked runs has one
    return standing, runs


def _coverage(found: Covered) -> Doc:
    return {
        "runCount": found.runs,
        "rankedRunCount": found.ranked_runs,
        "groupCount": found.groups,
        "workloadCount": found.workloads,
        "implementationCount": found.implementations,
        "hardwareCount": found.hardware,
        "sourceCount": found.sources,
    }
