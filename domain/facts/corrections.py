"""What is decided about a record after it was published. The record itself is never edited."""

from enum import StrEnum

import msgspec

from domain.facts.base import Fact


class MetadataRevised(Fact, frozen=True, kw_only=True):
    """The editorial part of a manifest was rewritten; its identity and its digest are what they were.

    ``metadata`` is the whole new editorial part, ``kind`` that of the manifest. It may name people, so it has a salt:
    after an erasure nobody can find out by trying what it said.
    """

    digest: str
    kind: str
    metadata: msgspec.Raw
    reason: str
    salt: str

    @property
    def stream(self) -> str:
        return f"{'run' if self.kind == 'BenchmarkRun' else 'manifest'}/{self.digest}"


class RunRetracted(Fact, frozen=True, kw_only=True):
    """The run was withdrawn. It keeps its page, says why, and is not ranked."""

    digest: str
    reason: str

    @property
    def stream(self) -> str:
        return f"run/{self.digest}"


class RunSuperseded(Fact, frozen=True, kw_only=True):
    """Another run stands in this one's place. Saved together with that one's :class:`RunSupersedes`."""

    digest: str
    by: str
    reason: str

    @property
    def stream(self) -> str:
        return f"run/{self.digest}"


class RunSupersedes(Fact, frozen=True, kw_only=True):
    """This run stands in another one's place."""

    digest: str
    predecessor: str
    reason: str

    @property
    def stream(self) -> str:
        return f"run/{self.digest}"


class DisputeCause(StrEnum):
    """What a dispute came from. A released name never changes its meaning."""

    MODERATOR = "MODERATOR"
    ISSUE = "ISSUE"
    CONTRADICTING_RERUN = "CONTRADICTING_RERUN"


class DisputeOutcome(StrEnum):
    """How a dispute ends.

    ``DISMISSED``: the rerun that opened it stops counting. ``UPHELD``: confirmations before it stop counting and the
    run stays contested. ``CORRECTED``: the run was retracted or superseded in the same save.
    """

    DISMISSED = "DISMISSED"
    UPHELD = "UPHELD"
    CORRECTED = "CORRECTED"


class DisputeOpened(Fact, frozen=True, kw_only=True):
    """The result of a run is in doubt. A ``blocking`` dispute keeps it out of the rankings while it is open.

    A dispute that a rerun opened has the rerun's id and is never blocking; one that an issue led to names the issue.
    """

    digest: str
    dispute: str
    cause: DisputeCause
    blocking: bool
    reason: str
    rerun: str | None = None
    issue: str | None = None

    @property
    def stream(self) -> str:
        return f"run/{self.digest}"


class DisputeResolved(Fact, frozen=True, kw_only=True):
    """A moderator ended a dispute, or a correction did."""

    digest: str
    dispute: str
    outcome: DisputeOutcome
    reason: str

    @property
    def stream(self) -> str:
        return f"run/{self.digest}"
