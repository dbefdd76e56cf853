"""What a run measured, which value is the primary one, exact numbers and their text, directions."""

from decimal import Decimal
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from domain.measurements import (
    decimal_of,
    decimal_text,
    lower_is_better,
    measurements,
    metric_key,
    primary_measurement,
)

TIMING = {
    "primaryStatistic": "median",
    "samples": 200,
    "latencyNs": {
        "median": 8120,
        "p05": 8072,
        "p95": 8151,
        "minimum": 8054,
        "maximum": 8390,
        "mad": 24,
        "confidence95": [8095, 8151],
    },
}
SCORE = {"metric": "score", "statistic": "geomean", "unit": "s", "value": 0.0023749119639396668}


def with_latencies(**latencies: Any) -> dict[str, Any]:
    return {"timing": {"primaryStatistic": "mean", "latencyNs": latencies}}


def test_the_primary_of_a_timed_run_is_the_latency_under_its_primary_statistic() -> None:
    primary = primary_measurement({"timing": TIMING, "measurements": [SCORE]})

    assert primary is not None
    assert (metric_key(primary), decimal_text(primary.value)) == ("latency:median:ns", "8120")
    assert primary.sample_count == 200


def test_an_absent_primary_statistic_gives_no_primary_and_never_another_statistic() -> None:
    run = {"timing": {"primaryStatistic": "mean", "latencyNs": {"median": 8120}}, "measurements": [SCORE]}

    assert primary_measurement(run) is None
    assert metric_key(primary_measurement(run)) == "none"


def test_the_interval_is_no_statistic_even_where_a_run_calls_it_its_primary_one() -> None:
    run = {"timing": {"primaryStatistic": "confidence95", "latencyNs": {"confidence95": [1, 2], "mean": 1}}}

    assert primary_measurement(run) is None
    assert [metric_key(line) for line in measurements(run)] == ["latency:mean:ns"]


def test_without_timing_the_first_measurement_is_primary() -> None:
    primary = primary_measurement({"measurements": [SCORE, {**SCORE, "statistic": "best"}]})

    assert primary is not None
    assert metric_key(primary) == "score:geomean:s"
    assert decimal_text(primary.value) == "0.0023749119639396668"


@pytest.mark.parametrize("run", [{}, {"measurements": []}, with_latencies()])
def test_a_run_that_measured_nothing_has_no_primary(run: dict[str, Any]) -> None:
    assert primary_measurement(run) is None
    assert measurements(run) == []


@pytest.mark.parametrize("ends", [[8095, 8151], [8120, 8120]])
def test_a_closed_interval_around_the_value_is_kept(ends: list[int]) -> None:
    primary = primary_measurement(with_latencies(mean=8120, confidence95=ends))

    assert primary is not None
    assert [primary.low, primary.high] == ends


@pytest.mark.parametrize("ends", [[], [8095], [8121, 8151], [8095, 8119], [8151, 8095]])
def test_an_interval_without_two_ends_or_without_the_value_in_it_is_none(ends: list[int]) -> None:
    primary = primary_measurement(with_latencies(mean=8120, confidence95=ends))

    assert primary is not None
    assert (primary.low, primary.high) == (None, None)


def test_lines_start_with_the_primary_and_do_not_repeat_a_key() -> None:
    repeated = {"metric": "latency", "statistic": "p95", "unit": "ns", "value": 1}
    deviation = {"metric": "latency", "statistic": "std", "unit": "ns", "value": 12.5, "sampleCount": 9}

    lines = measurements(
        {"timing": {**TIMING, "primaryStatistic": "p95"}, "measurements": [repeated, deviation, deviation]}
    )

    assert [line.statistic for line in lines] == ["p95", "median", "minimum", "p05", "maximum", "mad", "std"]
    assert [line.value for line in lines] == [8151, 8120, 8054, 8072, 8390, 24, Decimal("12.5")]
    assert [line.sample_count for line in lines] == [200] * 6 + [9]


