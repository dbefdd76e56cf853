"""Looking for runs that were published twice: a run's page asks for it, so it may not walk through all runs."""

import sqlite3

import pytest

from projections import runs


@pytest.mark.parametrize("count", [1, 100])
def test_it_goes_by_indexes_however_many_runs_there_are(count: int) -> None:
    db = sqlite3.connect(":memory:")
    db.executescript(runs.DDL)
    asked: list[str] = []
    db.set_trace_callback(asked.append)
    runs.duplicates(db, [f"sha256:{number:064}" for number in range(count)], 7)
    db.set_trace_callback(None)

    plan = [step for *_, step in db.execute(f"EXPLAIN QUERY PLAN {asked[-1]}")]

    assert [step for step in plan if "runs" in step and not step.startswith("SEARCH")] == []
    assert any("runs_source" in step for step in plan)
