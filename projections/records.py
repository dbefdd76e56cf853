"""Record history of every group, by observation and as known, each brought up to date once per save.

A save costs what it changes: a run that enters is compared with the records around it, one that leaves uncovers at most
what lies between it and the next record.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

import msgspec

from domain.display.quantities import format_value
from domain.records import Candidate, RecordBasis, cause_of_gain, cause_of_loss, is_better
from projections import saves
from projections.model import TEMPORAL, Doc, ReadModel, close, document_text, insert, put
from projections.paging import Listing

DDL = f"""
CREATE TABLE records_observed (
  run TEXT NOT NULL, comparison_key TEXT NOT NULL, observed_key TEXT NOT NULL, value TEXT NOT NULL, doc TEXT NOT NULL,
  {TEMPORAL}, PRIMARY KEY (run, from_position)
) STRICT;
CREATE INDEX records_observed_group ON records_observed (comparison_key, observed_key, run);
CREATE INDEX records_observed_current ON records_observed (comparison_key, observed_key, run)
  WHERE to_position IS NULL;
CREATE INDEX records_observed_order ON records_observed (observed_key, run);
CREATE TABLE records_known (
  change TEXT NOT NULL, comparison_key TEXT NOT NULL, run TEXT, observed_key TEXT, value TEXT, doc TEXT NOT NULL,
  {TEMPORAL}, PRIMARY KEY (change, from_position)
) STRICT;
CREATE INDEX records_known_group ON records_known (comparison_key, from_position);
CREATE INDEX records_known_order ON records_known (from_position, comparison_key);
"""


def listing(basis: RecordBasis, comparison_key: str | None) -> Listing:
    """The changes of a group, or of all, oldest first."""
    where = () if comparison_key is None else ("comparison_key = :comparison_key",)
    names = {} if comparison_key is None else {"comparison_key": comparison_key}
    if basis is RecordBasis.BY_OBSERVATION:
        return Listing("records_observed", ("observed_key", "run"), where, names)
    return Listing("records_known", ("from_position", "comparison_key"), where, names)


class Change(msgspec.Struct):
    """What a save did to a group: who came in, and who went out with the reasons why."""

    entered: list[Candidate]
    left: list[Candidate]


class Group(msgspec.Struct, frozen=True):
    """A group's key, its direction, and the unit of its values."""

    key: str
    lower_is_better: bool
    unit: str

    def better(self, value: Decimal, other: Decimal) -> bool:
        """Whether a value is strictly better than another."""
        return is_better(value, other, lower_is_better=self.lower_is_better)


def _conclude(db: sqlite3.Connection, before: int, position: int) -> None:
    for key, change in _changes(db, before, position).items():
        group = _group(db, key)
        entering = {one.run for one in change.entered}
        for one in change.left:
            _leave(db, group, one, entering, position)
        for one in change.entered:
            _enter(db, group, one, position)
        _know(db, group, change, before, position)


_TOUCHED: Final = """
  SELECT digest, comparison_key, value, observed_key, 1 FROM runs
    WHERE to_position > :before AND to_position <= :position AND from_position <= :before AND eligible
  UNION ALL
  SELECT digest, comparison_key, value, observed_key, 0 FROM runs
    WHERE from_position > :before AND from_position <= :position AND to_position IS NULL AND eligible"""


def _changes(db: sqlite3.Connection, before: int, position: int) -> dict[str, Change]:
    """What the save changed, by group: a row that only says something else of a run that stays is no change."""
    was: dict[str, tuple[str, Candidate]] = {}
    now: dict[str, tuple[str, Candidate]] = {}
    for run, key, value, observed_key, earlier in db.execute(_TOUCHED, {"before": before, "position": position}):
        (was if earlier else now)[run] = key, Candidate(observed_key, run, Decimal(value))
    changes: dict[str, Change] = {}
    for run in was.keys() | now.keys():
        old, new = was.get(run), now.get(run)
        if old == new:
            continue
        if old:
            changes.setdefault(old[0], Change([], [])).left.append(old[1])
        if new:
            changes.setdefault(new[0], Change([], [])).entered.append(new[1])
    for change in changes.values():
        change.entered.sort()
        change.left.sort()
    return dict(sorted(changes.items()))


def _group(db: sqlite3.Connection, key: str) -> Group:
    query = """SELECT lower_is_better, doc -> '$.primary.unit' FROM runs
      WHERE comparison_key = ? AND value IS NOT NULL LIMIT 1"""
    lower, unit = db.execute(query, (key,)).fetchone()
    return Group(key, bool(lower), msgspec.json.decode(unit))


# By observation


def _enter(db: sqlite3.Connection, group: Group, one: Candidate, position: int) -> None:
    previous = _record_before(db, group, one)
    if previous and not group.better(one.value, previous.value):
        return
    while (later := _record_after(db, group, one)) and not group.better(later.value, one.value):
        _end_observed(db, later.run, position)
    if later:
        _put_observed(db, group, later, one, position)
    _put_observed(db, group, one, previous, position)


def _leave(db: sqlite3.Connection, group: Group, one: Candidate, entering: set[str], position: int) -> None:
    held = "SELECT comparison_key FROM records_observed WHERE run = ? AND to_position IS NULL"
    if db.execute(held, (one.run,)).fetchone() != (group.key,):
        return
    _end_observed(db, one.run, position)
    best, following = _record_before(db, group, one), _record_after(db, group, one)
    for uncovered in _eligible_between(db, group, one, following):
        if uncovered.run not in entering and (best is None or group.better(uncovered.value, best.value)):
            _put_observed(db, group, uncovered, best, position)
            best = uncovered
    if following:
        _put_observed(db, group, following, best, position)


