"""One valid example of every event and every command, and the small world that they are from.

Tests that need a record take one from here, so that each says only what matters to it.
"""

from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import msgspec

from domain import facts
from domain.bundles import Bundle, bundle_of
from domain.commands import Command, Ingest, OpenLog, RecordImport, RegisterSource
from domain.events import Cause, Event, Recorded, timestamp
from domain.facts import Fact, Primary, free_json
from domain.manifests import Manifest, read_manifest

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
