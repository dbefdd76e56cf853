"""Runs side by side: what keeps them from being compared, and what each says."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.comparing import Comparison, Part, Section, Subject, compare
from domain.measurements import Measurement


def subject(name: str = "a", value: str | None = "100", rank: int | None = 1, **parts: Any) -> Subject:
    specs = {section: parts.get(section.lower(), {}) for section in Section}
    metric = {"metric": "latency", "statistic": "median", "unit": "ns"}
    specs[Section.METRIC] = parts.get("metric", metric)
    named = specs[Section.METRIC] or metric
    return Subject(
        digest=name,
        title=name,
        comparison_key=parts.get("key", str({k: v for k, v in specs.items() if k not in ("IMPLEMENTATION", "RUN")})),
        primary=Measurement(**named, value=Decimal(value)) if value else None,
        rank=rank,
        tied=False,
        parts={section: Part(parts.get("digest", str(spec)), spec) for section, spec in specs.items()},
    )


def paths(comparison: Comparison) -> list[str]:
    return [f"{field.section.lower()} {field.path}" for field in comparison.fields]


def test_runs_of_one_group_get_their_ranks_and_ratios() -> None:
    outcomes = compare([subject("a", "150", 3), subject("b", "100", 1), subject("c", "125", 2)]).outcomes

    assert [outcome.rank for outcome in outcomes] == [3, 1, 2]
    assert [outcome.ratio_to_best for outcome in outcomes] == [1.5, 1, 1.25]


def test_where_more_is_better_the_ratio_says_so() -> None:
    metric = {"metric": "bandwidth", "statistic": "mean", "unit": "GB_s"}
    outcomes = compare([subject("a", "50", 2, metric=metric), subject("b", "100", 1, metric=metric)]).outcomes

    assert [outcome.ratio_to_best for outcome in outcomes] == [2, 1]


def test_a_run_that_may_not_be_ranked_gets_no_ratio_and_is_no_measure_for_others() -> None:
    outcomes = compare([subject("failed", "1", None), subject("b", "100"), subject("c", "200", 2)]).outcomes

    assert [outcome.ratio_to_best for outcome in outcomes] == [None, 1, 2]


@pytest.mark.parametrize("section", ["operation", "workload", "protocol", "environment"])
def test_one_material_difference_is_enough_for_no_ratio_and_no_rank(section: str) -> None:
    one: Any
    other: Any
    one, other = {"harness": {"name": "h", "version": "1"}}, {"harness": {"name": "h", "version": "2"}}

    compared = compare([subject("a", **{section: one}), subject("b", "50", **{section: other})])

    assert not compared.comparable
    assert compared.first_mismatch
    assert (compared.first_mismatch.section, compared.first_mismatch.path) == (section.upper(), "harness.version")
    assert compared.verdict == f"not comparable: {section} harness.version differs: 1, 2"
    assert {(outcome.rank, outcome.ratio_to_best) for outcome in compared.outcomes} == {(None, None)}


def test_another_metric_is_material_and_another_implementation_is_not() -> None:
    metric = {"metric": "latency", "statistic": "mean", "unit": "ns"}

    compared = compare([subject("a"), subject("b", metric=metric)])
    assert compared.first_mismatch
    assert (compared.first_mismatch.section, compared.first_mismatch.path) == ("METRIC", "statistic")

    assert compare([subject("a", implementation={"x": 1}), subject("b", implementation={"x": 2})]).comparable


def test_material_differences_come_first_then_others_then_what_is_equal() -> None:
    compared = compare(
        [
            subject("a", protocol={"timer": "x", "same": 1}, run={"status": "passed"}, digest="d"),
            subject("b", protocol={"timer": "y", "same": 1}, run={"status": "timeout"}, digest="d"),
        ]
    )

    marks = [(field.differs, field.material) for field in compared.fields]
    assert paths(compared)[:2] == ["protocol timer", "run status"]
    assert marks == sorted(marks, key=lambda mark: (not mark[0], not mark[1]))


def test_what_is_not_registered_is_told_by_its_digest() -> None:
    known, unknown = subject("a", protocol={"timer": "x"}), subject("b")
    parts = {**unknown.parts, Section.PROTOCOL: Part("sha256:unknown", None)}
    unknown = Subject(digest="b", title="b", comparison_key="other", primary=None, rank=None, tied=False, parts=parts)

    compared = compare([known, unknown])

    assert compared.first_mismatch
    assert (compared.first_mismatch.section, compared.first_mismatch.path) == ("PROTOCOL", "digest")
    timer = next(field for field in compared.fields if field.path == "timer")
    assert [(value.text, value.registered) for value in timer.values] == [("x", True), (None, False)]
    assert not timer.differs


def test_runs_on_one_unregistered_workload_do_not_compare_yet() -> None:
    compared = compare(
        [subject("a", key=None, digest="sha256:12345678"), subject("b", key=None, digest="sha256:12345678")]
    )

    assert (compared.comparable, compared.first_mismatch) == (False, None)
    assert compared.verdict == "not comparable until workload 12345678 is registered"


def test_runs_without_values_do_not_compare() -> None:
    compared = compare([subject("a", None, None, metric={}), subject("b", None, None, metric={})])

    assert compared.verdict == "not comparable: they state no value to be compared by"


def test_items_of_a_list_are_told_apart_by_their_names() -> None:
    one = {"inputs": [{"name": "x", "shape": [1, 2]}, {"name": "y", "ok": True}], "other": [{"a": 1.5}, {"a": 2}]}
    compared = compare([subject("a", operation=one), subject("b", operation=one)])
    values = {field.path: field.values[0].text for field in compared.fields if field.section is Section.OPERATION}

    assert values == {
        "digest": str(one),
        "inputs[x].name": "x",
        "inputs[x].shape": "[1, 2]",
        "inputs[y].name": "y",
        "inputs[y].ok": "yes",
        "other[0].a": "1.5",
        "other[1].a": "2",
    }


leaves = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "a", "b"])
specs = st.dictionaries(
    st.sampled_from("abc"),
    st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("xy"), inner)),
)
subjects = st.lists(st.tuples(specs, specs, specs), min_size=2, max_size=8)


@given(subjects, st.randoms(use_true_random=False))
def test_runs_compare_exactly_where_nothing_material_differs(
    given_specs: list[tuple[Any, Any, Any]], random: Any
) -> None:
    """And the order in which they are given changes only the order of the columns."""
    all_subjects = [
        subject(str(number), workload=workload, protocol=protocol, run=run)
        for number, (workload, protocol, run) in enumerate(given_specs)
    ]

    compared = compare(all_subjects)

    assert compared.comparable == (len({one.comparison_key for one in all_subjects}) == 1)
    assert compared.comparable == (not any(field.differs and field.material for field in compared.fields))
    assert all(len(field.values) == len(all_subjects) for field in compared.fields)
    shuffled = random.sample(all_subjects, len(all_subjects))
    again = compare(shuffled)
    assert again.comparable == compared.comparable
    assert {(field.section, field.path, field.differs) for field in again.fields} == {
        (field.section, field.path, field.differs) for field in compared.fields
    }
