"""Issues: anyone may report one on a run. It edits nothing; a moderator looks into it."""

from domain.commands import words
from domain.commands.base import Command, Decision
from domain.commands.finding import run_of
from domain.commands.permits import require_scope
from domain.errors import Conflict, ErrorCode, NotFound, raise_if_any
from domain.facts import IssueCategory, IssueClosed, IssueOutcome, IssueReported
from domain.outcomes import Done
from domain.principals import Principal, Scope
from domain.streams import IssueState, World


class ReportIssue(Command, frozen=True, kw_only=True):
    """Say that something is wrong with a run. ``issue`` is its new id. It needs no scope, and no key."""

    issue: str
    run: str
    category: IssueCategory
    text: str
    salt: str

    def reads(self) -> set[str]:
        return {f"issue/{self.issue}", f"run/{self.run}"}

    def decide(self, world: World, principal: Principal) -> Decision:  # noqa: ARG002 anyone may
        raise_if_any(words.prose(self.text, "text"))
        run_of(world, self.run)
        if world.get(IssueState, f"issue/{self.issue}"):
            return Decision((), Done(self.issue, created=False))
        fact = IssueReported(issue=self.issue, run=self.run, category=self.category, text=self.text, salt=self.salt)
        return Decision((fact,), Done(self.issue, created=True))


class CloseIssue(Command, frozen=True, kw_only=True):
    """End an issue with what it led to, and a note to whoever reported it."""

    issue: str
    outcome: IssueOutcome
    note: str

    def reads(self) -> set[str]:
        return {f"issue/{self.issue}"}

    def decide(self, world: World, principal: Principal) -> Decision:
        require_scope(principal, Scope.MODERATE)
        raise_if_any(words.prose(self.note, "note"))
        known = world.get(IssueState, f"issue/{self.issue}")
        if known is None:
            raise NotFound.because(f"no issue {self.issue} was reported", path="issue", remedy="take one from issues")
        if known.closed:
            raise Conflict.because(
                f"issue {self.issue} is closed already",
                code=ErrorCode.ISSUE_CLOSED,
                path="issue",
                remedy="report another where something else is wrong",
            )
        fact = IssueClosed(issue=self.issue, outcome=self.outcome, note=self.note)
        return Decision((fact,), Done(self.issue, created=True))
