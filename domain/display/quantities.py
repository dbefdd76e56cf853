"""Values as people read them. Half up, on exact decimals."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final, NamedTuple

from domain.measurements import decimal_of, decimal_text

NS_PER_S: Final = 9
DURATION_UNITS: Final = ((9, "s"), (6, "ms"), (3, "µs"))
LONGEST_PLAIN: Final = Decimal("1e21")
EXACT: Final = Context(prec=400, rounding=ROUND_HALF_UP, Emin=-9999, Emax=9999)

SPEEDUPS: Final = ("avg_speedup", "speedup_factor")
CASES_FASTER: Final = ("fast_1_count", "fast_1_total")
SHOWN_AS_LATENCY: Final = frozenset({"latency_ms", "reference_latency_ms"})


class SourceMetric(NamedTuple):
    """A metric as its source reported it: exact ``value`` text, and ``text`` as shown, None where it is not shown."""

    key: str
    value: str
    text: str | None


def rounded(value: Decimal, places: int) -> str:
    """The value with that many decimals, half up. From 1e21 on as JSON writes it: no one reads more digits."""
    if value.copy_abs() >= LONGEST_PLAIN:
        return decimal_text(value)
    return f"{value.quantize(Decimal(1).scaleb(-places), context=EXACT):f}"


def format_ns(value: Decimal) -> str:
    """A duration in nanoseconds as ``512 ns``, ``353.4 µs``, ``13.6 ms`` or ``2.15 s``.

    The unit and the number of decimals follow from the value before it is rounded, so ``999.95 µs`` is shown as
    ``1000.0 µs`` and ``9.999 ms`` as ``10.00 ms``: the unit then never says a millisecond of what is below one. Under
    1,000 ns a whole number stays whole; what is not (a score in seconds can be so) follows the rule of decimals,
    and what would show as zero without being it is ``<0.01 ns``.
    """
    size = value.copy_abs()
    for exponent, unit in DURATION_UNITS:
        if size >= Decimal(1).scaleb(exponent):
            return f"{_scaled(value.scaleb(-exponent, context=EXACT))} {unit}"
    if value == value.to_integral_value(context=EXACT):
        return f"{decimal_text(value)} ns"
    if size < Decimal("0.005"):
        return "<0.01 ns"
    return f"{_scaled(value)} ns"


def format_value(value: Decimal, unit: str) -> str:
    """A value with its unit: nanoseconds and seconds as durations, all else exactly as reported."""
    if unit == "ns":
        return format_ns(value)
    if unit == "s":
        return format_ns(value.scaleb(NS_PER_S, context=EXACT))
    return f"{decimal_text(value)} {unit}"


def source_metrics(metrics: Mapping[str, int | float]) -> list[SourceMetric]:
    """Every metric that a source reported, first those shown: SOL score, speedup, cases faster, the rest by key.

    Not shown are latencies in milliseconds (the run's own latency says it exactly) and the total that the text of cases
    faster holds.
    """
    exact = {key: decimal_of(number) for key, number in metrics.items()}
    texts: dict[str, str | None] = dict(_texts(exact))
    for key in sorted(exact.keys() - texts.keys()):
        texts[key] = None if key in SHOWN_AS_LATENCY else f"{key} {decimal_text(exact[key])}"
    shown_first = sorted(texts, key=lambda key: texts[key] is None)
    return [SourceMetric(key, decimal_text(exact[key]), texts[key]) for key in shown_first]


def source_metrics_text(metrics: Mapping[str, int | float]) -> str | None:
    """The metrics on one line, ``SOL 0.9062 · 7.17× reference · 16/16 cases faster``, or None where there are none."""
    return shown_metrics(source_metrics(metrics))


def shown_metrics(metrics: Iterable[SourceMetric]) -> str | None:
    """The texts of these metrics on one line, or None where none is shown."""
    return " · ".join(metric.text for metric in metrics if metric.text is not None) or None


def _scaled(value: Decimal) -> str:
    return rounded(value, 2 if value.copy_abs() < 10 else 1)


def _texts(exact: Mapping[str, Decimal]) -> Iterator[tuple[str, str | None]]:
    """The metrics that have wording of their own."""
    if "sol_score" in exact:
        yield "sol_score", f"SOL {rounded(exact['sol_score'], 4)}"
    speedup = next((key for key in SPEEDUPS if key in exact), None)
    if speedup is not None:
        yield speedup, f"{rounded(exact[speedup], 2)}× reference"
    count, total = CASES_FASTER
    if count in exact and total in exact:
        yield count, f"{decimal_text(exact[count])}/{decimal_text(exact[total])} cases faster"
        yield total, None
