"""Every code that a page may meet has words, and words stand for nothing that there isn't."""

from collections.abc import Collection, Mapping

import pytest

from domain.facts import AttestationType, DisputeOutcome, IssueCategory
from domain.policies.evidence import EvidenceFact, EvidenceLevel
from domain.policies.ranking import Ineligible
from service.api.schema import built_schema
from service.pages import wording

schema = built_schema()

ASPECTS = schema._schema.type_map["CitedAspect"].values  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        (wording.LEVELS, EvidenceLevel),
        (wording.FACTS, EvidenceFact),
        (wording.REASONS, Ineligible),
        (wording.ATTESTED, AttestationType),
        (wording.ISSUES, IssueCategory),
        (wording.ASPECTS, ASPECTS),
        (wording.DISPUTED, ["OPEN", "BLOCKING", *DisputeOutcome]),
    ],
    ids=["levels", "facts", "reasons", "attested", "issues", "aspects", "disputes"],
)
def test_every_code_has_words(words: Mapping[str, str], codes: Collection[str]) -> None:
    assert set(words) == set(codes)


def test_a_status_is_a_reason_too() -> None:
    assert wording.reason("STATUS_RUNTIME_ERROR") == "its status is runtime error"
