"""What a record says about correctness, and how its group compares, in words of our own."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from domain.measurements import decimal_of, decimal_text

ERRORS: Final = {
    "maximumAbsoluteError": "largest absolute error",
    "maximumRelativeError": "largest relative error",
    "matchedRatio": "matched ratio",
}
OUTCOMES: Final = {
    "incorrect_shape": "failed: an output has the wrong shape",
    "incorrect_dtype": "failed: an output has the wrong dtype",
    "incorrect_numerical": "failed: an output has the wrong values",
    "compile_error": "not checked: it did not compile",
    "runtime_error": "not checked: it failed while running",
    "timeout": "not checked: it ran out of time",
    "resource_exceeded": "not checked: it ran out of memory or another resource",
    "invalid_reference": "not checked: the reference itself is invalid",
    "policy_violation": "not accepted: it breaks a rule of the benchmark",
    "suspected_reward_hack": "not accepted: it is suspected of gaming the benchmark",
    "incomplete_evidence": "not accepted: its evidence is incomplete",
    "revoked": "revoked by those who reported it",
}


def correctness_text(run_spec: Mapping[str, Any]) -> str:
    """Whether the outputs were right, who says so and by what measure, as far as the run states it."""
    status, stated = run_spec["status"], run_spec.get("correctness")
    if status != "passed":
        outcome = OUTCOMES.get(status, f"not passed: {status.replace('_', ' ')}")
        return " · ".join([outcome, *(_measured(stated) if stated else ())])
    if stated:
        return " · ".join([f"passed under {stated['comparator']}", *_errors(stated)])
    if "sourceNative" in run_spec:
        return "passed by the source, whose correctness policy was not published"
    return "passed, without the measured errors being stated"


def comparison_text(profile: str) -> str:
    """The words for a profile (``STRICT_EXACT`` or ``SOURCE_NATIVE``)."""
    return "source-native comparison" if profile == "SOURCE_NATIVE" else "strict comparison"


def _measured(stated: Mapping[str, Any]) -> Iterator[str]:
    yield f"comparator {stated['comparator']}"
    yield from _errors(stated)


def _errors(stated: Mapping[str, Any]) -> Iterator[str]:
    return (f"{words} {decimal_text(decimal_of(stated[key]))}" for key, words in ERRORS.items() if key in stated)
