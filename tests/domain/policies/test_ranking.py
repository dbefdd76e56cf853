"""``ranking-v1``: eligibility, dense ranks, ties by value and by interval, the order shown inside a tie."""

import itertools
from decimal import Decimal

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from domain.instants import instant_key
from domain.measurements import Measurement, decimal_of, primary_measurement
from domain.policies.ranking import Entry, Placed, Profile, eligibility, profile_of, rank

VALUE = Measurement(metric="latency", statistic="mean", unit="ns", value=Decimal(8120))


def entry(run: str, value: float, low: float | None = None, high: float | None = None) -> Entry:
    return Entry(
        run=run,
        value=decimal_of(value),
        low=None if low is None else decimal_of(low),
        high=None if high is None else decimal_of(high),
    )


def ranks(entries: list[Entry], profile: Profile = "SOURCE_NATIVE", *, lower_is_better: bool = True) -> dict[str, int]:
    return {placed.entry.run: placed.rank for placed in rank(entries, profile=profile, lower_is_better=lower_is_better)}


def reasons(
    status: str = "passed",
    primary: Measurement | None = VALUE,
    *,
    retracted: bool = False,
    superseded: bool = False,
    disputed: bool = False,
    unresolved: bool = False,
) -> list[str]:
    return list(
        eligibility(
            status,
            retracted=retracted,
            superseded=superseded,
            disputed=disputed,
            primary=primary,
            unresolved=unresolved,
        )
    )


def test_a_passed_run_with_a_value_and_all_references_is_eligible() -> None:
    assert reasons() == []


def test_every_reason_is_given_in_the_fixed_order() -> None:
    everything = {"retracted": True, "superseded": True, "disputed": True, "unresolved": True}
    nothing = msgspec.structs.replace(VALUE, value=Decimal(0))

    assert reasons("runtime_error", None, **everything) == [
        "STATUS_RUNTIME_ERROR",
        "RETRACTED",
        "SUPERSEDED",
        "DISPUTED",
        "MISSING_PRIMARY_METRIC",
        "REFERENCE_UNRESOLVED",
    ]
    assert reasons("passed", nothing, **everything)[-2:] == ["NONPOSITIVE_PRIMARY", "REFERENCE_UNRESOLVED"]


@pytest.mark.parametrize(("value", "found"), [("0", True), ("-1", True), ("3.2e-24", False)])
def test_only_a_positive_value_is_ranked(value: str, *, found: bool) -> None:
    primary = msgspec.structs.replace(VALUE, value=Decimal(value))

    assert ("NONPOSITIVE_PRIMARY" in reasons(primary=primary)) is found


def test_a_run_without_a_value_is_not_ranked_whether_retracted_or_not() -> None:
    """Case 03: the run without a measurement must not lead."""
    primary = primary_measurement({"status": "passed"})

    assert reasons(primary=primary) == ["MISSING_PRIMARY_METRIC"]
    assert reasons(primary=primary, retracted=True) == ["RETRACTED", "MISSING_PRIMARY_METRIC"]
    assert ranks([entry("n2", 8120), entry("n3", 9050)]) == {"n2": 1, "n3": 2}


def test_equal_scores_share_a_rank_and_the_last_binary_digit_separates() -> None:
    """Case 01: two leaders with one score, and one whose score differs in the seventeenth digit."""
    scores = {
        "alder": 0.0023749119639396668,
        "birch": 0.0023749119639396668,
        "fir": 0.002374911963939667,
        "cedar": 0.00237499729792277,
        "dogwood": 0.00237499729792277,
        "elm": 0.0023756799697875978,
    }

    found = ranks([entry(run, score) for run, score in scores.items()])

    assert found == {"alder": 1, "birch": 1, "fir": 2, "cedar": 3, "dogwood": 3, "elm": 4}


def test_values_that_a_float_or_a_short_context_would_merge_stay_apart() -> None:
    values = [Decimal("1.00000000000000000000000000000000000001"), Decimal(1), Decimal(9007199254740993)]

    found = ranks([Entry(run=str(number), value=value) for number, value in enumerate(values)])

    assert found == {"1": 1, "0": 2, "2": 3}


