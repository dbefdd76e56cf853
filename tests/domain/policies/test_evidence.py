"""``evidence-v1`` of a record's own facts."""

import itertools
from typing import Any

import pytest

from domain.policies.evidence import (
    EvidenceFact,
    EvidenceLevel,
    RecordFacts,
    assess,
    has_raw_evidence,
    record_facts,
    source_available,
)

FILE = {"uri": "https://example.invalid/f", "digest": "sha256:" + "0" * 64}
REVISION = {"repository": "https://example.invalid/r", "commit": "b81d40e0" * 5}
OWN_FACTS = (EvidenceFact.REFERENCES_RESOLVED, EvidenceFact.SOURCE_AVAILABLE, EvidenceFact.RAW_EVIDENCE)


def test_levels_are_ordered_from_reported_to_replicated() -> None:
    assert sorted(EvidenceLevel, key=lambda level: level.ordinal) == [
        EvidenceLevel.REPORTED,
        EvidenceLevel.REPRODUCIBLE,
        EvidenceLevel.VERIFIED,
        EvidenceLevel.REPLICATED,
    ]
    assert [level.ordinal for level in EvidenceLevel] == [0, 1, 2, 3]


@pytest.mark.parametrize("held", list(itertools.product([False, True], repeat=3)))
def test_only_all_three_facts_make_a_record_reproducible(held: tuple[bool, bool, bool]) -> None:
    resolved, source, raw = held

    evidence = assess(RecordFacts(references_resolved=resolved, source_available=source, raw_evidence=raw))

    assert evidence.missing == tuple(fact for fact, holds in zip(OWN_FACTS, held, strict=True) if not holds)
    if all(held):
        assert evidence.level is EvidenceLevel.REPRODUCIBLE
        assert evidence.reasons == (EvidenceFact.SOURCE_CLAIM, *OWN_FACTS)
    else:
        assert evidence.level is EvidenceLevel.REPORTED
        assert evidence.reasons == (EvidenceFact.SOURCE_CLAIM,)


@pytest.mark.parametrize("contested", [False, True])
def test_a_dispute_shows_as_contested_and_lowers_none_of_the_two_first_levels(*, contested: bool) -> None:
    facts = RecordFacts(references_resolved=True, source_available=True, raw_evidence=True, contested=contested)

    evidence = assess(facts)

    assert (evidence.level, evidence.contested) == (EvidenceLevel.REPRODUCIBLE, contested)


@pytest.mark.parametrize(
    ("spec", "available"),
    [
        (None, False),
        ({"projectRevision": {"version": "submission-17401"}}, False),
        ({"projectRevision": {"repository": REVISION["repository"]}}, False),
        ({"projectRevision": {"commit": REVISION["commit"]}}, False),
        ({"projectRevision": REVISION}, True),
        ({"projectRevision": {"version": "1"}, "source": {"contentDigest": FILE["digest"]}}, True),
    ],
)
def test_source_is_available_by_content_digest_or_by_repository_and_commit(
    spec: dict[str, Any] | None, *, available: bool
) -> None:
    assert source_available(spec) is available


@pytest.mark.parametrize(
    ("spec", "raw"),
    [
        ({}, False),
        ({"timing": {"primaryStatistic": "mean", "latencyNs": {}}, "evidence": {}}, False),
        ({"evidence": {"harness": REVISION}}, False),
        ({"evidence": {"logs": FILE}}, True),
        ({"evidence": {"rawSamples": FILE}}, True),
        ({"timing": {"rawSamples": FILE}}, True),
    ],
)
def test_raw_evidence_is_samples_or_logs_and_not_the_harness(spec: dict[str, Any], *, raw: bool) -> None:
    assert has_raw_evidence(spec) is raw


def test_the_facts_of_a_record_are_read_off_its_manifests() -> None:
    facts = record_facts({"evidence": {"logs": FILE}}, {"projectRevision": REVISION}, references_resolved=False)

    assert facts == RecordFacts(references_resolved=False, source_available=True, raw_evidence=True)
