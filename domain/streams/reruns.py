"""Rerun requests, and the runners that take them."""

import msgspec

from domain.facts import (
    Fact,
    RerunAbandoned,
    RerunRecorded,
    RerunRequested,
    RerunStarted,
    RunnerApproved,
    RunnerSuspended,
)


class RunnerState(msgspec.Struct, frozen=True):
    """A runner as it was approved; once suspended it stays so."""

    approved: RunnerApproved
    suspended: bool = False


class RerunState(msgspec.Struct, frozen=True):
    """A request and how far it has come.

    ``runner`` is the one that started it last, whose result is taken even when it is late; ``lease_expires_at`` is
    None while nobody is at work on it. ``recorded`` is the digest of the manifest that it ended with.
    """

    run: str
    runner: str | None = None
    lease_expires_at: str | None = None
    recorded: str | None = None


def evolve_runner(state: RunnerState | None, fact: Fact, _actor: str) -> RunnerState | None:
    """The runner after the fact."""
    match fact:
        case RunnerApproved() if state is None:
            return RunnerState(fact)
        case RunnerSuspended() if state:
            return msgspec.structs.replace(state, suspended=True)
        case _:
            return state


def evolve_rerun(state: RerunState | None, fact: Fact, _actor: str) -> RerunState | None:
    """The request after the fact."""
    if state is None:
        return RerunState(fact.run) if isinstance(fact, RerunRequested) else None
    match fact:
        case RerunStarted():
            return msgspec.structs.replace(state, runner=fact.runner, lease_expires_at=fact.lease_expires_at)
        case RerunAbandoned():
            return msgspec.structs.replace(state, lease_expires_at=None)
        case RerunRecorded():
            return msgspec.structs.replace(state, lease_expires_at=None, recorded=fact.manifest_digest)
        case _:
            return state