def test_ranks_stay_dense_after_a_tie() -> None:
    """Case 39."""
    values = {"t1": 100, "t2": 100, "t3": 100, "t4": 100, "t5": 90, "t6": 110, "t7": 100}

    found = ranks([entry(run, value) for run, value in values.items()])

    assert found == {"t5": 1, "t1": 2, "t2": 2, "t3": 2, "t4": 2, "t7": 2, "t6": 3}


def test_where_higher_is_better_the_highest_leads() -> None:
    found = ranks([entry("a", 1), entry("b", 3), entry("c", 2), entry("d", 3)], lower_is_better=False)

    assert found == {"b": 1, "d": 1, "c": 2, "a": 3}


def test_touching_intervals_tie_in_a_strict_group_and_never_in_a_source_native_one() -> None:
    entries = [entry("a", 10, 9, 11), entry("b", 12, 11, 13), entry("c", 14, 13.5, 15)]

    assert ranks(entries, "STRICT_EXACT") == {"a": 1, "b": 1, "c": 2}
    assert ranks(entries) == {"a": 1, "b": 2, "c": 3}


def test_a_block_must_overlap_the_whole_tie_above_it_and_not_only_its_neighbour() -> None:
    entries = [entry("a", 10, 9, 11), entry("b", 11, 10, 14), entry("c", 12, 11.5, 13)]

    assert ranks(entries, "STRICT_EXACT") == {"a": 1, "b": 1, "c": 2}


def test_one_run_of_a_block_without_an_interval_keeps_the_block_apart_on_both_sides() -> None:
    entries = [entry("a", 10, 0, 99), entry("b", 11, 0, 99), entry("b2", 11), entry("c", 12, 0, 99)]

    assert ranks(entries, "STRICT_EXACT") == {"a": 1, "b": 2, "b2": 2, "c": 3}


def test_an_interval_that_does_not_hold_its_value_is_not_valid() -> None:
    entries = [entry("a", 10, 9, 12), entry("b", 11, 9, 10.5)]

    assert ranks(entries, "STRICT_EXACT") == {"a": 1, "b": 2}


def test_inside_a_tie_better_evidence_then_newer_observation_then_digest_comes_first() -> None:
    observed = ["2026-01-01T00:00Z", "2026-01-01T00:00:00.5Z", "2026-01-02T00:00:00Z"]
    entries = [
        Entry(run="f", value=Decimal(1), level=0, observed_key=instant_key(observed[2])),
        Entry(run="d", value=Decimal(1), level=1, observed_key=instant_key(observed[0])),
        Entry(run="e", value=Decimal(1), level=1, observed_key=instant_key(observed[0])),
        Entry(run="c", value=Decimal(1), level=1, observed_key=instant_key(observed[1])),
    ]

    placed = rank(entries, profile="SOURCE_NATIVE", lower_is_better=True)

    assert [one.entry.run for one in placed] == ["c", "d", "e", "f"]
    assert {(one.rank, one.tied) for one in placed} == {(1, True)}


def test_a_run_alone_at_its_rank_is_not_tied_and_an_empty_group_has_no_ranks() -> None:
    assert rank([entry("a", 1)], profile="STRICT_EXACT", lower_is_better=True) == [Placed(entry("a", 1), 1, tied=False)]
    assert rank([], profile="STRICT_EXACT", lower_is_better=True) == []


def test_the_profile_follows_from_whether_a_source_reported_the_run() -> None:
    assert profile_of({"sourceNative": {"source": "sol-execbench"}}) == "SOURCE_NATIVE"
    assert profile_of({}) == "STRICT_EXACT"


@st.composite
def groups(draw: st.DrawFn) -> list[Entry]:
    """Groups with few distinct values, and intervals that are valid, absent, half there or beside their value."""
    ends = st.none() | st.integers(0, 12)
    return [
        Entry(
            run=f"{number:02}",
            value=Decimal(draw(st.integers(3, 9))),
            low=None if (low := draw(ends)) is None else Decimal(low),
            high=None if (high := draw(ends)) is None else Decimal(high),
            level=draw(st.integers(0, 3)),
            observed_key=draw(st.sampled_from(["2026-01-01T00:00:00", "2026-01-01T00:00:00.5", "2026-02"])),
        )
        for number in range(draw(st.integers(0, 9)))
    ]


