"""Recording what a controlled rerun measured: signed by its runner, judged by the policy that the log has adopted."""

from collections.abc import Iterator

import msgspec

from domain.commands import words
from domain.commands.base import Command, Decision
from domain.commands.finding import environment_of, own_runner, require_same, rerun_of, run_of
from domain.commands.permits import require_scope
from domain.commands.reruns import require_starter, require_unrecorded
from domain.errors import ErrorCode, Forbidden, InvalidInput
from domain.facts import DisputeCause, DisputeOpened, Fact, ManifestRegistered, RerunOutcome, RerunRecorded
from domain.identity import canonical_json
from domain.manifests import Manifest, stored_manifest
from domain.outcomes import Done
from domain.policies import RERUN_POLICIES
from domain.policies.reruns import Verdict
from domain.principals import Principal, Scope
from domain.signing import Verify
from domain.streams import LogState, ManifestState, RerunState, RunState, World


def statement(*, log_id: str, rerun: str, run: str, manifest_digest: str) -> bytes:
    """What a runner signs: which measurement answers which request on which claim of which log."""
    return canonical_json({"logId": log_id, "manifestDigest": manifest_digest, "rerunId": rerun, "runDigest": run})


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
        require_unrecorded(self.rerun, state)
        require_starter(self.rerun, state, self.runner)
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


def _spec_of(state: ManifestState | None) -> dict[str, object] | None:
    return stored_manifest(state.manifest).spec if state else None
