"""One valid example of every event and every command, and the small world that they are from.

Tests that need a record take one from here, so that each says only what matters to it.
"""

from base64 import b64encode
from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import msgspec

from domain import facts
from domain.bundles import Bundle, bundle_of
from domain.commands import (
    AbandonRerun,
    ApproveRunner,
    AttestRun,
    CloseIssue,
    Command,
    EraseEvent,
    HideAttestation,
    Ingest,
    OpenDispute,
    OpenLog,
    RecordImport,
    RecordRerun,
    RegisterSource,
    RenewRerunLease,
    ReportIssue,
    RequestRerun,
    ResolveDispute,
    RetractRun,
    ReviseMetadata,
    StartRerun,
    SupersedeRun,
    SuspendRunner,
)
from domain.events import Cause, Event, Recorded, timestamp
from domain.facts import Fact, Primary, free_json
from domain.manifests import Manifest, read_manifest
from domain.principals import Principal, Scope
from domain.streams import EMPTY, Stream, World

API_VERSION = "kernelindex.dev/v1alpha1"
START = datetime(2026, 9, 1, 12, tzinfo=UTC)


def manifest(kind: str, spec: dict[str, Any], **metadata: Any) -> Manifest:
    """A manifest as intake reads it."""
    name = metadata.pop("name", "example")
    tree: Any = {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {"name": name, **metadata},
        "spec": deepcopy(spec),
    }
    return read_manifest(tree)


PROJECT = manifest("SoftwareProject", {"name": "Heron Kernels"}, name="heron")
OPERATION = manifest(
    "OperationSpec",
    {
        "family": "rmsnorm",
        "axes": {"tokens": {"role": "variable", "type": "integer"}},
        "inputs": [{"name": "x", "tensor": {"shape": ["tokens"], "dtype": "bf16"}}],
        "outputs": [{"name": "y", "tensor": {"shape": ["tokens"], "dtype": "bf16"}}],
        "semantics": {"mutation": "none", "determinism": "deterministic"},
    },
    name="rmsnorm-h4096",
    title="rmsnorm_h4096",
)
WORKLOAD = manifest(
    "WorkloadCase",
    {
        "operationSpecDigest": OPERATION.digest,
        "axes": {"tokens": 2048},
        "tensors": {"x": {"shape": [2048], "dtype": "bf16"}},
        "correctness": {"comparator": "elementwise_close", "maxAbsoluteError": 0.01},
    },
    name="rmsnorm-2048",
)
PROTOCOL = manifest(
    "BenchmarkProtocol",
    {
        "harness": {"name": "tern-eval", "version": "0.4.2"},
        "measurement": {"timer": "device_events", "primaryStatistic": "median"},
    },
    name="tern",
)
ENVIRONMENT = manifest(
    "ExecutionEnvironment",
    {"hardware": {"vendor": "nvidia", "product": "NVIDIA B200", "architecture": "sm_100"}, "software": {}},
    name="b200",
)


def implementation(name: str = "heron", **spec: Any) -> Manifest:
    """An implementation; each name is another revision of the code."""
    return manifest(
        "ImplementationRevision",
        {
            "projectRevision": {"version": name},
            "operation": {"specDigest": OPERATION.digest},
            "callable": {"language": "triton"},
            "support": {"hardwareArchitectures": ["sm_100"], "dtypes": ["bf16"]},
            "licensing": {},
            **spec,
        },
        name=name,
        title=name,
    )


def run(median_ns: int | None = 8120, *, by: str = "heron", **spec: Any) -> Manifest:
    """A run of the implementation of that name; without ``median_ns`` it has no primary measurement."""
    timing = {"timing": {"primaryStatistic": "median", "latencyNs": {"median": median_ns}}}
    return manifest(
        "BenchmarkRun",
        {
            "implementationDigest": implementation(by).digest,
            "workloadDigest": WORKLOAD.digest,
            "protocolDigest": PROTOCOL.digest,
            "environmentDigest": ENVIRONMENT.digest,
            "status": "passed",
            "observedAt": "2026-08-01T12:00:00Z",
            **(timing if median_ns is not None else {}),
            **spec,
        },
        name=f"run-{by}",
    )


def bundle(median_ns: int | None = 8120, *, by: str = "heron", **spec: Any) -> Bundle:
    """A run with everything that it refers to."""
    return bundle_of(
        PROJECT, OPERATION, WORKLOAD, implementation(by), PROTOCOL, ENVIRONMENT, run(median_ns, by=by, **spec)
    )


def ingest(median_ns: int | None = 8120, *, by: str = "heron", **spec: Any) -> Ingest:
    """The command that takes such a bundle in."""
    return Ingest(bundle=bundle(median_ns, by=by, **spec))


def raw(of: Manifest) -> msgspec.Raw:
    """A manifest as facts keep it."""
    return msgspec.Raw(of.canonical)


PUBLIC_KEY = b64encode(bytes(range(32))).decode()
SIGNATURE = b64encode(bytes(range(64))).decode()


