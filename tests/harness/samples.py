"""What samples say: the median and its interval, the other statistics, the ratio of pairs."""

import math
import statistics
from collections.abc import Sequence
from typing import Any

STATISTICS = ("median", "mean", "minimum", "maximum", "mad")


def interval_of_median(samples: Sequence[float]) -> tuple[float, float] | None:
    """The closed 95% interval of the median by order statistics, whatever the distribution; None below 6 samples."""
    ordered, count = sorted(samples), len(samples)
    below, rank = 0.0, 0
    while (below := below + math.comb(count, rank) / 2**count) <= 0.025:
        rank += 1
    return (ordered[rank - 1], ordered[count - rank]) if rank else None


def timing(samples: Sequence[float], primary: str) -> dict[str, Any]:
    """The ``timing`` of a manifest, from nanoseconds; ``primary`` is one of ``STATISTICS``."""
    middle = statistics.median(samples)
    latency: dict[str, Any] = {
        "median": round(middle),
        "mean": round(statistics.fmean(samples)),
        "minimum": round(min(samples)),
        "maximum": round(max(samples)),
        "mad": round(statistics.median(abs(sample - middle) for sample in samples)),
    }
    if primary == "median" and (interval := interval_of_median(samples)):
        latency["confidence95"] = [math.floor(interval[0]), math.ceil(interval[1])]
    return {"primaryStatistic": primary, "samples": len(samples), "latencyNs": latency}


def speedup(reference: Sequence[float], kernel: Sequence[float]) -> dict[str, Any]:
    """How many times as fast as the reference the kernel was, by the median of the pairs."""
    ratios = [slow / fast for slow, fast in zip(reference, kernel, strict=True)]
    value = round(statistics.median(ratios), 6)
    return {"metric": "speedup", "unit": "ratio", "statistic": "median", "value": value, "sampleCount": len(ratios)}
