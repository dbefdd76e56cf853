"""Correcting a record: its editorial part is revised, or it is retracted or superseded. It is never edited.

Who sent it in, its source's owner and moderators may. Retracting or superseding a run ends its open disputes, in the
same save: that is what they asked for.
"""

from collections.abc import Iterator

import msgspec

from domain.commands import words
from domain.commands.base import Command, Decision
from domain.commands.finding import run_of
from domain.commands.permits import require_control
from domain.errors import Conflict, ErrorCode, InvalidInput, NotFound, raise_if_any
from domain.facts import (
    DisputeOutcome,
    DisputeResolved,
    Fact,
    MetadataRevised,
    RunRetracted,
    RunSuperseded,
    RunSupersedes,
)
from domain.identity import canonical_json
from domain.manifests import Kind, Manifest
from domain.outcomes import Done
from domain.principals import Principal
from domain.streams import ManifestState, RunState, World


class ReviseMetadata(Command, frozen=True, kw_only=True):
    """Give a registered manifest or a run another editorial part: the one that ``manifest`` has."""

    manifest: Manifest
    reason: str
    salt: str

    @property
    def _stream(self) -> str:
        kind = "run" if self.manifest.kind is Kind.BENCHMARK_RUN else "manifest"
        return f"{kind}/{self.manifest.digest}"

    def reads(self) -> set[str]:
        return {self._stream}

    def decide(self, world: World, principal: Principal) -> Decision:
        raise_if_any(words.prose(self.reason, "reason"))
        is_run = self.manifest.kind is Kind.BENCHMARK_RUN
        known = world.get(RunState, self._stream) if is_run else world.get(ManifestState, self._stream)
        if known is None:
            raise NotFound.because(
                f"no {self.manifest.kind.value} {self.manifest.digest} is registered",
                path="manifest",
                remedy="change only the metadata: another spec is another record",
            )
        require_control(principal, author=known.actor, source=known.source if isinstance(known, RunState) else None)
        metadata = canonical_json(self.manifest.metadata)
        if metadata == known.metadata:
            return Decision((), Done(self.manifest.digest, created=False))
        fact = MetadataRevised(
            digest=self.manifest.digest,
            kind=self.manifest.kind.value,
            metadata=msgspec.Raw(metadata),
            reason=self.reason,
            salt=self.salt,
        )
        return Decision((fact,), Done(self.manifest.digest, created=True))


class RetractRun(Command, frozen=True, kw_only=True):
    """Withdraw a run. It keeps its page, with the reason, and is not ranked."""

    run: str
    reason: str

    def reads(self) -> set[str]:
        return {f"run/{self.run}"}

    def decide(self, world: World, principal: Principal) -> Decision:
        raise_if_any(words.prose(self.reason, "reason"))
        known = run_of(world, self.run)
        require_control(principal, author=known.actor, source=known.source)
        facts = tuple(retraction(self.run, known, self.reason))
        return Decision(facts, Done(self.run, created=bool(facts)))


class SupersedeRun(Command, frozen=True, kw_only=True):
    """Let another run, its successor, stand in a run's place."""

    run: str
    successor: str
    reason: str

    def reads(self) -> set[str]:
        return {f"run/{self.run}", f"run/{self.successor}"}

    def decide(self, world: World, principal: Principal) -> Decision:
        raise_if_any(words.prose(self.reason, "reason"))
        known, successor = run_of(world, self.run), run_of(world, self.successor, "successor")
        require_control(principal, author=known.actor, source=known.source)
        require_control(principal, author=successor.actor, source=successor.source)
        facts = tuple(supersession(self.run, known, self.successor, successor, self.reason))
        return Decision(facts, Done(self.run, created=bool(facts)))


def retraction(digest: str, run: RunState, reason: str) -> Iterator[Fact]:
    """What withdraws a run and ends its disputes; nothing where it is withdrawn already."""
    if not run.retracted:
        yield RunRetracted(digest=digest, reason=reason)
        yield from _disputes_ended(digest, run, reason)


def supersession(digest: str, run: RunState, by: str, successor: RunState, reason: str) -> Iterator[Fact]:
    """What puts a successor in a run's place and ends the run's disputes; nothing where that is so already.

    A successor stands by itself, neither superseded nor retracted: so no chain of them can close to a ring.
    """
    if run.superseded_by == by:
        return
    if by == digest:
        raise InvalidInput.because("a run can't supersede itself", path="successor", remedy="name another run")
    if run.superseded_by:
        raise Conflict.because(
            f"run {digest} is superseded by {run.superseded_by} already",
            code=ErrorCode.RUN_SUPERSEDED,
            path="run",
            remedy="supersede that one instead",
        )
    if successor.superseded_by or successor.retracted:
        raise Conflict.because(
            f"run {by} does not stand itself: it is {'retracted' if successor.retracted else 'superseded'}",
            code=ErrorCode.RUN_RETRACTED if successor.retracted else ErrorCode.RUN_SUPERSEDED,
            path="successor",
            remedy=f"name {successor.superseded_by}" if successor.superseded_by else "name a run that stands",
        )
    yield RunSuperseded(digest=digest, by=by, reason=reason)
    yield RunSupersedes(digest=by, predecessor=digest, reason=reason)
    yield from _disputes_ended(digest, run, reason)


def _disputes_ended(digest: str, run: RunState, reason: str) -> Iterator[DisputeResolved]:
    for dispute in run.open_disputes:
        yield DisputeResolved(digest=digest, dispute=dispute, outcome=DisputeOutcome.CORRECTED, reason=reason)
