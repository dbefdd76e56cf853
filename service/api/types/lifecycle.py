"""What was decided about a run after it was published."""

from typing import Annotated

import strawberry

from projections.model import Doc
from service.api.scalars import DateTime, Position
from service.api.types.base import LazyRun, Root, loaded, picked, snapshot_of
from service.api.types.described import object_type
from service.api.types.enums import DisputeCause, DisputeOutcome

LazyRerun = Annotated["Rerun", strawberry.lazy("service.api.types.reruns")]  # type: ignore[name-defined] # noqa: F821
LazyIssue = Annotated["Issue", strawberry.lazy("service.api.types.issues")]  # type: ignore[name-defined] # noqa: F821


@object_type("Something that somebody decided: who, when and why.")
class Decision:
    reason: str = picked("Why.")
    actor: str = picked("The principal that decided it.")
    time: DateTime = picked("When.")
    position: Position = picked("The position of its event.")


@object_type("That one run stands in the place of another.")
class Supersession(Decision):
    @loaded(
        LazyRun | None,
        "The other run: the one that stands now, or the one that it replaces; null if erased.",
    )
    async def run(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("runs", root["run"])


@object_type("How a dispute ended.")
class DisputeResolution(Decision):
    outcome: DisputeOutcome = picked("How.")


@object_type("A doubt about the result of a run.")
class Dispute(Decision):
    id: strawberry.ID = picked("What it is resolved by.")
    cause: DisputeCause = picked("What it came from.")
    blocking: bool = picked("Whether the run is kept out of the rankings while it is open.")
    resolution: DisputeResolution | None = picked("How it ended; null while it is open.")

    @loaded(LazyRerun | None, "The rerun that contradicts the run.")
    async def rerun(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("reruns", root["rerun"]) if root["rerun"] else None

    @loaded(LazyIssue | None, "The issue that led to it.")
    async def issue(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("issues", root["issue"]) if root["issue"] else None


@object_type("What was decided about a run after it was published. The run itself is never edited.")
class Lifecycle:
    retracted: Decision | None = picked("Why it was withdrawn.")
    superseded_by: Supersession | None = picked("The run that stands in its place, and why.")
    supersedes: list[Supersession] = picked("The runs in whose place it stands, oldest first.")
    dispute: Dispute | None = picked("The dispute that is open; of several the one that was opened first.")
    disputes: list[Dispute] = picked("All disputes about it, oldest first.")
    metadata_revisions: list[Decision] = picked("When its editorial part was changed, and why, oldest first.")


def lifecycle(run: Doc) -> Doc:
    """The document of a run's :class:`Lifecycle`."""
    doc, adopt = run["lifecycle"], snapshot_of(run).adopt
    disputes = [adopt(dispute) for dispute in doc["disputes"]]
    return {
        **doc,
        "supersededBy": adopt(doc["supersededBy"]) if doc["supersededBy"] else None,
        "supersedes": [adopt(one) for one in doc["supersedes"]],
        "disputes": disputes,
        "dispute": next((dispute for dispute in disputes if dispute["resolution"] is None), None),
    }
