"""``rerun-v1``: the outcome follows from the two manifests."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.facts import RerunOutcome
from domain.measurements import lower_is_better
from domain.policies.reruns import INCORRECT, RerunReason, Verdict, judge

CONFIRMED, CONTRADICTED, INCONCLUSIVE = RerunOutcome.CONFIRMED, RerunOutcome.CONTRADICTED, RerunOutcome.INCONCLUSIVE


def timed(median_ns: float, interval: tuple[float, float] | None = None, status: str = "passed") -> dict[str, Any]:
    latency: dict[str, Any] = {"median": median_ns, **({"confidence95": list(interval)} if interval else {})}
    return {"status": status, "timing": {"primaryStatistic": "median", "latencyNs": latency}}


def measured(value: float, metric: str, unit: str, statistic: str = "mean") -> dict[str, Any]:
    return {
        "status": "passed",
        "measurements": [{"metric": metric, "statistic": statistic, "unit": unit, "value": value}],
    }


def on(product: str = "NVIDIA B200", **hardware: Any) -> dict[str, Any]:
    return {"hardware": {"product": product, "architecture": "sm_100", **hardware}}


def verdict(claim: dict[str, Any], rerun: dict[str, Any], claimed_on: Any = None, rerun_on: Any = None) -> Verdict:
    return judge(claim, rerun, claim_environment=claimed_on or on(), rerun_environment=rerun_on or on())


@pytest.mark.parametrize(
    ("rerun_ns", "outcome"),
    [
        (700, INCONCLUSIVE),
        (799, INCONCLUSIVE),
        (800, CONFIRMED),
        (1000, CONFIRMED),
        (1040, CONFIRMED),
        (1050, CONFIRMED),
        (1051, CONTRADICTED),
        (1060, CONTRADICTED),
        (1120, CONTRADICTED),
    ],
)
def test_a_ratio_from_0_8_to_1_05_confirms(rerun_ns: int, outcome: RerunOutcome) -> None:
    assert verdict(timed(1000), timed(rerun_ns)).outcome is outcome


@pytest.mark.parametrize(
    ("rerun_ns", "claimed", "found", "outcome"),
    [
        (1060, (950, 1020), (1010, 1100), CONFIRMED),
        (1060, (950, 1010), (1010, 1100), CONFIRMED),
        (1060, (950, 1009), (1010, 1100), CONTRADICTED),
        (1100, (900, 1090), (1010, 1200), CONFIRMED),
        (1101, (900, 1090), (1010, 1200), CONTRADICTED),
        (1120, (900, 1090), (1010, 1200), CONTRADICTED),
        (1060, None, (1010, 1100), CONTRADICTED),
        (1060, (950, 1020), None, CONTRADICTED),
    ],
)
def test_up_to_1_10_overlapping_intervals_of_both_confirm(
    rerun_ns: int, claimed: Any, found: Any, outcome: RerunOutcome
) -> None:
    assert verdict(timed(1000, claimed), timed(rerun_ns, found)).outcome is outcome


def test_the_ratio_is_compared_exactly() -> None:
    """1.05 of 3 ns is no binary fraction: 3.15 confirms, the next value above does not."""
    assert verdict(measured(3.0, "latency", "ms"), measured(3.15, "latency", "ms")).outcome is CONFIRMED
    over = verdict(measured(3.0, "latency", "ms"), measured(3.1500000000000004, "latency", "ms"))
    assert (over.outcome, over.reason) == (CONTRADICTED, RerunReason.SLOWER_THAN_CLAIM)


@pytest.mark.parametrize(("rerun", "outcome"), [(96, CONFIRMED), (95, CONTRADICTED), (126, INCONCLUSIVE)])
def test_where_higher_is_better_a_lower_value_is_the_worse(rerun: int, outcome: RerunOutcome) -> None:
    assert verdict(measured(100, "throughput", "tflops"), measured(rerun, "throughput", "tflops")).outcome is outcome


def test_the_ratio_shown_is_above_1_for_the_worse() -> None:
    assert verdict(timed(1000), timed(1040)).ratio == "1.04"
    assert verdict(measured(100, "throughput", "tflops"), measured(80, "throughput", "tflops")).ratio == "1.25"


@pytest.mark.parametrize("status", sorted(INCORRECT))
def test_wrong_results_contradict_whatever_was_measured(status: str) -> None:
    assert verdict(timed(1000), timed(900, status=status)) == Verdict(CONTRADICTED, RerunReason.INCORRECT_RESULT)


@pytest.mark.parametrize("status", ["timeout", "runtime_error", "compile_error", "incomplete_evidence"])
def test_what_did_not_run_to_a_measurement_is_inconclusive(status: str) -> None:
    assert verdict(timed(1000), timed(900, status=status)) == Verdict(INCONCLUSIVE, RerunReason.NOT_MEASURED)


def test_a_run_without_a_value_has_nothing_to_confirm() -> None:
    nothing: dict[str, Any] = {"status": "passed"}
    assert verdict(nothing, timed(900)).reason is RerunReason.NO_CLAIM
    assert verdict(timed(900), nothing).reason is RerunReason.NOT_MEASURED
    assert verdict(timed(0), timed(900)).reason is RerunReason.NO_CLAIM


@pytest.mark.parametrize(
    "other",
    [
        measured(1000, "score", "ns", "median"),
        measured(1000, "latency", "ns", "mean"),
        measured(1000, "latency", "us", "median"),
    ],
)
def test_another_metric_statistic_or_unit_is_inconclusive(other: dict[str, Any]) -> None:
    assert verdict(timed(1000), other) == Verdict(INCONCLUSIVE, RerunReason.MEASUREMENT_DIFFERS)


@pytest.mark.parametrize(
    ("claimed_on", "rerun_on"), [(on(), on("NVIDIA H100")), (on(count=1), on(count=2)), (on(count=8), on())]
)
def test_other_hardware_is_inconclusive_even_where_results_were_wrong(claimed_on: Any, rerun_on: Any) -> None:
    rerun = timed(1000, status="incorrect_numerical")
    found = verdict(timed(1000), rerun, claimed_on, rerun_on)
    assert found == Verdict(INCONCLUSIVE, RerunReason.HARDWARE_DIFFERS)


def test_one_card_and_no_number_of_cards_are_the_same() -> None:
    assert verdict(timed(1000), timed(1000), on(count=1), on()).outcome is CONFIRMED


def test_unknown_hardware_is_inconclusive() -> None:
    found = judge(timed(1), timed(1), claim_environment=None, rerun_environment=on())
    assert found == Verdict(INCONCLUSIVE, RerunReason.HARDWARE_UNKNOWN)


@given(st.integers(1, 10**12), st.integers(1, 10**12), st.sampled_from([("latency", "ns"), ("throughput", "tflops")]))
def test_the_outcome_is_the_rule_of_the_exact_ratio(claim: int, rerun: int, kind: tuple[str, str]) -> None:
    metric, unit = kind
    worse, better = (rerun, claim) if lower_is_better(metric, unit) else (claim, rerun)
    ratio = Decimal(worse) / Decimal(better)
    expected = INCONCLUSIVE if ratio < Decimal("0.8") else CONFIRMED if ratio <= Decimal("1.05") else CONTRADICTED

    assert verdict(measured(claim, metric, unit), measured(rerun, metric, unit)).outcome is expected
