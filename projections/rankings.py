"""Rankings: the groups in which runs may be compared, ranked once per change, at first read."""

import sqlite3
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from domain.measurements import ratio_to_best
from domain.policies import RANKING_POLICIES
from domain.policies.ranking import Entry, Placed, Profile, profile_of_group
from projections import saves
from projections.model import AS_OF, TEMPORAL, Doc, ReadModel, document_text, insert, json_list
from projections.paging import Listing

DDL = f"""
CREATE TABLE rankings (
  comparison_key TEXT NOT NULL, size INTEGER NOT NULL, source_native INTEGER NOT NULL,
  lower_is_better INTEGER NOT NULL, operation TEXT NOT NULL, workload TEXT NOT NULL, hardware TEXT NOT NULL,
  dtypes TEXT NOT NULL, doc TEXT NOT NULL, {TEMPORAL}, PRIMARY KEY (comparison_key, from_position)
) STRICT;
CREATE INDEX rankings_operation ON rankings (operation);
CREATE INDEX rankings_workload ON rankings (workload);
CREATE INDEX rankings_hardware ON rankings (hardware);
"""


class Group(msgspec.Struct, frozen=True):
    """A ranked group as it stands at some position. ``since`` is the position of its last change."""

    comparison_key: str
    since: int
    size: int
    profile: Profile
    lower_is_better: bool


class Standing(msgspec.Struct, frozen=True):
    """The place of each run of a group, best first. ``places`` finds a run's index by its digest."""

    group: Group
    placed: tuple[Placed, ...]
    places: dict[str, int]

    def place_of(self, run: str) -> Placed | None:
        """The place of a run, if it is ranked."""
        index = self.places.get(run)
        return None if index is None else self.placed[index]

    def ratio_to_leader(self, placed: Placed) -> float | None:
        """How far behind the leader's value: 1 for the leader, above 1 for worse ones."""
        return ratio_to_best(placed.entry.value, self.placed[0].entry.value, lower_is_better=self.group.lower_is_better)


def groups(db: sqlite3.Connection, keys: Iterable[str], position: int) -> dict[str, Group]:
    """The groups of these comparison keys that have a ranked run at the position."""
    query = f"""SELECT comparison_key, from_position, size, source_native, lower_is_better FROM rankings
      WHERE comparison_key IN (SELECT value FROM json_each(:keys)) AND size > 0 AND {AS_OF}"""  # noqa: S608
    rows = db.execute(query, {"keys": json_list(keys), "position": position})
    return {
        key: Group(key, since, size, profile_of_group(source_native), bool(lower_is_better))
        for key, since, size, source_native, lower_is_better in rows
    }


def changes(db: sqlite3.Connection, key: str, after: int, until: int) -> list[int]:
    """The positions after one and up to another at which a group changed."""
    query = """SELECT from_position FROM rankings
      WHERE comparison_key = ? AND from_position > ? AND from_position <= ? ORDER BY from_position"""
    return [position for (position,) in db.execute(query, (key, after, until))]


def listing(criteria: Mapping[str, Any]) -> Listing:
    """Groups with at least one ranked run that meet all criteria, largest first."""
    where = tuple(_CRITERIA.get(name, f"{name} = :{name}") for name in criteria)
    return Listing("rankings", ("size", "comparison_key"), ("size > 0", *where), criteria, descending=True)


_CRITERIA = {
    "dtype": "EXISTS (SELECT 1 FROM json_each(dtypes) WHERE value = :dtype)",
    "source": f"""EXISTS (SELECT 1 FROM runs WHERE runs.comparison_key = rankings.comparison_key
      AND runs.source = :source AND runs.eligible
      AND {AS_OF.replace("from_position", "runs.from_position").replace("to_position", "runs.to_position")})""",  # noqa: S608 text is ours
}


