"""Durations, values with units, and source metrics as people read them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.display.quantities import (
    SourceMetric,
    format_ns,
    format_value,
    rounded,
    source_metrics,
    source_metrics_text,
)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        ("0", "0 ns"),
        ("1", "1 ns"),
        ("999", "999 ns"),
        ("1000", "1.00 µs"),
        ("8120", "8.12 µs"),
        ("10000", "10.0 µs"),
        ("353370", "353.4 µs"),
        ("999949", "999.9 µs"),
        ("1000000", "1.00 ms"),
        ("13634148", "13.6 ms"),
        ("999949999", "999.9 ms"),
        ("1000000000", "1.00 s"),
        ("2147483648", "2.15 s"),
        ("5400000000000", "5400.0 s"),
    ],
)
def test_a_duration_is_shown_in_the_unit_below_which_it_falls(ns: str, text: str) -> None:
    assert format_ns(Decimal(ns)) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        ("1005", "1.01 µs"),
        ("1015", "1.02 µs"),
        ("1025", "1.03 µs"),
        ("12250", "12.3 µs"),
        ("12350", "12.4 µs"),
        ("12249.999", "12.2 µs"),
    ],
)
def test_halves_are_rounded_up_on_exact_decimals(ns: str, text: str) -> None:
    """A float of 1.005 lies below the half, and banker's rounding would take 12.25 down."""
    assert format_ns(Decimal(ns)) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [("9995", "10.00 µs"), ("999950", "1000.0 µs"), ("999999", "1000.0 µs"), ("999950000", "1000.0 ms")],
)
def test_unit_and_decimals_follow_from_the_value_before_rounding(ns: str, text: str) -> None:
    assert format_ns(Decimal(ns)) == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [("512.0", "512 ns"), ("512.25", "512.3 ns"), ("3.215", "3.22 ns"), ("0.005", "0.01 ns"), ("3.2e-15", "<0.01 ns")],
)
def test_a_fraction_of_a_nanosecond_is_never_shown_as_zero(ns: str, text: str) -> None:
    assert format_ns(Decimal(ns)) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        ("353370", "ns", "353.4 µs"),
        ("0.0023749119639396668", "s", "2.37 ms"),
        ("0.000010048658277929109", "s", "10.0 µs"),
        ("3.2e-24", "s", "<0.01 ns"),
        ("0.0123", "ms", "0.0123 ms"),
        ("12.50", "tflops", "12.5 tflops"),
        ("36.02392578125", "mb", "36.02392578125 mb"),
    ],
)
def test_seconds_are_shown_as_durations_and_other_units_as_reported(value: str, unit: str, text: str) -> None:
    assert format_value(Decimal(value), unit) == text


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["ns", "s", "ms", "gb_s"]))
def test_every_value_that_a_manifest_can_state_has_a_short_text(value: float, unit: str) -> None:
    assert 0 < len(format_value(Decimal(repr(value)), unit)) < 60


@given(st.decimals(min_value=0, max_value=10**9, places=6), st.integers(0, 4))
def test_rounding_moves_a_value_by_at_most_half_of_the_last_place(value: Decimal, places: int) -> None:
    assert abs(Decimal(rounded(value, places)) - value) <= Decimal(1).scaleb(-places) / 2


def test_known_metrics_come_first_in_their_own_words_and_the_rest_by_key() -> None:
    metrics = {
        "zeta": 1.50,
        "fast_1_total": 16,
        "latency_ms": 0.35337,
        "fast_1_count": 15,
        "alpha": 3,
        "avg_speedup": 7.165,
        "sol_score": 0.90625,
        "reference_latency_ms": 1.2,
    }

    assert source_metrics_text(metrics) == "SOL 0.9063 · 7.17× reference · 15/16 cases faster · alpha 3 · zeta 1.5"


def test_every_metric_is_listed_with_its_exact_value_shown_or_not() -> None:
    assert source_metrics({"latency_ms": 0.35337, "fast_1_total": 16, "fast_1_count": 4, "best_ns": 14150}) == [
        SourceMetric("fast_1_count", "4", "4/16 cases faster"),
        SourceMetric("best_ns", "14150", "best_ns 14150"),
        SourceMetric("fast_1_total", "16", None),
        SourceMetric("latency_ms", "0.35337", None),
    ]


def test_the_speedup_factor_stands_in_only_where_there_is_no_average_speedup() -> None:
    assert source_metrics_text({"speedup_factor": 1.005}) == "1.01× reference"
    assert source_metrics_text({"speedup_factor": 2, "avg_speedup": 3}) == "3.00× reference · speedup_factor 2"


def test_a_count_without_its_total_is_shown_as_any_other_metric() -> None:
    assert source_metrics_text({"fast_1_count": 4}) == "fast_1_count 4"


@pytest.mark.parametrize("metrics", [{}, {"latency_ms": 0.35337, "reference_latency_ms": 1}])
def test_nothing_to_show_is_none(metrics: dict[str, float]) -> None:
    assert source_metrics_text(metrics) is None
