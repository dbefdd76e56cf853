"""What a run measured: exact values, which of them is the primary one, and which way is better.

Specs are those of accepted manifests: durations are already integer nanoseconds.
"""

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

import msgspec

TIMING_STATISTICS: Final = ("median", "mean", "minimum", "p05", "p95", "maximum", "mad")
SPREADS_OF_MEAN: Final = ("std", "stddev", "mad")
SPREADS_OF_OTHERS: Final = ("mad", "std", "stddev")

_LATENCY: Final = ("latency", "ns")
"""Metric and unit of everything in ``timing``."""

TIME_UNITS: Final = frozenset({"fs", "ps", "ns", "us", "µs", "ms", "s", "min", "h"})
RATE_UNIT_ENDINGS: Final = ("flops", "tops", "bps", "_s", "_per_sec", "_per_second", "hz")
HIGHER_IS_BETTER: Final = frozenset(
    {
        "accuracy",
        "avg_speedup",
        "bandwidth",
        "efficiency",
        "flops",
        "gflops",
        "goodput",
        "matched_ratio",
        "mfu",
        "occupancy",
        "sol_score",
        "speedup",
        "speedup_factor",
        "tflops",
        "throughput",
        "utilization",
    }
)
LOWER_IS_BETTER: Final = frozenset({"duration", "energy", "error", "latency", "memory", "power", "runtime", "time"})


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """One measured value, exact, in ``unit``; ``low``, ``high`` and ``spread`` are in the same unit.

    ``low`` and ``high`` are the two ends of the closed 95% interval, both or neither, and ``low <= value <= high``.
    ``spread`` is given with the primary measurement only, the other values being lines of their own beside it.
    """

    metric: str
    statistic: str
    unit: str
    value: Decimal
    sample_count: int | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    spread: Decimal | None = None
    spread_statistic: str | None = None


class Spread(NamedTuple):
    """How far the values behind a statistic scatter, and which statistic says so."""

    value: Decimal
    statistic: str


def decimal_of(number: float | Decimal) -> Decimal:
    """The exact value that a manifest's number states: of a float, of its shortest text (RFC 8785), not of its bits."""
    value = number if isinstance(number, Decimal) else Decimal(repr(number))
    if not value.is_finite():
        raise ValueError(f"{number!r} is not a finite number")
    return value


def decimal_text(value: Decimal) -> str:
    """The one text of a value: as RFC 8785 writes numbers (``3.2e-24``), with every digit. Equal values, equal text."""
    if not value.is_finite():
        raise ValueError(f"{value} is not a finite number")
    if not value:
        return "0"
    if -6 <= value.adjusted() <= 20:
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    negative, digit_tuple, exponent = value.as_tuple()
    digits = "".join(map(str, digit_tuple)).lstrip("0")
    point = len(digits) + int(exponent)
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    return ("-" if negative else "") + _placed(digits, point)


def _placed(digits: str, point: int) -> str:
    """The digits with the decimal point after ``point`` of them, by the cases of ECMAScript's Number::toString."""
    if len(digits) <= point <= 21:
        return digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + digits.rjust(len(digits) - point, "0")
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{mantissa}e{point - 1:+d}"


def primary_measurement(run_spec: Mapping[str, Any]) -> Measurement | None:
    """The measurement by which a run is ranked and cited, or None.

    With ``timing``: the latency under its ``primaryStatistic``, and where that is absent none, never another statistic
    in its place. Else the first of ``measurements``.
    """
    first = _primary(run_spec)
    spread = _spread(first, run_spec) if first else None
    if first is None or spread is None:
        return first
    return msgspec.structs.replace(first, spread=spread.value, spread_statistic=spread.statistic)


def primary_metric_key(run_spec: Mapping[str, Any]) -> str:
    """The :func:`metric_key` of the run's primary measurement."""
    return metric_key(_primary(run_spec))


