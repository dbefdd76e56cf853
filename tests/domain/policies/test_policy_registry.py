"""Which policies this build can apply."""

from decimal import Decimal

import pytest

from domain.policies import EVIDENCE_POLICIES, POLICIES, RANKING_POLICIES, known
from domain.policies.evidence import EvidenceLevel, RecordFacts
from domain.policies.ranking import Entry


@pytest.mark.parametrize(("version", "is_known"), [("ranking-v1", True), ("evidence-v1", True), ("ranking-v2", False)])
def test_a_host_tells_the_versions_it_knows_from_those_it_does_not(version: str, *, is_known: bool) -> None:
    assert known(version) is is_known


def test_every_policy_is_filed_under_its_own_version_and_name() -> None:
    for name, versions in POLICIES.items():
        for version, policy in versions.items():
            assert policy.version == version
            assert version.startswith(f"{name}-v")


def test_the_ranking_policy_ranks_and_says_who_is_eligible() -> None:
    policy = RANKING_POLICIES["ranking-v1"]

    placed = policy.rank([Entry(run="a", value=Decimal(1))], profile="STRICT_EXACT", lower_is_better=True)
    reasons = policy.eligibility(
        "timeout", retracted=False, superseded=False, disputed=False, primary=None, unresolved=False
    )

    assert [(one.entry.run, one.rank) for one in placed] == [("a", 1)]
    assert reasons == ("STATUS_TIMEOUT", "MISSING_PRIMARY_METRIC")


def test_the_evidence_policy_gives_a_level() -> None:
    facts = RecordFacts(claimed=1, references_resolved=None, source_available=1, raw_evidence=1)

    assert EVIDENCE_POLICIES["evidence-v1"].assess(facts).level is EvidenceLevel.REPORTED
