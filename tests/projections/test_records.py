"""Record history, by observation and as known, is what its definition says at every position."""

import sqlite3
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain import facts
from domain.facts import DisputeCause, DisputeOutcome, Fact
from domain.instants import instant_key
from domain.manifests import Manifest
from domain.records import Candidate, RecordBasis, by_observation
from projections import paging, records
from projections.model import AS_OF
from projections.paging import Window
from projections.views import open_writer
from tests.examples import ENVIRONMENT, OPERATION, PROTOCOL, WORKLOAD, implementation, manifest, run
from tests.projections.test_levels import Story, ingested, registered


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    db = open_writer(tmp_path / "views.db")
    yield begun(db)
    db.close()


def begun(db: sqlite3.Connection) -> Story:
    story = Story(db)
    story.tell(*(registered(one) for one in (OPERATION, WORKLOAD, PROTOCOL, ENVIRONMENT)))
    story.tell(registered(implementation()))
    return story


def observed(value: int, day: int, **spec: Any) -> Manifest:
    return run(value, observedAt=f"2026-08-{day:02}T12:00:00Z", **spec)


def changes(story: Story, basis: RecordBasis, position: int | None = None) -> list[dict[str, Any]]:
    page = paging.page(story.db, records.listing(basis, None), Window(100), position or story.told)
    return [msgspec.json.decode(row.text) for _, row in page.rows]


def known(story: Story) -> list[tuple[str | None, str | None, str]]:
    """Value, previous value and cause of each change as known."""
    return [
        (
            doc["value"] and doc["value"]["value"],
            doc["previousValue"] and doc["previousValue"]["value"],
            doc["cause"],
        )
        for doc in changes(story, RecordBasis.AS_KNOWN)
    ]


def fell(story: Story, position: int | None = None) -> list[str]:
    return [doc["value"]["value"] for doc in changes(story, RecordBasis.BY_OBSERVATION, position)]


def retracted(one: Manifest) -> Fact:
    return facts.RunRetracted(digest=one.digest, reason="x")


A, B, C = observed(100, 1), observed(120, 2), observed(130, 3)


class TestAsKnown:
    def test_case_09_the_retraction_of_one_that_never_led_changes_nothing(self, story: Story) -> None:
        for one in (A, B, C):
            story.tell(ingested(one))
        story.tell(retracted(B))
        assert known(story) == [("100", None, "NEW_RUN")]
        assert fell(story) == ["100"]

    def test_case_07_a_retracted_leader_gives_way_to_two_tied_ones_in_one_change(self, story: Story) -> None:
        leader, first, second, last = observed(9100, 4), observed(9840, 2), observed(9840, 3), observed(10020, 1)
        for one in (leader, first, second, last):
            story.tell(ingested(one))
        before = story.told
        story.tell(retracted(leader))
        assert known(story) == [("9100", None, "NEW_RUN"), ("9840", "9100", "RETRACTION")]
        change = changes(story, RecordBasis.AS_KNOWN)[-1]
        assert (change["run"], change["previousRun"]) == (first.digest, leader.digest)
        assert story.ranks(leader) == {first.digest: 1, second.digest: 1, last.digest: 2}
        assert story.ranks(leader, before)[leader.digest] == 1
        assert len(changes(story, RecordBasis.AS_KNOWN, before)) == 1

    def test_a_better_run_is_new_or_a_late_arrival_by_when_it_was_observed(self, story: Story) -> None:
        story.tell(ingested(observed(100, 10)))
        story.tell(ingested(observed(90, 11)))
        story.tell(ingested(observed(80, 5)))
        assert known(story) == [
            ("100", None, "NEW_RUN"),
            ("90", "100", "NEW_RUN"),
            ("80", "90", "LATE_ARRIVAL"),
        ]
        assert fell(story) == ["80"]

    def test_supersession_and_dispute_are_named_and_the_way_back_too(self, story: Story) -> None:
        best, good = observed(80, 2), observed(100, 1)
        story.tell(ingested(best))
        story.tell(ingested(good))
        dispute = facts.DisputeOpened(
            digest=best.digest, dispute="d", cause=DisputeCause.MODERATOR, blocking=True, reason="x"
        )
        story.tell(dispute)
        story.tell(facts.DisputeResolved(digest=best.digest, dispute="d", outcome=DisputeOutcome.DISMISSED, reason="x"))
        story.tell(
            facts.RunSuperseded(digest=best.digest, by=good.digest, reason="x"),
            facts.RunSupersedes(digest=good.digest, predecessor=best.digest, reason="x"),
        )
        assert [cause for _, _, cause in known(story)] == ["NEW_RUN", "DISPUTE", "REINSTATED", "SUPERSESSION"]

    def test_a_tied_leader_that_leaves_changes_nothing(self, story: Story) -> None:
        one, other = observed(100, 1), observed(100, 2)
        story.tell(ingested(one))
        story.tell(ingested(other))
        story.tell(retracted(one))
        assert known(story) == [("100", None, "NEW_RUN")]
        assert fell(story) == ["100"]
        assert changes(story, RecordBasis.BY_OBSERVATION)[0]["run"] == other.digest

    def test_a_group_that_nobody_leads_any_more_says_so(self, story: Story) -> None:
        story.tell(ingested(A))
        story.tell(retracted(A))
        story.tell(ingested(B))
        assert known(story) == [("100", None, "NEW_RUN"), (None, "100", "RETRACTION"), ("120", None, "NEW_RUN")]

    def test_what_comes_and_goes_in_one_save_was_never_a_record(self, story: Story) -> None:
        story.tell(ingested(A), retracted(A), ingested(B))
        assert known(story) == [("120", None, "NEW_RUN")]
        assert fell(story) == ["120"]

    def test_a_run_enters_when_its_last_reference_does(self, story: Story) -> None:
        card = manifest("ExecutionEnvironment", {**ENVIRONMENT.spec, "settings": {"clocksLocked": True}})
        story.tell(ingested(observed(90, 1, environmentDigest=card.digest)))
        assert known(story) == []
        story.tell(registered(card))
        assert known(story) == [("90", None, "NEW_RUN")]