def measurements(run_spec: Mapping[str, Any]) -> list[Measurement]:
    """Everything measured: the primary one first, the other timing statistics, then ``measurements`` as listed.

    What states a metric, statistic and unit again is left out: the first one stands.
    """
    timing = run_spec.get("timing")
    primary = primary_measurement(run_spec)
    found: dict[str, Measurement] = {metric_key(primary): primary} if primary else {}
    for line in (*(_timed(timing) if timing is not None else ()), *_listed(run_spec)):
        found.setdefault(metric_key(line), line)
    return list(found.values())


def metric_key(measurement: Measurement | None) -> str:
    """``metric:statistic:unit``, or ``none``: the part of the comparison key that says what was measured."""
    return f"{measurement.metric}:{measurement.statistic}:{measurement.unit}" if measurement else "none"


def lower_is_better(metric: str, unit: str) -> bool:
    """The direction in which a metric is ranked.

    A metric that the registry names has its direction whatever the unit. Else the unit decides: a time is better when
    lower, a rate (``tflops``, ``gb_s``, ``tokens_per_s``) when higher. Else a ``score`` is better when higher and
    anything else is a cost, better when lower.
    """
    if metric in HIGHER_IS_BETTER:
        return False
    if metric in LOWER_IS_BETTER or unit in TIME_UNITS:
        return True
    return not (unit.endswith(RATE_UNIT_ENDINGS) or metric == "score" or metric.endswith("_score"))


def ratio_to_best(value: Decimal, best: Decimal, *, lower_is_better: bool) -> float | None:
    """How far behind the best value: 1 for the best, above 1 for worse ones. None where no number says it."""
    worse, better = (value, best) if lower_is_better else (best, value)
    ratio = float(worse / better) if better else math.inf
    return ratio if math.isfinite(ratio) else None


def _primary(run_spec: Mapping[str, Any]) -> Measurement | None:
    timing = run_spec.get("timing")
    first = next(_listed(run_spec) if timing is None else _timed(timing), None)
    return first if first is None or timing is None or first.statistic == timing["primaryStatistic"] else None


def _timed(timing: Mapping[str, Any]) -> Iterator[Measurement]:
    """The latencies of ``timing``, the primary statistic first if it is there. Only that one has the interval."""
    latencies = timing["latencyNs"]
    primary = timing["primaryStatistic"]
    names = [*TIMING_STATISTICS, *sorted(set(latencies) - {*TIMING_STATISTICS, "confidence95"})]
    for name in sorted((name for name in names if name in latencies), key=lambda name: name != primary):
        value = decimal_of(latencies[name])
        low, high = _interval(latencies, value) if name == primary else (None, None)
        yield Measurement(
            metric=_LATENCY[0],
            statistic=name,
            unit=_LATENCY[1],
            value=value,
            sample_count=timing.get("samples"),
            low=low,
            high=high,
        )


def _interval(latencies: Mapping[str, Any], value: Decimal) -> tuple[Decimal, Decimal] | tuple[None, None]:
    ends = [decimal_of(end) for end in latencies.get("confidence95", ())]
    return (ends[0], ends[1]) if len(ends) == 2 and ends[0] <= value <= ends[1] else (None, None)


def _listed(run_spec: Mapping[str, Any]) -> Iterator[Measurement]:
    for entry in run_spec.get("measurements", ()):
        yield Measurement(
            metric=entry["metric"],
            statistic=entry["statistic"],
            unit=entry["unit"],
            value=decimal_of(entry["value"]),
            sample_count=entry.get("sampleCount"),
        )


def _spread(primary: Measurement, run_spec: Mapping[str, Any]) -> Spread | None:
    """The scatter that a reader expects beside a value: of a mean the standard deviation, of any other statistic (a
    median, say) the median absolute deviation, else whichever of them the run states of that metric in that unit.
    """
    if primary.statistic in SPREADS_OF_MEAN:
        return None
    timing = run_spec.get("timing")
    latencies = timing["latencyNs"] if timing is not None and (primary.metric, primary.unit) == _LATENCY else {}
    for name in SPREADS_OF_MEAN if primary.statistic == "mean" else SPREADS_OF_OTHERS:
        if name in latencies:
            return Spread(decimal_of(latencies[name]), name)
        for line in _listed(run_spec):
            if (line.metric, line.unit, line.statistic) == (primary.metric, primary.unit, name):
                return Spread(line.value, name)
    return None
