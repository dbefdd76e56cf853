"""Issues as they are shown."""

from projections.model import Doc
from service.api.scalars import DateTime, Position
from service.api.types.base import Documented, LazyRun, Node, Root, loaded, picked, snapshot_of
from service.api.types.described import object_type
from service.api.types.enums import IssueCategory, IssueOutcome, IssueState


@object_type("How an issue ended.")
class IssueClosing:
    outcome: IssueOutcome = picked("What it led to.")
    note: str = picked("What was found.")
    actor: str = picked("The principal that closed it.")
    time: DateTime = picked("When.")
    position: Position = picked("The position of its event.")


@object_type("What somebody says is wrong with a run. It edits nothing.")
class Issue(Documented, Node):
    category: IssueCategory = picked("What kind of thing is wrong.")
    text: str = picked("What is wrong, in the reporter's words.")
    reported_by: str = picked("The principal that reported it; `anonymous` for everyone without a key.")
    reported_at: DateTime = picked("When.")
    position: Position = picked("The position of its event.")
    state: IssueState = picked("Whether it is closed.")
    closing: IssueClosing | None = picked("How it ended.")

    @loaded(LazyRun | None, "The run that it is about; null where that was erased.")
    async def run(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("runs", root["run"])
