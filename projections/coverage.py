"""What an operation, an implementation, a project and so on has to show: how much was measured, and what belongs to it.

Queries over the tables of other read models, each for many parents at once.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final

import msgspec

from domain.policies.evidence import EvidenceLevel
from projections.model import AS_OF, json_list
from projections.paging import Branch, Listing

PARENTS: Final = ("operation", "workload", "implementation", "project", "hardware", "source")
"""The columns of a run that name what it belongs to."""


class Coverage(msgspec.Struct, frozen=True):
    """How much of something was measured: numbers of runs, and of different things that they name."""

    runs: int = 0
    ranked_runs: int = 0
    groups: int = 0
    workloads: int = 0
    implementations: int = 0
    hardware: int = 0
    sources: int = 0


def coverage(db: sqlite3.Connection, column: str, parents: Sequence[str], position: int) -> dict[str, Coverage]:
    """The coverage of each of these parents that has a run."""
    query = f"""SELECT {column}, count(*), sum(eligible), count(DISTINCT CASE WHEN eligible THEN comparison_key END),
        count(DISTINCT workload), count(DISTINCT implementation), count(DISTINCT hardware), count(DISTINCT source)
      FROM runs WHERE {column} IN (SELECT value FROM json_each(:parents)) AND {AS_OF} GROUP BY {column}"""  # noqa: S608
    rows = db.execute(query, {"parents": json_list(parents), "position": position})
    return {parent: Coverage(*numbers) for parent, *numbers in rows}


def levels(db: sqlite3.Connection) -> dict[str, int]:
    """How many runs there are now of each evidence level, the worst first."""
    names = {level.ordinal: level.value for level in EvidenceLevel}
    query = "SELECT level, count(*) FROM runs WHERE to_position IS NULL GROUP BY level ORDER BY level"
    return {names[level]: count for level, count in db.execute(query)}


def runs_of(column: str) -> Branch:
    """The runs of a parent, those recorded last first."""
    return Branch(Listing("runs", ("recorded_position",), descending=True), f"{column} = parent.value")


def groups_of(column: str) -> Branch:
    """The groups of a parent that have ranked runs, the largest first. Each has a ranking of its own."""
    listing = Listing("rankings", ("size", "comparison_key"), ("size > 0",), descending=True)
    if column in ("operation", "workload", "hardware"):
        return Branch(listing, f"{column} = parent.value")
    return Branch(
        listing,
        f"""comparison_key IN (SELECT comparison_key FROM runs WHERE {column} = parent.value AND eligible
          AND {AS_OF})""",  # noqa: S608 text is ours
    )


WORKLOADS_OF_OPERATION: Final = Branch(Listing("workloads", ("label", "digest")), "operation = parent.value")
IMPLEMENTATIONS_OF_OPERATION: Final = Branch(Listing("implementations", ("name", "digest")), "operation = parent.value")
IMPLEMENTATIONS_OF_PROJECT: Final = Branch(Listing("implementations", ("name", "digest")), "project = parent.value")


def ranked_runs(
    db: sqlite3.Connection, column: str, pairs: Sequence[tuple[str, str]], position: int
) -> dict[tuple[str, str], list[str]]:
    """The ranked runs of each parent in each group, given as pairs of parent and comparison key."""
    query = f"""WITH pairs AS (
        SELECT json_extract(value, '$[0]') AS parent, json_extract(value, '$[1]') AS key FROM json_each(:pairs))
      SELECT parent, key, digest FROM pairs JOIN runs ON comparison_key = key AND {column} = parent
      WHERE eligible AND {AS_OF}"""  # noqa: S608 text is ours
    found: dict[tuple[str, str], list[str]] = {}
    names = {"pairs": msgspec.json.encode(list(pairs)).decode(), "position": position}
    for parent, key, run in db.execute(query, names):
        found.setdefault((parent, key), []).append(run)
    return found