def fits(_key: bytes, _message: bytes, signature: bytes) -> bool:
    """In place of Ed25519: one signature fits everything, all others nothing."""
    return signature == bytes(range(64))


FACTS: tuple[Fact, ...] = (
    facts.LogOpened(log_id="0123456789abcdef", origin="example.org/log"),
    facts.PolicyAdopted(name="ranking", version="ranking-v1"),
    facts.SourceRegistered(
        slug="tern-board",
        name="Tern Board",
        kind="leaderboard",
        homepage="https://tern.example",
        policy=free_json({"license": "CC-BY-4.0", "freshnessDays": 10}),
    ),
    facts.SourcePolicyRevised(slug="tern-board", policy=free_json({"license": "CC0-1.0"})),
    facts.SourceImported(
        slug="tern-board",
        file_digest=f"sha256:{'1' * 64}",
        importer="catalog",
        importer_version="0.1.0",
        counts={"new": 2, "unchanged": 1, "refused": 0},
    ),
    facts.ManifestRegistered(
        digest=implementation().digest,
        kind="ImplementationRevision",
        manifest=raw(implementation()),
        project=PROJECT.digest,
    ),
    facts.ArtifactRecorded(
        digest=f"sha256:{'2' * 64}",
        kind="source",
        media_type="text/x-python",
        size_bytes=4575,
        uri="https://tern.example/kernel.py",
        licence="Apache-2.0",
    ),
    facts.AliasClaimed(alias="01a00328-723d-752f-b21f-bccbae31e07b", target=run().digest),
    facts.RunIngested(
        digest=run().digest,
        manifest=raw(run()),
        source="tern-board",
        external_id="submission/7",
        producer="heron",
        published_at="2026-08-24T00:00:00Z",
        primary=Primary(metric="latency", statistic="median", unit="ns", value="8120"),
    ),
    facts.MetadataRevised(
        digest=run().digest,
        kind="BenchmarkRun",
        metadata=free_json({"name": "run-heron", "title": "Heron on B200"}),
        reason="the title was missing",
        salt="7a",
    ),
    facts.RunRetracted(digest=run().digest, reason="the harness timed the wrong stream"),
    facts.RunSuperseded(digest=run().digest, by=run(8200).digest, reason="measured again with locked clocks"),
    facts.RunSupersedes(digest=run(8200).digest, predecessor=run().digest, reason="measured again with locked clocks"),
    facts.DisputeOpened(
        digest=run().digest,
        dispute="rerun-7",
        cause=facts.DisputeCause.CONTRADICTING_RERUN,
        blocking=False,
        reason="rerun rerun-7 contradicts it: SLOWER_THAN_CLAIM",
        rerun="rerun-7",
    ),
    facts.DisputeResolved(
        digest=run().digest,
        dispute="rerun-7",
        outcome=facts.DisputeOutcome.DISMISSED,
        reason="the runner was throttled",
    ),
    facts.RunnerApproved(
        runner="finch-b200", operator="finch", host="finch-01", hardware="NVIDIA B200", public_key=PUBLIC_KEY
    ),
    facts.RunnerSuspended(runner="finch-b200", reason="its clocks were not locked"),
    facts.RerunRequested(rerun="rerun-7", run=run().digest, note="for the camera-ready version"),
    facts.RerunStarted(rerun="rerun-7", runner="finch-b200", lease_expires_at="2026-09-01T13:00:00.000000Z"),
    facts.RerunRecorded(
        rerun="rerun-7",
        run=run().digest,
        runner="finch-b200",
        manifest_digest=run(8300).digest,
        manifest=raw(run(8300)),
        signature=SIGNATURE,
        policy="rerun-v1",
        outcome=facts.RerunOutcome.CONFIRMED,
        ratio="1.02216748768",
    ),
    facts.RerunAbandoned(rerun="rerun-7", runner="finch-b200", reason="LEASE_EXPIRED"),
    facts.AttestationFiled(
        attestation="attestation-7",
        run=run().digest,
        type=facts.AttestationType.REPRODUCED,
        note="Same within a percent.",
        salt="7b",
        evidence_url="https://marten.example/log.txt",
        observed_value="8200",
        observed_unit="ns",
        environment="one B200, driver 580",
    ),
    facts.AttestationHidden(attestation="attestation-7", reason="an advertisement"),
    facts.IssueReported(
        issue="issue-7",
        run=run().digest,
        category=facts.IssueCategory.WRONG_ATTRIBUTION,
        text="The kernel is a copy of another one.",
        salt="7c",
    ),
    facts.IssueClosed(issue="issue-7", outcome=facts.IssueOutcome.NOTED, note="The licence allows it."),
    facts.EventErased(position=9, legal_basis="GDPR Art. 17, request 2026-31"),
)

COMMANDS: tuple[Command, ...] = (
    OpenLog(log_id="0123456789abcdef", origin="example.org/log", policies=(("ranking", "ranking-v1"),)),
    RegisterSource(slug="tern-board", name="Tern Board", kind="leaderboard", policy=b'{"license":"CC-BY-4.0"}'),
    RecordImport(
        slug="tern-board",
        file_digest=f"sha256:{'1' * 64}",
        importer="catalog",
        importer_version="0.1.0",
        counts={"new": 1},
    ),
    ingest(),
)
"""Commands that anyone with the scopes can give in an empty log."""

