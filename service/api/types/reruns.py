"""Reruns and runners as they are shown."""

from projections.model import Doc
from service.api.scalars import DateTime, Decimal, Digest, ManifestText, Position
from service.api.types.base import Documented, LazyRun, Node, Root, loaded, picked, snapshot_of
from service.api.types.described import object_type
from service.api.types.enums import RerunOutcome, RerunState
from service.api.types.lifecycle import Decision


@object_type("A machine that an administrator has approved to measure runs again.")
class Runner(Documented, Node):
    operator: str = picked("The principal whose keys act for it.")
    host: str = picked("The name of the machine.")
    hardware: str = picked("The product that is measured on there.")
    public_key: str = picked("Base64 of the 32 bytes of its Ed25519 public key.")
    approved_at: DateTime = picked("When it was approved.")
    position: Position = picked("The position of its approval.")
    suspension: Decision | None = picked("Why it is not trusted any more: nothing that it ever recorded counts.")


@object_type("What a runner measured, and what that says of the claim.")
class RerunResult:
    outcome: RerunOutcome = picked("What it says of the claim, computed from both manifests.")
    reason: str | None = picked("Why, where the ratio alone doesn't say: a code such as `HARDWARE_DIFFERS`.")
    ratio: Decimal | None = picked("Rerun to claim, turned so that worse is above 1; to 12 digits.")
    policy_version: str = picked("The policy that computed the outcome.")
    manifest_digest: Digest = picked("The digest of the manifest.")
    manifest: ManifestText = picked("The whole manifest, a `BenchmarkRun`, as canonical JSON text. It is never ranked.")
    signature: str = picked(
        "Base64 of the runner's signature over `{logId, manifestDigest, rerunId, runDigest}` in canonical JSON."
    )
    recorded_at: DateTime = picked("When it was recorded.")
    position: Position = picked("The position of its event.")


@object_type("A request that a runner gave back, or did not finish in time.")
class Abandonment:
    reason: str = picked("Why; `LEASE_EXPIRED` where another one started it after its time had run out.")
    actor: str = picked("The principal that gave it back, or started it after that.")
    time: DateTime = picked("When.")
    position: Position = picked("The position of its event.")

    @loaded(Runner | None, "The runner that had it; null where that was erased.")
    async def runner(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("runners", root["runner"])


@object_type("A request to measure a run again, and what came of it.")
class Rerun(Documented, Node):
    state: RerunState = picked("What has become of it.")
    note: str | None = picked("What it was asked for.")
    requested_by: str = picked("The principal that asked for it.")
    requested_at: DateTime = picked("When.")
    position: Position = picked("The position of the request.")
    started_at: DateTime | None = picked("When the runner that has it, or had it last, began.")
    lease_expires_at: DateTime | None = picked("Until when that runner has it to itself; null where nobody has.")
    result: RerunResult | None = picked("What was measured; null until it is recorded.")

    @loaded(str, "The `rerunId` that the runner signs: its id without `rerun/`.")
    async def rerun_id(self, root: Root) -> str:
        return str(root["rerun"])

    @loaded(LazyRun | None, "The run that is measured again; null where that was erased.")
    async def run(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("runs", root["run"])

    @loaded(Runner | None, "The runner that started it last.")
    async def runner(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("runners", root["runner"]) if root["runner"] else None

    @loaded(list[Abandonment], "Who gave it back before, oldest first.")
    async def abandonments(self, root: Root) -> list[Doc]:
        return [snapshot_of(root).adopt(one) for one in root["abandonments"]]