class TestCost:
    """What a save costs depends on what it changes, not on how many records its group has: in SQLite's own steps."""

    @pytest.mark.parametrize("act", ["late arrival", "retraction of the holder"])
    def test_it_does_not_grow_with_the_records_of_the_group(self, tmp_path: Path, act: str) -> None:
        costs = []
        for count in (30, 300):
            db = open_writer(tmp_path / f"{count}.db")
            story = begun(db)
            improving = [at_minute(number, 1000 - number) for number in range(1, count + 1)]
            story.tell(*map(ingested, improving))
            fact = ingested(at_minute(0, 1000)) if act == "late arrival" else retracted(improving[-1])
            costs.append(steps_of(story, fact))
            db.close()
        assert costs[1] < 1.5 * costs[0]


def at_minute(number: int, value: int) -> Manifest:
    return run(value, observedAt=f"2026-08-01T{number // 60:02}:{number % 60:02}:00Z")


def steps_of(story: Story, fact: Fact) -> int:
    """How many steps SQLite's virtual machine takes for a save of this fact, in tens."""
    taken = list[None]()
    story.db.set_progress_handler(lambda: taken.append(None), 10)
    story.tell(fact)
    story.db.set_progress_handler(None, 0)
    return len(taken)


RUNS = tuple(observed(value, day) for value, day in ((100, 4), (100, 2), (90, 3), (90, 7), (80, 5), (110, 1), (70, 6)))
acts = st.sampled_from(["ingest", "retract", "dispute", "resolve"])
steps = st.lists(st.lists(st.tuples(acts, st.integers(0, len(RUNS) - 1)), min_size=1, max_size=4), max_size=10)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_both_views_are_their_definitions_at_every_save(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[list[tuple[str, int]]]
) -> None:
    db = open_writer(tmp_path_factory.mktemp("views") / "views.db")
    story = begun(db)
    states: dict[int, set[str]] = {}
    best_values: list[Decimal | None] = []
    shown: dict[int, list[str]] = {}
    for drawn_save in drawn:
        listed = [fact for act, number in drawn_save if (fact := _fact(states, act, number))]
        if not listed:
            continue
        position = story.tell(*listed)
        eligible = [
            Candidate(
                instant_key(one.spec["observedAt"]), one.digest, Decimal(one.spec["timing"]["latencyNs"]["median"])
            )
            for number, one in enumerate(RUNS)
            if states.get(number) == {"ingested"}
        ]
        records_of_all = by_observation(eligible, lower_is_better=True)
        assert [doc["run"] for doc in changes(story, RecordBasis.BY_OBSERVATION)] == [one.run for one in records_of_all]
        shown[position] = [doc["run"] for doc in changes(story, RecordBasis.BY_OBSERVATION)]
        best = min((one.value for one in eligible), default=None)
        if best != (best_values[-1] if best_values else None):
            best_values.append(best)
        assert [value and Decimal(value) for value, _, _ in known(story)] == best_values
    for position, then in shown.items():
        assert [doc["run"] for doc in changes(story, RecordBasis.BY_OBSERVATION, position)] == then
    rows = db.execute(f"SELECT doc FROM records_observed WHERE {AS_OF} ORDER BY observed_key", {"position": story.told})
    previous = None
    for (text,) in rows:
        doc = msgspec.json.decode(text)
        assert doc["previousRun"] == previous
        previous = doc["run"]
    db.close()


def _fact(states: dict[int, set[str]], act: str, number: int) -> Fact | None:
    """The fact that the act leads to, where it may happen; ``states`` remembers what holds of each run."""
    digest, state = RUNS[number].digest, states.get(number)
    if state is None:
        if act != "ingest":
            return None
        states[number] = {"ingested"}
        return ingested(RUNS[number])
    if act == "retract" and "retracted" not in state:
        state.add("retracted")
        return retracted(RUNS[number])
    if act == "dispute" and "disputed" not in state:
        state.add("disputed")
        return facts.DisputeOpened(
            digest=digest, dispute=f"d-{number}", cause=DisputeCause.MODERATOR, blocking=True, reason="x"
        )
    if act == "resolve" and "disputed" in state:
        state.remove("disputed")
        return facts.DisputeResolved(digest=digest, dispute=f"d-{number}", outcome=DisputeOutcome.DISMISSED, reason="x")
    return None
