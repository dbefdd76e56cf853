"""``rerun-v1``: what a controlled rerun says of a claim. It is computed from the two manifests, never declared.

With r = rerun / claim, oriented so that worse is above 1: below 0.8 not the same thing was measured; up to 1.05 the
claim holds; up to 1.10 it holds where both state a 95% interval and the two overlap; above it does not.
"""

from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Context, Decimal
from enum import StrEnum
from typing import Any, Final

import msgspec

from domain.facts import RerunOutcome
from domain.measurements import Measurement, decimal_text, lower_is_better, primary_measurement

VERSION: Final = "rerun-v1"

FASTEST: Final = Decimal("0.8")
SLOWEST: Final = Decimal("1.05")
SLOWEST_IN_DOUBT: Final = Decimal("1.10")
INCORRECT: Final = frozenset({"incorrect_shape", "incorrect_dtype", "incorrect_numerical"})
"""The statuses that say that the results were wrong."""

_SHOWN: Final = Context(prec=12, rounding=ROUND_HALF_EVEN)


class RerunReason(StrEnum):
    """Why an outcome is not what the ratio alone would say. A released name never changes its meaning."""

    HARDWARE_UNKNOWN = "HARDWARE_UNKNOWN"
    HARDWARE_DIFFERS = "HARDWARE_DIFFERS"
    INCORRECT_RESULT = "INCORRECT_RESULT"
    NOT_MEASURED = "NOT_MEASURED"
    NO_CLAIM = "NO_CLAIM"
    MEASUREMENT_DIFFERS = "MEASUREMENT_DIFFERS"
    FASTER_THAN_CLAIM = "FASTER_THAN_CLAIM"
    SLOWER_THAN_CLAIM = "SLOWER_THAN_CLAIM"


class Verdict(msgspec.Struct, frozen=True):
    """The outcome, the code of its reason where it has one, and the ratio for people (12 digits)."""

    outcome: RerunOutcome
    reason: RerunReason | None = None
    ratio: str | None = None


Spec = Mapping[str, Any]


def judge(claim: Spec, rerun: Spec, *, claim_environment: Spec | None, rerun_environment: Spec | None) -> Verdict:
    """The verdict on a claimed run by a rerun of the same implementation on the same workload.

    All are the ``spec`` of manifests; an environment is None where it is not registered.
    """
    if reason := _other_hardware(claim_environment, rerun_environment):
        return Verdict(RerunOutcome.INCONCLUSIVE, reason)
    if rerun["status"] in INCORRECT:
        return Verdict(RerunOutcome.CONTRADICTED, RerunReason.INCORRECT_RESULT)
    claimed, measured = primary_measurement(claim), primary_measurement(rerun)
    if rerun["status"] != "passed" or measured is None or measured.value <= 0:
        return Verdict(RerunOutcome.INCONCLUSIVE, RerunReason.NOT_MEASURED)
    if claimed is None or claimed.value <= 0:
        return Verdict(RerunOutcome.INCONCLUSIVE, RerunReason.NO_CLAIM)
    if _kind(claimed) != _kind(measured):
        return Verdict(RerunOutcome.INCONCLUSIVE, RerunReason.MEASUREMENT_DIFFERS)
    return _by_ratio(claimed, measured)


def _by_ratio(claimed: Measurement, measured: Measurement) -> Verdict:
    lower = lower_is_better(claimed.metric, claimed.unit)
    over, under = (measured.value, claimed.value) if lower else (claimed.value, measured.value)
    ratio = decimal_text(_SHOWN.divide(over, under))

    def at_most(limit: Decimal) -> bool:
        # Compared as products, which are exact, where a quotient may not be.
        return _EXACT.compare(over, _EXACT.multiply(limit, under)) <= 0

    if not at_most(SLOWEST) and not (at_most(SLOWEST_IN_DOUBT) and _overlap(claimed, measured)):
        return Verdict(RerunOutcome.CONTRADICTED, RerunReason.SLOWER_THAN_CLAIM, ratio)
    if _EXACT.compare(over, _EXACT.multiply(FASTEST, under)) < 0:
        return Verdict(RerunOutcome.INCONCLUSIVE, RerunReason.FASTER_THAN_CLAIM, ratio)
    return Verdict(RerunOutcome.CONFIRMED, None, ratio)


_EXACT: Final = Context(prec=2000)


def _overlap(one: Measurement, other: Measurement) -> bool:
    """Whether both state a closed 95% interval and the two have a point in common."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    return one.low <= other.high and other.low <= one.high


def _kind(measurement: Measurement) -> tuple[str, str, str]:
    return measurement.metric, measurement.statistic, measurement.unit


def _other_hardware(claimed: Spec | None, used: Spec | None) -> RerunReason | None:
    if claimed is None or used is None:
        return RerunReason.HARDWARE_UNKNOWN
    same = all(
        claimed["hardware"].get(field, default) == used["hardware"].get(field, default)
        for field, default in (("product", None), ("count", 1))
    )
    return None if same else RerunReason.HARDWARE_DIFFERS
