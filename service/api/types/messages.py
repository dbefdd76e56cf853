"""What subscribers are told."""

from typing import Annotated, Any, TypeAlias

import strawberry
from strawberry.types import Info

from projections.model import Doc
from service.api.context import Context
from service.api.scalars import Digest, LogCursor, Position
from service.api.types.base import Documented, Root, Told, loaded, picked, snapshot_of
from service.api.types.described import interface_type, object_type
from service.api.types.events import Event, event_node
from service.api.types.parts import Evidence
from service.api.types.rankings import Ranking
from service.api.types.reruns import Rerun
from service.api.types.runs import Run


@interface_type("A message of a subscription. What it shows is read as of the end of the save that it tells of.")
class LogMessage(Told):
    cursor: LogCursor = picked("Where to go on from: the argument `after` of the same subscription takes it.")
    position: Position = picked("The position of the log that it tells of.")


@object_type("Nothing was found up to here; the cursor moves although the filter matched nothing.")
class Progress(Documented, LogMessage):
    pass


@object_type("Everything up to here has been told: what follows happens from now on.")
class CaughtUp(Documented, LogMessage):
    pass


@object_type("The subscriber was too slow and is not told any more: subscribe again from the cursor.")
class Lagged(Documented, LogMessage):
    count: int = picked("How many messages waited for it.")


@object_type("A run was recorded.")
class NewRun(Documented, LogMessage):
    @loaded(Run | None, "The run; null where it was erased since.")
    async def run(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("runs", root["run"])


@object_type("The ranks of a group became others, or the values that it is ranked by.")
class RankingChange(Documented, LogMessage):
    comparison_key: Digest = picked("The group.")

    @loaded(Ranking | None, "The ranking; null where no run of the group is ranked any more.")
    async def ranking(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("rankings", root["comparisonKey"]) if root["leader"] else None

    @loaded(Run | None, "The run that led before, as it stands now; null where none did.")
    async def previous_leader(self, root: Root) -> Doc | None:
        leader = root["previousLeader"]
        return await snapshot_of(root).document("runs", leader) if leader else None

    @loaded(bool, "Whether another run leads than before.")
    async def leader_changed(self, root: Root) -> bool:
        return bool(root["leader"] != root["previousLeader"])


@object_type("It became another question how far a run can be trusted.")
class EvidenceChange(Documented, LogMessage):
    before: Evidence = picked("How far it could be trusted before.")
    after: Evidence = picked("How far it can be trusted now.")

    @loaded(Run | None, "The run; null where it was erased since.")
    async def run(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("runs", root["run"])


@object_type("A rerun was requested, started, given back or recorded.")
class RerunChange(Documented, LogMessage):
    @loaded(Rerun | None, "The rerun as it stood then; null where it was erased since.")
    async def rerun(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("reruns", root["rerun"])


@object_type("An event was recorded.")
class EventRecorded(Documented, LogMessage):
    @loaded(Event, "The event.")
    async def event(self, root: Root, info: Info[Context, Any]) -> Doc | None:
        return await event_node(info.context, snapshot_of(root), root["event"])


def _or_else(kind: type, name: str, what: str) -> TypeAlias:
    """What a subscription may tell: what it is about, or one of the three messages about its own course."""
    return Annotated[kind | Progress | CaughtUp | Lagged, strawberry.union(name, description=what)]


RunMessage = _or_else(NewRun, "RunMessage", "What `newRuns` tells.")
RankingMessage = _or_else(RankingChange, "RankingMessage", "What `rankingChanges` tells.")
EvidenceMessage = _or_else(EvidenceChange, "EvidenceMessage", "What `evidenceChanges` tells.")
EventMessage = _or_else(EventRecorded, "EventMessage", "What `events` tells.")
RerunMessage = _or_else(RerunChange, "RerunMessage", "What `rerunRequests` tells.")
