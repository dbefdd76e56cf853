"""Controlled reruns: asked for by anyone with a key, taken by approved runners, judged by the policy that holds."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final

import msgspec

from domain.commands import words
from domain.commands.base import Command, Decision
from domain.commands.finding import environment_of, own_runner, require_same, rerun_of, run_of
from domain.commands.permits import require_scope
from domain.errors import Conflict, ErrorCode, Forbidden, InvalidInput, raise_if_any
from domain.events import timestamp
from domain.facts import (
    DisputeCause,
    DisputeOpened,
    Fact,
    ManifestRegistered,
    RerunAbandoned,
    RerunOutcome,
    RerunRecorded,
    RerunRequested,
    RerunStarted,
)
from domain.identity import canonical_json
from domain.manifests import Manifest, stored_manifest
from domain.outcomes import Done
from domain.policies import RERUN_POLICIES
from domain.policies.reruns import Verdict
from domain.principals import Principal, Scope
from domain.streams import LogState, ManifestState, RerunState, RunState, World

LEASE_EXPIRED: Final = "LEASE_EXPIRED"

Verify = Callable[[bytes, bytes, bytes], bool]
"""Whether an Ed25519 public key's signature fits a message: (key, message, signature)."""


def statement(*, log_id: str, rerun: str, run: str, manifest_digest: str) -> bytes:
    """What a runner signs: which measurement answers which request on which claim of which log."""
    return canonical_json({"logId": log_id, "manifestDigest": manifest_digest, "rerunId": rerun, "runDigest": run})


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
        _require_unrecorded(self.rerun, state)
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
        _require_unrecorded(self.rerun, state)
        _require_starter(self.rerun, state, self.runner)
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
        _require_unrecorded(self.rerun, state)
        _require_starter(self.rerun, state, self.runner)
        if state.lease_expires_at is None:
            return Decision((), Done(self.rerun, created=False))
        fact = RerunAbandoned(rerun=self.rerun, runner=self.runner, reason=self.reason)
        return Decision((fact,), Done(self.rerun, created=True))


class RecordRerun(Command, frozen=True, kw_only=True):
    """Record what a runner measured: a whole run manifest, and the environment where that is not registered yet.

    ``signature`` is the base64 of the runner's Ed25519 signature over :func:`statement`; ``verify`` checks one. The
    result of whoever started the request last is taken, late or not. A contradiction opens a dispute in the same save.
    """

    rerun: str
    runner: str
    manifest: Manifest
    signature: str
    verify: Verify
    environment: Manifest | None = None

    def reads(self) -> set[str]:
        return {
            "log",
            f"rerun/{self.rerun}",
            f"runner/{self.runner}",
            f"manifest/{self.manifest.spec['environmentDigest']}",
        }

    def reads_next(self, world: World) -> set[str]:
        state = world.stream(f"rerun/{self.rerun}").state
        run = world.stream(f"run/{state.run}").state if isinstance(state, RerunState) else None
        named = {f"run/{state.run}"} if isinstance(state, RerunState) else set()
        if isinstance(run, RunState):
            named.add(f"manifest/{stored_manifest(run.manifest).spec['environmentDigest']}")
        return named

    def decide(self, world: World, principal: Principal) -> Decision:
        require_scope(principal, Scope.RERUN)
        runner = own_runner(world, self.runner, principal)
        state = rerun_of(world, self.rerun)
        if state.recorded == self.manifest.digest and state.runner == self.runner:
            return Decision((), Done(self.rerun, created=False))
        _require_unrecorded(self.rerun, state)
        _require_starter(self.rerun, state, self.runner)
        claim = stored_manifest(run_of(world, state.run).manifest, state.run)
        self._require_same_case(claim)
        log = world.get(LogState, "log") or LogState()
        self._require_signature(words.decoded(runner.approved.public_key), log.log_id, state.run)
        version = log.policies.get("rerun", "rerun-v1")
        verdict = RERUN_POLICIES[version].judge(
            claim.spec,
            self.manifest.spec,
            claim_environment=_spec_of(environment_of(world, claim.spec["environmentDigest"])),
            rerun_environment=self._environment(world),
        )
        return Decision(tuple(self._facts(world, state.run, version, verdict)), Done(self.rerun, created=True))

    def _facts(self, world: World, run: str, version: str, verdict: Verdict) -> Iterator[Fact]:
        environment = self.environment
        if environment and not environment_of(world, environment.digest):
            yield ManifestRegistered(
                digest=environment.digest, kind=environment.kind.value, manifest=msgspec.Raw(environment.canonical)
            )
        yield RerunRecorded(
            rerun=self.rerun,
            run=run,
            runner=self.runner,
            manifest_digest=self.manifest.digest,
            manifest=msgspec.Raw(self.manifest.canonical),
            signature=self.signature,
            policy=version,
            outcome=verdict.outcome,
            reason=verdict.reason,
            ratio=verdict.ratio,
        )
        if verdict.outcome is RerunOutcome.CONTRADICTED and not run_of(world, run).retracted:
            yield DisputeOpened(
                digest=run,
                dispute=self.rerun,
                cause=DisputeCause.CONTRADICTING_RERUN,
                blocking=False,
                reason=f"rerun {self.rerun} contradicts it: {verdict.reason}",
                rerun=self.rerun,
            )

    def _environment(self, world: World) -> dict[str, object] | None:
        if self.environment:
            return self.environment.spec
        return _spec_of(environment_of(world, self.manifest.spec["environmentDigest"]))

    def _require_same_case(self, claim: Manifest) -> None:
        if self.manifest.digest == claim.digest:
            raise InvalidInput.because(
                "this is the claim itself", path="manifest", remedy="send what the runner measured"
            )
        for field, what in (("implementationDigest", "implementation"), ("workloadDigest", "workload")):
            require_same(self.manifest.spec[field], claim.spec[field], f"manifest.spec.{field}", what)
        if self.environment:
            stated = self.manifest.spec["environmentDigest"]
            require_same(self.environment.digest, stated, "environment", "environment")

    def _require_signature(self, key: bytes, log_id: str, run: str) -> None:
        message = statement(log_id=log_id, rerun=self.rerun, run=run, manifest_digest=self.manifest.digest)
        if not self.verify(key, message, words.decoded(self.signature)):
            raise Forbidden.because(
                "the signature does not fit this runner's key, this log, this request and this manifest",
                code=ErrorCode.BAD_SIGNATURE,
                path="signature",
                remedy="sign {logId, manifestDigest, rerunId, runDigest} in RFC 8785 form with the approved key",
            )


def _started(rerun: str, runner: str, now: datetime, lease_s: int) -> RerunStarted:
    return RerunStarted(rerun=rerun, runner=runner, lease_expires_at=timestamp(now + timedelta(seconds=lease_s)))


def _spec_of(state: ManifestState | None) -> dict[str, object] | None:
    return stored_manifest(state.manifest).spec if state else None


def _require_unrecorded(rerun: str, state: RerunState) -> None:
    if state.recorded:
        raise Conflict.because(
            f"rerun {rerun} is recorded already",
            code=ErrorCode.RERUN_CLOSED,
            path="rerun",
            remedy="request another rerun of the same run",
        )


def _require_starter(rerun: str, state: RerunState, runner: str) -> None:
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
