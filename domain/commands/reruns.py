"""Controlled reruns: asked for by anyone with a key, taken by approved runners for the length of a lease."""

from datetime import datetime, timedelta
from typing import Final

from domain.commands import words
from domain.commands.base import Command, Decision
from domain.commands.finding import own_runner, rerun_of, run_of
from domain.commands.permits import require_scope
from domain.errors import Conflict, ErrorCode, raise_if_any
from domain.events import timestamp
from domain.facts import (
    Fact,
    RerunAbandoned,
    RerunRequested,
    RerunStarted,
)
from domain.outcomes import Done
from domain.principals import Principal, Scope
from domain.streams import RerunState, World

LEASE_EXPIRED: Final = "LEASE_EXPIRED"


class RequestRerun(Command, frozen=True, kw_only=True):
    """Ask approved runners to measure a run again. ``rerun`` is the request's new id."""

    rerun: str
    run: str
    note: str | None = None

    def reads(self) -> set[str]:
        return {f"rerun/{self.rerun}", f"run/{self.run}"}

    def decide(self, world: World, principal: Principal) -> Decision:
        require_scope(principal, Scope.ATTEST, Scope.RERUN, Scope.INGEST, Scope.MODERATE)
        raise_if_any(words.prose(self.note, "note") if self.note is not None else ())
        if run_of(world, self.run).retracted:
            raise Conflict.because(
                f"run {self.run} is retracted: there is no claim to test",
                code=ErrorCode.RUN_RETRACTED,
                path="run",
                remedy="ask for a rerun of a run that stands",
            )
        if world.get(RerunState, f"rerun/{self.rerun}"):
            return Decision((), Done(self.rerun, created=False))
        fact = RerunRequested(rerun=self.rerun, run=self.run, note=self.note)
        return Decision((fact,), Done(self.rerun, created=True))


class StartRerun(Command, frozen=True, kw_only=True):
    """Take a request, for ``lease_s`` seconds from ``now``. Whoever has it already renews its lease."""

    rerun: str
    runner: str
    now: datetime
    lease_s: int

    def reads(self) -> set[str]:
        return {f"rerun/{self.rerun}", f"runner/{self.runner}"}

    def decide(self, world: World, principal: Principal) -> Decision:
        require_scope(principal, Scope.RERUN)
        own_runner(world, self.runner, principal)
        state = rerun_of(world, self.rerun)
        require_unrecorded(self.rerun, state)
        expired = state.lease_expires_at is not None and state.lease_expires_at <= timestamp(self.now)
        if state.lease_expires_at and not expired and state.runner != self.runner:
            raise Conflict.because(
                f"runner {state.runner} has it until {state.lease_expires_at}",
                code=ErrorCode.RERUN_TAKEN,
                path="rerun",
                remedy="take another request, or try again after that",
            )
        facts: list[Fact] = []
        if expired and state.runner:
            facts.append(RerunAbandoned(rerun=self.rerun, runner=state.runner, reason=LEASE_EXPIRED))
        facts.append(_started(self.rerun, self.runner, self.now, self.lease_s))
        return Decision(tuple(facts), Done(self.rerun, created=True))


class RenewRerunLease(Command, frozen=True, kw_only=True):
    """Keep a request for ``lease_s`` seconds more from ``now``: of the runner that started it last."""

    rerun: str
    runner: str
    now: datetime
    lease_s: int

    def reads(self) -> set[str]:
        return {f"rerun/{self.rerun}", f"runner/{self.runner}"}

    def decide(self, world: World, principal: Principal) -> Decision:
        require_scope(principal, Scope.RERUN)
        own_runner(world, self.runner, principal)
        state = rerun_of(world, self.rerun)
        require_unrecorded(self.rerun, state)
        require_starter(self.rerun, state, self.runner)
        if state.lease_expires_at is None:
            raise _not_at_work(self.rerun)
        return Decision((_started(self.rerun, self.runner, self.now, self.lease_s),), Done(self.rerun, created=True))


class AbandonRerun(Command, frozen=True, kw_only=True):
    """Give a request back, so that others may start it."""

    rerun: str
    runner: str
    reason: str

    def reads(self) -> set[str]:
        return {f"rerun/{self.rerun}", f"runner/{self.runner}"}

    def decide(self, world: World, principal: Principal) -> Decision:
        require_scope(principal, Scope.RERUN)
        raise_if_any(words.prose(self.reason, "reason"))
        own_runner(world, self.runner, principal)
        state = rerun_of(world, self.rerun)
        require_unrecorded(self.rerun, state)
        require_starter(self.rerun, state, self.runner)
        if state.lease_expires_at is None:
            return Decision((), Done(self.rerun, created=False))
        fact = RerunAbandoned(rerun=self.rerun, runner=self.runner, reason=self.reason)
        return Decision((fact,), Done(self.rerun, created=True))


def _started(rerun: str, runner: str, now: datetime, lease_s: int) -> RerunStarted:
    return RerunStarted(rerun=rerun, runner=runner, lease_expires_at=timestamp(now + timedelta(seconds=lease_s)))


def require_unrecorded(rerun: str, state: RerunState) -> None:
    """Refuse what is over."""
    if state.recorded:
        raise Conflict.because(
            f"rerun {rerun} is recorded already",
            code=ErrorCode.RERUN_CLOSED,
            path="rerun",
            remedy="request another rerun of the same run",
        )


def require_starter(rerun: str, state: RerunState, runner: str) -> None:
    """Refuse all but the runner that started it last."""
    if state.runner is None:
        raise _not_at_work(rerun)
    if state.runner != runner:
        raise Conflict.because(
            f"runner {state.runner} started it last",
            code=ErrorCode.RERUN_TAKEN,
            path="rerun",
            remedy="take another request, or start this one again when its lease has run out",
        )


def _not_at_work(rerun: str) -> Conflict:
    return Conflict.because(
        f"nobody is at work on rerun {rerun}", code=ErrorCode.RERUN_TAKEN, path="rerun", remedy="start it first"
    )
