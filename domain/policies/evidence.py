"""``evidence-v1``: how far a record can be trusted, derived from facts and never typed by anyone (DESIGN section 4)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

VERSION: Final = "evidence-v1"


class EvidenceLevel(StrEnum):
    """The levels, worst first. No level needs the one below it."""

    REPORTED = "REPORTED"
    REPRODUCIBLE = "REPRODUCIBLE"
    VERIFIED = "VERIFIED"
    REPLICATED = "REPLICATED"

    @property
    def ordinal(self) -> int:
        """From 0; higher is better."""
        return ORDINALS[self]


ORDINALS: Final[Mapping[EvidenceLevel, int]] = {level: ordinal for ordinal, level in enumerate(EvidenceLevel)}


class EvidenceFact(StrEnum):
    """What a level can rest on. A released name never changes its meaning."""

    SOURCE_CLAIM = "SOURCE_CLAIM"
    REFERENCES_RESOLVED = "REFERENCES_RESOLVED"
    SOURCE_AVAILABLE = "SOURCE_AVAILABLE"
    RAW_EVIDENCE = "RAW_EVIDENCE"


class RecordFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a record. New inputs of the policy come as fields with defaults.

    ``contested`` says that a dispute about it is open or was upheld.
    """

    references_resolved: bool
    source_available: bool
    raw_evidence: bool
    contested: bool = False


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A level, the facts that led to it, and those that are missing for the next one that needs no rerun.

    Who reads the log attaches the position at which each fact came to hold.
    """

    level: EvidenceLevel
    contested: bool
    reasons: tuple[EvidenceFact, ...]
    missing: tuple[EvidenceFact, ...]


def source_available(implementation_spec: Mapping[str, Any] | None) -> bool:
    """Whether anyone can get the very source: it has a content digest, or a repository and a commit.

    False for an implementation that is not registered.
    """
    if implementation_spec is None:
        return False
    revision = implementation_spec.get("projectRevision", {})
    return bool(
        implementation_spec.get("source", {}).get("contentDigest")
        or (revision.get("repository") and revision.get("commit"))
    )


def has_raw_evidence(run_spec: Mapping[str, Any]) -> bool:
    """Whether the run names its raw samples or logs."""
    evidence = run_spec.get("evidence", {})
    return "rawSamples" in run_spec.get("timing", {}) or "rawSamples" in evidence or "logs" in evidence


def record_facts(
    run_spec: Mapping[str, Any],
    implementation_spec: Mapping[str, Any] | None,
    *,
    references_resolved: bool,
    contested: bool = False,
) -> RecordFacts:
    """The facts that a record's own manifests state."""
    return RecordFacts(
        references_resolved=references_resolved,
        source_available=source_available(implementation_spec),
        raw_evidence=has_raw_evidence(run_spec),
        contested=contested,
    )


def assess(facts: RecordFacts) -> Evidence:
    """The level that the facts give. The reasons are only those that the level rests on, in a fixed order."""
    needed = {
        EvidenceFact.REFERENCES_RESOLVED: facts.references_resolved,
        EvidenceFact.SOURCE_AVAILABLE: facts.source_available,
        EvidenceFact.RAW_EVIDENCE: facts.raw_evidence,
    }
    missing = tuple(fact for fact, holds in needed.items() if not holds)
    return Evidence(
        level=EvidenceLevel.REPORTED if missing else EvidenceLevel.REPRODUCIBLE,
        contested=facts.contested,
        reasons=(EvidenceFact.SOURCE_CLAIM, *(() if missing else needed)),
        missing=missing,
    )