def test_only_the_primary_line_has_the_interval() -> None:
    with_interval = [line.statistic for line in measurements({"timing": TIMING}) if line.low is not None]

    assert with_interval == ["median"]


def test_lines_stay_when_the_primary_is_absent() -> None:
    lines = measurements(
        {"timing": {"primaryStatistic": "mean", "latencyNs": {"median": 8120}}, "measurements": [SCORE]}
    )

    assert [metric_key(line) for line in lines] == ["latency:median:ns", "score:geomean:s"]


@pytest.mark.parametrize(
    ("primary", "listed", "spread"),
    [
        ("mean", "std", ("std", 12)),
        ("median", "std", ("mad", 24)),
        ("p95", "other", ("mad", 24)),
        ("mean", "other", ("mad", 24)),
        ("mad", "std", (None, None)),
    ],
)
def test_the_spread_is_the_one_that_belongs_to_the_statistic(
    primary: str, listed: str, spread: tuple[str | None, int | None]
) -> None:
    """A mean goes with its standard deviation, other statistics with the MAD, a spread with none."""
    timing = {"primaryStatistic": primary, "latencyNs": {"mean": 8130, "median": 8120, "p95": 8151, "mad": 24}}
    deviation = {"metric": "latency", "statistic": listed, "unit": "ns", "value": 12}

    found = primary_measurement({"timing": timing, "measurements": [deviation]})

    assert found is not None
    assert (found.spread_statistic, found.spread) == spread


def test_a_deviation_in_another_unit_is_no_spread() -> None:
    deviation = {"metric": "latency", "statistic": "std", "unit": "ms", "value": 12}

    found = primary_measurement({**with_latencies(mean=8120), "measurements": [deviation]})

    assert found is not None
    assert found.spread is None


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (353370, "353370"),
        (0.0023749119639396668, "0.0023749119639396668"),
        (3.2e-24, "3.2e-24"),
        (1e-7, "1e-7"),
        (1e-6, "0.000001"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1.5e300, "1.5e+300"),
        (-0.0, "0"),
        (-12.50, "-12.5"),
        (9007199254740991, "9007199254740991"),
        (Decimal("12345678901234567890123.456789012345678901"), "1.2345678901234567890123456789012345678901e+22"),
        (Decimal("0.1234567890123456789012345678901234567890"), "0.123456789012345678901234567890123456789"),
    ],
)
def test_numbers_have_one_exact_text(number: float | Decimal, text: str) -> None:
    assert decimal_text(decimal_of(number)) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_has_the_text_of_rfc_8785_and_comes_back_from_it(number: float) -> None:
    text = decimal_text(decimal_of(number))

    assert text == rfc8785.dumps(number).decode()
    assert float(text) == number


@given(st.decimals(allow_nan=False, allow_infinity=False), st.integers(0, 40))
def test_equal_values_have_equal_text_and_the_text_is_exact(value: Decimal, zeros: int) -> None:
    sign, digits, exponent = value.as_tuple()
    same = Decimal((sign, (*digits, *(0,) * zeros), int(exponent) - zeros))

    assert decimal_text(same) == decimal_text(value)
    assert Decimal(decimal_text(value)) == value


@pytest.mark.parametrize("number", [float("nan"), float("inf"), Decimal("-Infinity")])
def test_what_is_no_number_is_refused(number: float | Decimal) -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        decimal_of(number)


def test_text_of_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        decimal_text(Decimal("NaN"))


@pytest.mark.parametrize(
    ("metric", "unit", "lower"),
    [
        ("latency", "ns", True),
        ("score", "s", True),
        ("score", "us", True),
        ("anything", "ms", True),
        ("memory", "mb", True),
        ("throughput", "tokens_per_s", False),
        ("bandwidth", "gb_s", False),
        ("anything", "tflops", False),
        ("anything", "gbps", False),
        ("speedup", "x", False),
        ("sol_score", "ratio", False),
        ("score", "points", False),
    ],
)
def test_each_metric_has_its_direction(metric: str, unit: str, *, lower: bool) -> None:
    assert lower_is_better(metric, unit) is lower