RERUN = "rerun-7"
RUNNER = "finch-b200"
BEGINNINGS = (
    facts.LogOpened
    | facts.RunIngested
    | facts.RunnerApproved
    | facts.RerunRequested
    | facts.RerunStarted
    | facts.AttestationFiled
    | facts.IssueReported
    | facts.DisputeOpened
)
GIVEN: tuple[Fact, ...] = (
    *(fact for fact in FACTS if isinstance(fact, BEGINNINGS)),
    facts.RunIngested(digest=run(8200).digest, manifest=raw(run(8200)), source="local"),
    facts.ManifestRegistered(digest=ENVIRONMENT.digest, kind="ExecutionEnvironment", manifest=raw(ENVIRONMENT)),
)
"""A log in which something can be said about a run: what the commands below follow."""

FOLLOWING: tuple[Command, ...] = (
    ReviseMetadata(
        manifest=read_manifest(
            {
                "apiVersion": API_VERSION,
                "kind": "BenchmarkRun",
                "metadata": {"name": "renamed"},
                "spec": deepcopy(run().spec),
            }
        ),
        reason="the name was wrong",
        salt="s",
    ),
    RetractRun(run=run().digest, reason="the harness timed the wrong stream"),
    SupersedeRun(run=run().digest, successor=run(8200).digest, reason="measured again"),
    OpenDispute(dispute="d-1", run=run().digest, blocking=True, reason="too good to be true", issue="issue-7"),
    ResolveDispute(
        run=run().digest, dispute=RERUN, outcome=facts.DisputeOutcome.DISMISSED, reason="the runner was throttled"
    ),
    ApproveRunner(
        runner="crane-b200", operator="crane", host="crane-01", hardware="NVIDIA B200", public_key=PUBLIC_KEY
    ),
    SuspendRunner(runner=RUNNER, reason="its clocks were not locked"),
    RequestRerun(rerun="rerun-8", run=run().digest, note="please"),
    StartRerun(rerun=RERUN, runner=RUNNER, now=START, lease_s=3600),
    RenewRerunLease(rerun=RERUN, runner=RUNNER, now=START, lease_s=3600),
    RecordRerun(rerun=RERUN, runner=RUNNER, manifest=run(8300), signature=SIGNATURE, verify=fits),
    AbandonRerun(rerun=RERUN, runner=RUNNER, reason="the machine is needed"),
    AttestRun(
        attestation="attestation-8",
        run=run().digest,
        type=facts.AttestationType.REPRODUCED,
        note="Same here.",
        salt="s",
        evidence_url="https://marten.example/log.txt",
        observed_value="8200",
        observed_unit="ns",
        environment="one B200",
    ),
    HideAttestation(attestation="attestation-7", reason="an advertisement"),
    ReportIssue(
        issue="issue-8", run=run().digest, category=facts.IssueCategory.OTHER, text="The page has no title.", salt="s"
    ),
    CloseIssue(issue="issue-7", outcome=facts.IssueOutcome.NOTED, note="The licence allows it."),
    EraseEvent(position=9, stream=f"run/{run().digest}", legal_basis="GDPR Art. 17, request 2026-31"),
)
"""Commands that are about something which is there, as :data:`GIVEN` has it."""


def world(*listed: Fact, actor: str = "local") -> World:
    """The world after these facts."""
    streams: dict[str, Stream] = {}
    for fact in listed:
        streams[fact.stream] = streams.get(fact.stream, EMPTY).then(fact, actor)
    return World(streams)


FINCH = Principal(id="finch", scopes=frozenset(Scope), sources=None)
"""Who operates the runner of the examples, and may do everything else as well."""


def recorded(*listed: Fact, actor: str = "local", request: str = "r1") -> list[Recorded]:
    """Facts as one save of one request appends them, each the first of its stream or the next in it."""
    versions: dict[str, int] = {}
    events = []
    for index, fact in enumerate(listed, 1):
        versions[fact.stream] = versions.get(fact.stream, 0) + 1
        cause = Cause(request, index, len(listed))
        events.append(Recorded(fact.stream, versions[fact.stream], timestamp(START), actor, cause, fact))
    return events


def event(fact: Fact, position: int = 1) -> Event:
    """A fact as the only event of its save."""
    return Event(position, fact.stream, 1, timestamp(START), "local", Cause("r1", 1, 1), fact)


class Clock:
    """A clock that goes on by a second whenever it is read."""

    def __init__(self, start: datetime = START) -> None:
        self._moments: Iterator[datetime] = (start + timedelta(seconds=n) for n in count())

    def __call__(self) -> datetime:
        return next(self._moments)


class Ids:
    """Ids in a known order: ``id-1``, ``id-2``, …"""

    def __init__(self) -> None:
        self._numbers = count(1)

    def __call__(self) -> str:
        return f"id-{next(self._numbers)}"
