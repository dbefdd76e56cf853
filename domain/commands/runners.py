"""Approving the machines whose reruns count, and suspending them."""

from collections.abc import Iterator

from domain.commands import words
from domain.commands.base import Command, Decision
from domain.commands.permits import require_scope
from domain.errors import Conflict, ErrorCode, NotFound, Problem, raise_if_any
from domain.facts import RunnerApproved, RunnerSuspended
from domain.outcomes import Done
from domain.principals import Principal, Scope
from domain.streams import RunnerState, World


class ApproveRunner(Command, frozen=True, kw_only=True):
    """Let an operator record reruns from a host. ``public_key`` is the base64 of 32 bytes of Ed25519 key."""

    runner: str
    operator: str
    host: str
    hardware: str
    public_key: str

    def reads(self) -> set[str]:
        return {f"runner/{self.runner}"}

    def decide(self, world: World, principal: Principal) -> Decision:
        require_scope(principal, Scope.ADMIN)
        raise_if_any(self._problems())
        known = world.get(RunnerState, f"runner/{self.runner}")
        fact = RunnerApproved(
            runner=self.runner,
            operator=self.operator,
            host=self.host,
            hardware=self.hardware,
            public_key=self.public_key,
        )
        if known and (known.suspended or known.approved != fact):
            raise Conflict.because(
                f"runner {self.runner} is {'suspended' if known.suspended else 'approved as another'}",
                code=ErrorCode.RUNNER_SUSPENDED if known.suspended else ErrorCode.RUNNER_EXISTS,
                path="runner",
                remedy="approve it as a new runner, under another id",
            )
        return Decision(() if known else (fact,), Done(self.runner, created=known is None))

    def _problems(self) -> Iterator[Problem]:
        yield from words.name(self.runner, "runner")
        yield from words.line(self.operator, "operator")
        yield from words.line(self.host, "host")
        yield from words.line(self.hardware, "hardware")
        yield from words.public_key(self.public_key, "publicKey")


class SuspendRunner(Command, frozen=True, kw_only=True):
    """Stop trusting a runner: nothing that it ever recorded counts any more."""

    runner: str
    reason: str

    def reads(self) -> set[str]:
        return {f"runner/{self.runner}"}

    def decide(self, world: World, principal: Principal) -> Decision:
        require_scope(principal, Scope.ADMIN)
        raise_if_any(words.prose(self.reason, "reason"))
        known = world.get(RunnerState, f"runner/{self.runner}")
        if known is None:
            raise NotFound.because(
                f"no runner {self.runner} is approved", path="runner", remedy="take an id from runners"
            )
        fact = RunnerSuspended(runner=self.runner, reason=self.reason)
        return Decision(() if known.suspended else (fact,), Done(self.runner, created=not known.suspended))
