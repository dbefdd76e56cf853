"""Disputes about the result of a run. Moderators open and resolve them; a contradicting rerun opens one by itself."""

from domain.commands import words
from domain.commands.base import Command, Decision
from domain.commands.corrections import retraction, supersession
from domain.commands.finding import run_of
from domain.commands.permits import require_scope
from domain.errors import Conflict, ErrorCode, InvalidInput, NotFound, raise_if_any
from domain.facts import DisputeCause, DisputeOpened, DisputeOutcome, DisputeResolved, Fact
from domain.outcomes import Done
from domain.principals import Principal, Scope
from domain.streams import IssueState, RunState, World


class OpenDispute(Command, frozen=True, kw_only=True):
    """Say that a run's result is in doubt. ``dispute`` is its new id, ``issue`` the issue that led to it, if any."""

    dispute: str
    run: str
    blocking: bool
    reason: str
    issue: str | None = None

    def reads(self) -> set[str]:
        return {f"run/{self.run}", *((f"issue/{self.issue}",) if self.issue else ())}

    def decide(self, world: World, principal: Principal) -> Decision:
        require_scope(principal, Scope.MODERATE)
        raise_if_any(words.prose(self.reason, "reason"))
        known = run_of(world, self.run)
        if self.dispute in known.disputes:
            return Decision((), Done(self.dispute, created=False))
        if self.issue:
            issue = world.get(IssueState, f"issue/{self.issue}")
            if issue is None or issue.reported.run != self.run:
                raise NotFound.because(
                    f"no issue {self.issue} was reported on this run", path="issue", remedy="take one from its issues"
                )
        fact = DisputeOpened(
            digest=self.run,
            dispute=self.dispute,
            cause=DisputeCause.ISSUE if self.issue else DisputeCause.MODERATOR,
            blocking=self.blocking,
            reason=self.reason,
            issue=self.issue,
        )
        return Decision((fact,), Done(self.dispute, created=True))


class ResolveDispute(Command, frozen=True, kw_only=True):
    """End a dispute. ``CORRECTED`` corrects the run in the same save: by its ``successor``, else by a retraction."""

    run: str
    dispute: str
    outcome: DisputeOutcome
    reason: str
    successor: str | None = None
    retract: bool = False

    def reads(self) -> set[str]:
        return {f"run/{self.run}", *((f"run/{self.successor}",) if self.successor else ())}

    def decide(self, world: World, principal: Principal) -> Decision:
        require_scope(principal, Scope.MODERATE)
        raise_if_any(words.prose(self.reason, "reason"))
        self._require_correction()
        known = run_of(world, self.run)
        is_open = known.disputes.get(self.dispute)
        if is_open is None:
            raise NotFound.because(
                f"run {self.run} has no dispute {self.dispute}", path="dispute", remedy="take one from its lifecycle"
            )
        if not is_open:
            raise Conflict.because(
                f"dispute {self.dispute} is resolved already",
                code=ErrorCode.DISPUTE_CLOSED,
                path="dispute",
                remedy="open another where there is a new doubt",
            )
        return Decision(self._facts(world, known), Done(self.dispute, created=True))

    def _facts(self, world: World, known: RunState) -> tuple[Fact, ...]:
        if self.outcome is not DisputeOutcome.CORRECTED:
            return (DisputeResolved(digest=self.run, dispute=self.dispute, outcome=self.outcome, reason=self.reason),)
        if self.successor:
            successor = run_of(world, self.successor, "successor")
            corrected = tuple(supersession(self.run, known, self.successor, successor, self.reason))
        else:
            corrected = tuple(retraction(self.run, known, self.reason))
        # A run that was corrected before its dispute opened is corrected all the same.
        return corrected or (
            DisputeResolved(digest=self.run, dispute=self.dispute, outcome=self.outcome, reason=self.reason),
        )

    def _require_correction(self) -> None:
        corrects = bool(self.successor) + self.retract
        if corrects != (self.outcome is DisputeOutcome.CORRECTED):
            raise InvalidInput.because(
                f"{self.outcome} goes with {'either a successor or retract' if not corrects else 'no correction'}"
                if corrects < 2
                else "a run is superseded or retracted, not both at once",
                path="outcome",
                remedy="with CORRECTED give a successor or retract: true, with other outcomes neither",
            )
