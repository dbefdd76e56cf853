"""``evidence-v1``: how far a record can be trusted, derived from facts and never typed by anyone .

``REPORTED``: a traceable source claims it. ``REPRODUCIBLE``: every reference is resolved, the source code is available
and raw evidence exists. ``VERIFIED``: references are resolved, and a counting rerun confirmed it. ``REPLICATED``:
references are resolved, and two counting reruns that differ in operator, host and key confirmed it.

While a dispute is open or was upheld the record is contested; while one is open its level is at most ``REPRODUCIBLE``.
What people attest never counts.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

import msgspec

from domain.facts import RerunOutcome

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
    RERUN_CONFIRMED = "RERUN_CONFIRMED"
    DISPUTE_OPEN = "DISPUTE_OPEN"
    DISPUTE_UPHELD = "DISPUTE_UPHELD"


class RerunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded rerun and the runner that measured it. ``position`` is that of its ``RerunRecorded``.

    ``measurement`` is the digest of what it recorded: a copy of another rerun's result is no second one. ``trusted``
    says that the runner was approved when it recorded this and has not been suspended since; ``struck_out`` that a
    dispute which this rerun had opened was dismissed.
    """

    position: int
    outcome: RerunOutcome
    operator: str
    host: str
    key: str
    measurement: str = ""
    trusted: bool = True
    struck_out: bool = False


class RecordFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a record: of each fact the position since which it holds, None where it does not.

    ``parties`` are its submitter and its producer, whose own reruns do not count. New inputs of the policy come as
    fields with defaults.
    """

    claimed: int
    references_resolved: int | None
    source_available: int | None
    raw_evidence: int | None
    parties: frozenset[str] = frozenset()
    reruns: tuple[RerunFacts, ...] = ()
    dispute_open: int | None = None
    dispute_upheld: int | None = None


class Reason(NamedTuple):
    """A fact that a level rests on, and the position of the event since which it holds."""

    fact: EvidenceFact
    position: int


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A level, the facts that led to it, and those that are missing for the next one that needs no rerun."""

    level: EvidenceLevel
    contested: bool
    reasons: tuple[Reason, ...]
    missing: tuple[EvidenceFact, ...]


def source_available(implementation_spec: Mapping[str, Any]) -> bool:
    """Whether anyone can get the very source: it has a content digest, or a repository and a commit."""
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
    claimed: int,
    resolved: int | None,
    registered: int = 0,
) -> RecordFacts:
    """What a record's own manifests state: the claim at a position, its references ``resolved`` at another, if they
    are, its implementation ``registered`` at a third.
    """
    available = implementation_spec is not None and source_available(implementation_spec)
    return RecordFacts(
        claimed=claimed,
        references_resolved=resolved,
        source_available=registered if available else None,
        raw_evidence=claimed if has_raw_evidence(run_spec) else None,
    )


def assess(facts: RecordFacts) -> Evidence:
    """The level that the facts give. The reasons are only those that it rests on, in a fixed order."""
    needed = {
        EvidenceFact.REFERENCES_RESOLVED: facts.references_resolved,
        EvidenceFact.SOURCE_AVAILABLE: facts.source_available,
        EvidenceFact.RAW_EVIDENCE: facts.raw_evidence,
    }
    missing = tuple(fact for fact, position in needed.items() if position is None)
    level, led = _level(facts, {} if missing else needed)
    doubts = {EvidenceFact.DISPUTE_OPEN: facts.dispute_open, EvidenceFact.DISPUTE_UPHELD: facts.dispute_upheld}
    in_doubt = tuple(Reason(fact, position) for fact, position in doubts.items() if position is not None)
    return Evidence(
        level=level,
        contested=bool(in_doubt),
        reasons=(Reason(EvidenceFact.SOURCE_CLAIM, facts.claimed), *led, *in_doubt),
        missing=missing,
    )


def _level(
    facts: RecordFacts, reproducible: Mapping[EvidenceFact, int | None]
) -> tuple[EvidenceLevel, tuple[Reason, ...]]:
    confirmations = _confirmations(facts)
    if facts.references_resolved is not None and confirmations and facts.dispute_open is None:
        level = EvidenceLevel.REPLICATED if len(confirmations) > 1 else EvidenceLevel.VERIFIED
        resolved = Reason(EvidenceFact.REFERENCES_RESOLVED, facts.references_resolved)
        return level, (resolved, *(Reason(EvidenceFact.RERUN_CONFIRMED, one.position) for one in confirmations))
    if reproducible:
        return EvidenceLevel.REPRODUCIBLE, tuple(
            Reason(fact, position) for fact, position in reproducible.items() if position is not None
        )
    return EvidenceLevel.REPORTED, ()


def _confirmations(facts: RecordFacts) -> tuple[RerunFacts, ...]:
    """The first two counting reruns that confirmed it independently of each other; else the first one; else none."""
    counting: dict[tuple[str, ...], RerunFacts] = {}
    for rerun in facts.reruns:
        if rerun.outcome is RerunOutcome.CONFIRMED and _counts(rerun, facts):
            counting.setdefault(_marks(rerun), rerun)
    found = list(counting.values())
    for place, later in enumerate(found):
        for earlier in found[:place]:
            if all(one != other for one, other in zip(_marks(earlier), _marks(later), strict=True)):
                return earlier, later
    return tuple(found[:1])


def _marks(rerun: RerunFacts) -> tuple[str, ...]:
    """What two independent reruns differ in, every one of them."""
    return rerun.operator, rerun.host, rerun.key, rerun.measurement


def _counts(rerun: RerunFacts, facts: RecordFacts) -> bool:
    """Whether a rerun is evidence: by a trusted runner, of somebody else's claim, and no dispute took it back."""
    doubted = facts.dispute_upheld is not None and rerun.position < facts.dispute_upheld
    return rerun.trusted and not rerun.struck_out and not doubted and rerun.operator not in facts.parties
