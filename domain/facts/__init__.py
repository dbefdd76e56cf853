"""What can have happened. A fact is the ``data`` of an event; its class name is the event's ``type``.

Once released, a name or a field never changes its meaning; new fields have defaults. Free JSON inside a fact (a
manifest, a source's policy) is kept as canonical bytes, so that a fact's own encoding is canonical too; facts hold no
binary floating-point numbers.
"""

from typing import Final

from domain.facts.base import Fact, free_json
from domain.facts.community import (
    AttestationFiled,
    AttestationHidden,
    AttestationType,
    IssueCategory,
    IssueClosed,
    IssueOutcome,
    IssueReported,
)
from domain.facts.corrections import (
    DisputeCause,
    DisputeOpened,
    DisputeOutcome,
    DisputeResolved,
    MetadataRevised,
    RunRetracted,
    RunSuperseded,
    RunSupersedes,
)
from domain.facts.log import Erased, EventErased, LogOpened, PolicyAdopted
from domain.facts.records import AliasClaimed, ArtifactRecorded, ManifestRegistered, Primary, RunIngested
from domain.facts.reruns import (
    RerunAbandoned,
    RerunOutcome,
    RerunRecorded,
    RerunRequested,
    RerunStarted,
    RunnerApproved,
    RunnerSuspended,
)
from domain.facts.sources import SourceImported, SourcePolicyRevised, SourceRegistered

EVENTS: Final[dict[str, type[Fact]]] = {
    fact.__name__: fact
    for fact in (
        LogOpened,
        PolicyAdopted,
        EventErased,
        SourceRegistered,
        SourcePolicyRevised,
        SourceImported,
        ManifestRegistered,
        ArtifactRecorded,
        AliasClaimed,
        RunIngested,
        MetadataRevised,
        RunRetracted,
        RunSuperseded,
        RunSupersedes,
        DisputeOpened,
        DisputeResolved,
        RunnerApproved,
        RunnerSuspended,
        RerunRequested,
        RerunStarted,
        RerunRecorded,
        RerunAbandoned,
        AttestationFiled,
        AttestationHidden,
        IssueReported,
        IssueClosed,
    )
}
"""Every type of event that can be appended, by its name."""

__all__ = [
    "EVENTS",
    "AliasClaimed",
    "ArtifactRecorded",
    "AttestationFiled",
    "AttestationHidden",
    "AttestationType",
    "DisputeCause",
    "DisputeOpened",
    "DisputeOutcome",
    "DisputeResolved",
    "Erased",
    "EventErased",
    "Fact",
    "IssueCategory",
    "IssueClosed",
    "IssueOutcome",
    "IssueReported",
    "LogOpened",
    "ManifestRegistered",
    "MetadataRevised",
    "PolicyAdopted",
    "Primary",
    "RerunAbandoned",
    "RerunOutcome",
    "RerunRecorded",
    "RerunRequested",
    "RerunStarted",
    "RunIngested",
    "RunRetracted",
    "RunSuperseded",
    "RunSupersedes",
    "RunnerApproved",
    "RunnerSuspended",
    "SourceImported",
    "SourcePolicyRevised",
    "SourceRegistered",
    "free_json",
]
