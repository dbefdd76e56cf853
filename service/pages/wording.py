"""Codes in words, for readers who know the field and not this index."""

from collections.abc import Mapping
from typing import Final

LEVELS: Final[Mapping[str, str]] = {
    "REPORTED": "A traceable source claims it; nobody has measured it again under control.",
    "REPRODUCIBLE": "All that it refers to is registered, the source code can be had, and raw evidence is published.",
    "VERIFIED": "A controlled rerun, not by those who reported it, confirmed it.",
    "REPLICATED": "Two controlled reruns that share neither operator nor host nor key confirmed it.",
}
FACTS: Final[Mapping[str, str]] = {
    "SOURCE_CLAIM": "a traceable source claims it",
    "REFERENCES_RESOLVED": "all that it refers to is registered",
    "SOURCE_AVAILABLE": "the source code can be had",
    "RAW_EVIDENCE": "raw samples or logs are published",
    "RERUN_CONFIRMED": "a controlled rerun confirmed it",
    "DISPUTE_OPEN": "a dispute about it is open",
    "DISPUTE_UPHELD": "a dispute about it was upheld",
}
REASONS: Final[Mapping[str, str]] = {
    "RETRACTED": "it is retracted",
    "SUPERSEDED": "another run stands in its place",
    "DISPUTED": "a dispute that keeps it out of rankings is open",
    "MISSING_PRIMARY_METRIC": "it states no measurement to rank it by",
    "NONPOSITIVE_PRIMARY": "its measurement is not above zero",
    "REFERENCE_UNRESOLVED": "something that it refers to is not registered here",
}
ATTESTED: Final[Mapping[str, str]] = {
    "REPRODUCED": "reproduced it",
    "COULD_NOT_REPRODUCE": "could not reproduce it",
    "ENVIRONMENT_NOTE": "notes on the environment",
    "REGRESSION_OBSERVED": "observed a regression",
}
ISSUES: Final[Mapping[str, str]] = {
    "INCORRECT_RESULT": "the result is wrong",
    "WRONG_ATTRIBUTION": "the wrong people or project are named",
    "LICENSE": "a licence is violated or wrong",
    "COMPARABILITY": "it does not compare with its group",
    "OTHER": "something else",
}
ASPECTS: Final[Mapping[str, str]] = {
    "RANK": "rank",
    "LEADER": "leader of its group",
    "EVIDENCE_LEVEL": "evidence level",
    "CONTESTED": "contested",
    "ATTESTATION": "attestation",
    "ATTESTATION_HIDDEN": "attestation hidden",
    "RETRACTION": "retracted",
    "SUPERSESSION": "superseded",
    "PREDECESSOR": "takes the place of a run",
    "DISPUTE": "dispute",
    "METADATA": "editorial part revised",
}
DISPUTED: Final[Mapping[str, str]] = {
    "OPEN": "opened",
    "BLOCKING": "opened, which keeps it out of rankings",
    "DISMISSED": "dismissed",
    "UPHELD": "upheld",
    "CORRECTED": "ended by a correction",
}
STYLES: Final = (("apa", "APA"), ("chicago", "Chicago"), ("ieee", "IEEE"), ("acm", "ACM"), ("nature", "Nature"))


def reason(code: str) -> str:
    """Why a run is not ranked."""
    return REASONS.get(code) or f"its status is {code.removeprefix('STATUS_').replace('_', ' ').lower()}"
