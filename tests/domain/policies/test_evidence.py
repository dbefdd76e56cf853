"""``evidence-v1`` of a record's own facts."""

import itertools
from typing import Any

import msgspec
import pytest

from domain.facts import RerunOutcome
from domain.policies.evidence import (
    EvidenceFact,
    EvidenceLevel,
    RecordFacts,
    RerunFacts,
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
    resolved, source, raw = (position if holds else None for position, holds in enumerate(held, 2))

    evidence = assess(RecordFacts(claimed=1, references_resolved=resolved, source_available=source, raw_evidence=raw))

    assert evidence.missing == tuple(fact for fact, holds in zip(OWN_FACTS, held, strict=True) if not holds)
    if all(held):
        assert evidence.level is EvidenceLevel.REPRODUCIBLE
        assert evidence.reasons == tuple(zip((EvidenceFact.SOURCE_CLAIM, *OWN_FACTS), (1, 2, 3, 4), strict=True))
    else:
        assert evidence.level is EvidenceLevel.REPORTED
        assert evidence.reasons == ((EvidenceFact.SOURCE_CLAIM, 1),)


@pytest.mark.parametrize("doubt", ["dispute_open", "dispute_upheld"])
def test_a_dispute_shows_as_contested_and_lowers_none_of_the_two_first_levels(doubt: str) -> None:
    stated: dict[str, Any] = {doubt: 9}
    facts = RecordFacts(claimed=1, references_resolved=1, source_available=1, raw_evidence=1, **stated)

    evidence = assess(facts)

    assert (evidence.level, evidence.contested) == (EvidenceLevel.REPRODUCIBLE, True)
    assert evidence.reasons[-1] == (EvidenceFact[doubt.upper()], 9)


@pytest.mark.parametrize(
    ("spec", "available"),
    [
        ({"projectRevision": {"version": "submission-17401"}}, False),
        ({"projectRevision": {"repository": REVISION["repository"]}}, False),
        ({"projectRevision": {"commit": REVISION["commit"]}}, False),
        ({"projectRevision": REVISION}, True),
        ({"projectRevision": {"version": "1"}, "source": {"contentDigest": FILE["digest"]}}, True),
    ],
)
def test_source_is_available_by_content_digest_or_by_repository_and_commit(
    spec: dict[str, Any], *, available: bool
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
    run, implementation = {"evidence": {"logs": FILE}}, {"projectRevision": REVISION}

    facts = record_facts(run, implementation, claimed=7, resolved=None, registered=3)
    unregistered = record_facts(run, None, claimed=7, resolved=None)

    assert facts == RecordFacts(claimed=7, references_resolved=None, source_available=3, raw_evidence=7)
    assert unregistered.source_available is None


def confirmed(position: int, who: str = "a", *, host: str = "", key: str = "", **facts: Any) -> RerunFacts:
    """A confirming rerun by an operator with a host and a key of its own, unless they are named."""
    stated = {
        "outcome": RerunOutcome.CONFIRMED,
        "operator": who,
        "host": host or f"host-{who}",
        "key": key or f"key-{who}",
        "measurement": f"measured-{who}",
    }
    return RerunFacts(position=position, **{**stated, **facts})


def level_of(*reruns: RerunFacts, **facts: Any) -> EvidenceLevel:
    stated = {"claimed": 1, "references_resolved": 1, "source_available": None, "raw_evidence": None, **facts}
    return assess(RecordFacts(reruns=reruns, **stated)).level


class TestReruns:
    def test_one_that_confirmed_verifies_whatever_else_is_missing(self) -> None:
        assert level_of(confirmed(5)) is EvidenceLevel.VERIFIED

    def test_two_of_other_operators_hosts_and_keys_replicate(self) -> None:
        assert level_of(confirmed(5), confirmed(6, "b")) is EvidenceLevel.REPLICATED

    @pytest.mark.parametrize("same", ["operator", "host", "key", "measurement"])
    def test_two_that_share_an_operator_host_key_or_measurement_never_replicate(self, same: str) -> None:
        first = confirmed(5)
        second = msgspec.structs.replace(confirmed(6, "b"), **{same: getattr(first, same)})
        assert level_of(first, second) is EvidenceLevel.VERIFIED

    def test_independence_is_of_some_pair_not_of_the_first_two(self) -> None:
        second = confirmed(6, "b", key="key-a")
        evidence = assess(
            RecordFacts(
                claimed=1,
                references_resolved=2,
                source_available=None,
                raw_evidence=None,
                reruns=(confirmed(5), second, confirmed(7, "c")),
            )
        )
        assert evidence.level is EvidenceLevel.REPLICATED
        assert [reason.position for reason in evidence.reasons] == [1, 2, 5, 7]

    @pytest.mark.parametrize(
        "facts",
        [
            {"trusted": False},
            {"struck_out": True},
            {"outcome": RerunOutcome.CONTRADICTED},
            {"outcome": RerunOutcome.INCONCLUSIVE},
        ],
    )
    def test_one_that_does_not_count_lifts_nothing(self, facts: dict[str, Any]) -> None:
        assert level_of(confirmed(5, **facts)) is EvidenceLevel.REPORTED

    def test_an_operator_never_verifies_its_own_claim(self) -> None:
        assert level_of(confirmed(5), parties=frozenset({"a"})) is EvidenceLevel.REPORTED

    def test_nothing_counts_until_the_references_are_resolved(self) -> None:
        assert level_of(confirmed(5), references_resolved=None) is EvidenceLevel.REPORTED

    def test_an_open_dispute_holds_the_level_down_while_it_is_open(self) -> None:
        assert level_of(confirmed(5), dispute_open=6) is EvidenceLevel.REPORTED
        whole = {"source_available": 1, "raw_evidence": 1}
        assert level_of(confirmed(5), dispute_open=6, **whole) is EvidenceLevel.REPRODUCIBLE

    def test_an_upheld_one_takes_back_the_confirmations_before_it_only(self) -> None:
        assert level_of(confirmed(5), dispute_upheld=6) is EvidenceLevel.REPORTED
        assert level_of(confirmed(5), confirmed(7, "b"), dispute_upheld=6) is EvidenceLevel.VERIFIED
