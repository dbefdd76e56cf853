"""What people say about runs: attestations and issues. Neither edits a record nor moves its evidence level.

People's words carry a random salt, so that nobody can find out an erased one by trying.
"""

from enum import StrEnum

from domain.facts.base import Fact


class AttestationType(StrEnum):
    """What somebody attests. A released name never changes its meaning."""

    REPRODUCED = "REPRODUCED"
    COULD_NOT_REPRODUCE = "COULD_NOT_REPRODUCE"
    ENVIRONMENT_NOTE = "ENVIRONMENT_NOTE"
    REGRESSION_OBSERVED = "REGRESSION_OBSERVED"


class AttestationFiled(Fact, frozen=True, kw_only=True):
    """Somebody says what became of trying the run. ``observed_value`` is exact decimal text in ``observed_unit``."""

    attestation: str
    run: str
    type: AttestationType
    note: str
    salt: str
    evidence_url: str | None = None
    observed_value: str | None = None
    observed_unit: str | None = None
    environment: str | None = None

    @property
    def stream(self) -> str:
        return f"attestation/{self.attestation}"

    @property
    def concerns(self) -> tuple[str, ...]:
        return (self.run,)


class AttestationHidden(Fact, frozen=True, kw_only=True):
    """A moderator took an attestation off the pages. It stays in the log and counts no more."""

    attestation: str
    reason: str

    @property
    def stream(self) -> str:
        return f"attestation/{self.attestation}"


class IssueCategory(StrEnum):
    """What is wrong with a record. A released name never changes its meaning."""

    INCORRECT_RESULT = "INCORRECT_RESULT"
    WRONG_ATTRIBUTION = "WRONG_ATTRIBUTION"
    LICENSE = "LICENSE"
    COMPARABILITY = "COMPARABILITY"
    OTHER = "OTHER"


class IssueReported(Fact, frozen=True, kw_only=True):
    """Somebody, perhaps without a key, says that something is wrong with a run."""

    issue: str
    run: str
    category: IssueCategory
    text: str
    salt: str

    @property
    def stream(self) -> str:
        return f"issue/{self.issue}"

    @property
    def concerns(self) -> tuple[str, ...]:
        return (self.run,)


class IssueOutcome(StrEnum):
    """What an issue ended in. A released name never changes its meaning."""

    CORRECTED = "CORRECTED"
    DISPUTED = "DISPUTED"
    NOTED = "NOTED"


class IssueClosed(Fact, frozen=True, kw_only=True):
    """A moderator has looked into it."""

    issue: str
    outcome: IssueOutcome
    note: str

    @property
    def stream(self) -> str:
        return f"issue/{self.issue}"