_RECORDS: Final = (
    "SELECT observed_key, run, value FROM records_observed WHERE comparison_key = ? AND to_position IS NULL"
)
_FIRST: Final = "ORDER BY observed_key, run LIMIT 1"
_LAST: Final = "ORDER BY observed_key DESC, run DESC LIMIT 1"


def _record_before(db: sqlite3.Connection, group: Group, one: Candidate) -> Candidate | None:
    return _found(db, f"{_RECORDS} AND (observed_key, run) < (?, ?) {_LAST}", group.key, *one.place)


def _record_after(db: sqlite3.Connection, group: Group, one: Candidate) -> Candidate | None:
    return _found(db, f"{_RECORDS} AND (observed_key, run) > (?, ?) {_FIRST}", group.key, *one.place)


def _eligible_between(
    db: sqlite3.Connection, group: Group, one: Candidate, following: Candidate | None
) -> list[Candidate]:
    query = """SELECT observed_key, digest, value FROM runs
      WHERE comparison_key = ? AND eligible AND to_position IS NULL
        AND (observed_key, digest) > (?, ?) AND (observed_key, digest) < (?, ?) ORDER BY observed_key, digest"""
    # "~" sorts behind every instant.
    end = following.place if following else ("~", "")
    return [_candidate(*row) for row in db.execute(query, (group.key, *one.place, *end))]


def _put_observed(
    db: sqlite3.Connection, group: Group, one: Candidate, previous: Candidate | None, position: int
) -> None:
    (observed_at,) = db.execute("SELECT doc ->> '$.observedAt' FROM runs WHERE digest = ?", (one.run,)).fetchone()
    doc = _document(group, RecordBasis.BY_OBSERVATION, one, previous)
    row = {
        "run": one.run,
        "comparison_key": group.key,
        "observed_key": one.observed_key,
        "value": str(one.value),
        "doc": document_text(doc | {"time": observed_at}),
    }
    _forget_unshown(db, one.run, position)
    put(db, "records_observed", "run", row, position)


def _end_observed(db: sqlite3.Connection, run: str, position: int) -> None:
    _forget_unshown(db, run, position)
    close(db, "records_observed", "run", run, position)


def _forget_unshown(db: sqlite3.Connection, run: str, position: int) -> None:
    """A save may change a row more than once; what it was between was never shown."""
    db.execute("DELETE FROM records_observed WHERE run = ? AND from_position = ?", (run, position))


# As known


_KNOWN: Final = (
    "SELECT observed_key, run, value FROM records_known WHERE comparison_key = ? ORDER BY from_position DESC LIMIT 1"
)


def _know(db: sqlite3.Connection, group: Group, change: Change, before: int, position: int) -> None:
    known = _found(db, _KNOWN, group.key)
    # Nobody ever did better than the record that was observed last.
    best = _found(db, f"{_RECORDS} {_LAST}", group.key)
    if (best.value if best else None) == (known.value if known else None):
        return
    if best and (known is None or group.better(best.value, known.value)):
        cause = cause_of_gain(best, known, was_out=_was_out(db, group, best.run, before))
    else:
        cause = cause_of_loss(_reasons(db, (one for one in change.left if known and one.value == known.value)))
    doc = _document(group, RecordBasis.AS_KNOWN, best, known)
    doc |= {"cause": cause.value, "position": position, "time": saves.recorded_at(db, position)}
    change_row: dict[str, Any] = {
        "change": f"{group.key}@{position}",
        "comparison_key": group.key,
        "run": best.run if best else None,
        "observed_key": best.observed_key if best else None,
        "value": str(best.value) if best else None,
        "doc": document_text(doc),
        "from_position": position,
    }
    insert(db, "records_known", change_row)


def _was_out(db: sqlite3.Connection, group: Group, run: str, before: int) -> bool:
    query = "SELECT 1 FROM runs WHERE digest = ? AND comparison_key = ? AND eligible AND from_position <= ? LIMIT 1"
    return db.execute(query, (run, group.key, before)).fetchone() is not None


def _reasons(db: sqlite3.Connection, gone: Iterable[Candidate]) -> list[str]:
    query = "SELECT doc -> '$.ineligibleReasons' FROM runs WHERE digest = ? AND to_position IS NULL"
    rows = [db.execute(query, (one.run,)).fetchone() for one in gone]
    return [reason for row in rows if row for reason in msgspec.json.decode(row[0])]


def _found(db: sqlite3.Connection, query: str, *values: str) -> Candidate | None:
    row = db.execute(query, values).fetchone()
    return _candidate(*row) if row and row[1] else None


def _candidate(observed_key: str, run: str, value: str) -> Candidate:
    return Candidate(observed_key, run, Decimal(value))


def _document(group: Group, basis: RecordBasis, one: Candidate | None, previous: Candidate | None) -> Doc:
    return {
        "@type": "RecordChange",
        "basis": basis.value,
        "comparisonKey": group.key,
        "run": one.run if one else None,
        "value": _value(group, one),
        "previousRun": previous.run if previous else None,
        "previousValue": _value(group, previous),
        "cause": None,
        "position": None,
    }


def _value(group: Group, one: Candidate | None) -> Mapping[str, Any] | None:
    if one is None:
        return None
    return {
        "value": str(one.value),
        "number": float(one.value),
        "unit": group.unit,
        "formatted": format_value(one.value, group.unit),
    }


READ_MODEL = ReadModel("records", 1, DDL, {}, _conclude)