profiles: st.SearchStrategy[Profile] = st.sampled_from(["STRICT_EXACT", "SOURCE_NATIVE"])


def brute_force(entries: list[Entry], profile: Profile, *, lower_is_better: bool) -> list[list[Entry]]:
    """The rule in its own words, every pair looked at: the ties, best first."""

    def valid(one: Entry) -> bool:
        return one.low is not None and one.high is not None and one.low <= one.value <= one.high

    def overlap(one: Entry, other: Entry) -> bool:
        assert one.low is not None
        assert one.high is not None
        assert other.low is not None
        assert other.high is not None
        return not (one.high < other.low or other.high < one.low)

    ties: list[list[Entry]] = []
    for value in sorted({one.value for one in entries}, reverse=not lower_is_better):
        block = [one for one in entries if one.value == value]
        joins = (
            profile == "STRICT_EXACT"
            and bool(ties)
            and all(valid(one) for one in [*ties[-1], *block])
            and all(overlap(above, below) for above, below in itertools.product(ties[-1], block))
        )
        ties = [*ties[:-1], ties[-1] + block] if joins else [*ties, block]
    return ties


@given(entries=groups(), profile=profiles, lower_is_better=st.booleans())
@example(
    entries=[entry("a", 5, 4, 6), entry("b", 6, 6, 8), entry("c", 7, 6, 7)],
    profile="STRICT_EXACT",
    lower_is_better=True,
)
def test_ranks_are_those_of_the_rule_looked_at_pair_by_pair(
    entries: list[Entry], profile: Profile, *, lower_is_better: bool
) -> None:
    ties = brute_force(entries, profile, lower_is_better=lower_is_better)

    placed = rank(entries, profile=profile, lower_is_better=lower_is_better)

    assert {one.entry.run: (one.rank, one.tied) for one in placed} == {
        one.run: (place, len(tie) > 1) for place, tie in enumerate(ties, start=1) for one in tie
    }


@given(
    both=groups().flatmap(lambda group: st.tuples(st.just(group), st.permutations(group))),
    profile=profiles,
    lower_is_better=st.booleans(),
)
def test_the_order_in_which_runs_arrive_never_matters(
    both: tuple[list[Entry], list[Entry]], profile: Profile, *, lower_is_better: bool
) -> None:
    first, second = (rank(group, profile=profile, lower_is_better=lower_is_better) for group in both)

    assert first == second


@given(entries=groups(), profile=profiles, lower_is_better=st.booleans())
def test_ranks_are_dense_from_one_and_never_fall(
    entries: list[Entry], profile: Profile, *, lower_is_better: bool
) -> None:
    found = [one.rank for one in rank(entries, profile=profile, lower_is_better=lower_is_better)]

    assert found == sorted(found)
    assert set(found) == set(range(1, len(set(found)) + 1))


def test_many_overlapping_runs_are_ranked_in_n_log_n_comparisons() -> None:
    """Comparisons are counted, not seconds: one tie of n runs must not look at n * n pairs."""

    class Counted(Decimal):
        compared = 0

        def __lt__(self, other: object) -> bool:
            Counted.compared += 1
            return bool(Decimal.__lt__(self, other))  # type: ignore[operator]

        def __le__(self, other: object) -> bool:
            Counted.compared += 1
            return bool(Decimal.__le__(self, other))  # type: ignore[operator]

    size = 4_000
    entries = [
        Entry(run=f"{number:05}", value=Counted(size + number), low=Counted(0), high=Counted(9 * size))
        for number in range(size)
    ]

    placed = rank(reversed(entries), profile="STRICT_EXACT", lower_is_better=True)

    assert {one.rank for one in placed} == {1}
    assert Counted.compared < 20 * size