def rank(db: sqlite3.Connection, wanted: Iterable[Group], position: int) -> dict[str, Standing]:
    """Rank whole groups, by the policy that holds at the position. Pure in (group, its last change)."""
    by_key = {group.comparison_key: group for group in wanted}
    entries: dict[str, list[Entry]] = {key: [] for key in by_key}
    query = f"""SELECT comparison_key, digest, value, low, high, level, observed_key FROM runs
      WHERE comparison_key IN (SELECT value FROM json_each(:keys)) AND eligible AND {AS_OF}"""  # noqa: S608
    for key, run, value, low, high, level, observed_key in db.execute(
        query, {"keys": json_list(by_key), "position": position}
    ):
        entries[key].append(
            Entry(
                run=run,
                value=Decimal(value),
                low=Decimal(low) if low else None,
                high=Decimal(high) if high else None,
                level=level,
                observed_key=observed_key,
            )
        )
    policy = RANKING_POLICIES[saves.policy(db, "ranking", position)]
    ranked = {
        key: policy.rank(entries[key], profile=group.profile, lower_is_better=group.lower_is_better)
        for key, group in by_key.items()
    }
    return {
        key: Standing(by_key[key], tuple(placed), {one.entry.run: index for index, one in enumerate(placed)})
        for key, placed in ranked.items()
    }


def _conclude(db: sqlite3.Connection, before: int, position: int) -> None:
    """Follow the runs that this save let into a group or out of it, or changed inside one."""
    changes: dict[str, tuple[int, int]] = {}
    for sign, moment in ((1, "from_position"), (-1, "to_position")):
        query = f"SELECT comparison_key, profile FROM runs WHERE {moment} > ? AND {moment} <= ? AND eligible"  # noqa: S608
        for key, profile in db.execute(query, (before, position)):
            size, native = changes.get(key, (0, 0))
            changes[key] = (size + sign, native + sign * (profile == "SOURCE_NATIVE"))
    adopted = "SELECT 1 FROM policies WHERE name = 'ranking' AND from_position > ? AND from_position <= ?"
    if db.execute(adopted, (before, position)).fetchone():
        for (key,) in db.execute("SELECT comparison_key FROM rankings WHERE to_position IS NULL"):
            changes.setdefault(key, (0, 0))
    for key, (size, native) in changes.items():
        _change(db, key, size, native, position)


def _change(db: sqlite3.Connection, key: str, size: int, native: int, position: int) -> None:
    columns = "from_position, size, source_native, lower_is_better, operation, workload, hardware, dtypes, doc"
    # The newest version first: a group has as many as it had changes.
    query = f"SELECT {columns} FROM rankings WHERE comparison_key = ? ORDER BY from_position DESC LIMIT 1"  # noqa: S608
    current = db.execute(query, (key,)).fetchone()
    if current:
        update = "UPDATE rankings SET to_position = ? WHERE comparison_key = ? AND from_position = ?"
        db.execute(update, (position, key, current[0]))
        row = dict(zip(columns.split(", "), current, strict=True))
        row |= {"size": row["size"] + size, "source_native": row["source_native"] + native}
    elif size:
        row = {"size": size, "source_native": native, **_group_of(db, key)}
    else:
        # A run came into the group and left it in the same save.
        return
    insert(db, "rankings", {"comparison_key": key, **row, "from_position": position})


def _group_of(db: sqlite3.Connection, key: str) -> dict[str, Any]:
    """What all runs of a group share, taken from one of them."""
    columns = "lower_is_better, operation, workload, hardware, dtypes, doc"
    query = f"SELECT {columns} FROM runs WHERE comparison_key = ? AND eligible AND to_position IS NULL"  # noqa: S608
    row = dict(zip(columns.split(", "), db.execute(query, (key,)).fetchone(), strict=True))
    run = msgspec.json.decode(row["doc"])
    metric, statistic, unit = run["comparison"]["metric"].split(":")
    doc: Doc = {
        "@type": "Ranking",
        "id": key,
        "comparisonKey": key,
        "comparison": run["comparison"],
        "operation": row["operation"],
        "workload": row["workload"],
        "protocol": run["protocol"],
        "environment": run["environment"],
        "hardware": row["hardware"],
        "metric": metric,
        "statistic": statistic,
        "unit": unit,
        "lowerIsBetter": bool(row["lower_is_better"]),
    }
    return row | {"doc": document_text(doc)}


READ_MODEL = ReadModel("rankings", 1, DDL, {}, _conclude)
