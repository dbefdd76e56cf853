"""Claims on this machine: an RMSNorm, its workload and how it is measured, and kernels given by their files."""

import hashlib
import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

from domain.manifests import Manifest, read_manifest
from tests.examples import manifest
from tests.harness.machine import environment as this_machine

ROOT = Path(__file__).parent.parent.parent
KERNELS = Path(__file__).parent / "kernels"


def digest(kernel: str) -> str:
    """The digest of a kernel's file."""
    return "sha256:" + hashlib.sha256((KERNELS / f"{kernel}.py").read_bytes()).hexdigest()


def keep_sources(folder: Path) -> Path:
    """Put all kernels into the folder, each under its digest."""
    folder.mkdir()
    for file in KERNELS.glob("*.py"):
        (folder / digest(file.stem).removeprefix("sha256:")).write_bytes(file.read_bytes())
    return folder


def command(sources: Path) -> list[str]:
    """The harness as a command, to be run in ``ROOT``."""
    return [sys.executable, "-m", "tests.harness.cpu", "--sources", str(sources)]


OPERATION = manifest(
    "OperationSpec",
    {
        "family": "rmsnorm",
        "axes": {
            "tokens": {"role": "variable", "type": "integer"},
            "hidden": {"role": "variable", "type": "integer"},
        },
        "inputs": [
            {"name": "x", "tensor": {"shape": ["tokens", "hidden"], "dtype": "fp64"}},
            {"name": "weight", "tensor": {"shape": ["hidden"], "dtype": "fp64"}},
            {"name": "epsilon", "scalar": {"dtype": "fp64"}},
        ],
        "outputs": [{"name": "y", "tensor": {"shape": ["tokens", "hidden"], "dtype": "fp64"}}],
        "semantics": {"mutation": "none", "determinism": "deterministic"},
        "reference": {
            "language": "python",
            "artifact": {"uri": "https://kernels.example/reference.py", "digest": digest("reference")},
        },
    },
    name="rmsnorm",
)
TOKENS, HIDDEN = 8, 256
WORKLOAD = manifest(
    "WorkloadCase",
    {
        "operationSpecDigest": OPERATION.digest,
        "axes": {"tokens": TOKENS, "hidden": HIDDEN},
        "tensors": {
            "x": {
                "shape": [TOKENS, HIDDEN],
                "dtype": "fp64",
                "data": {"generator": "normal", "seed": 17, "parameters": {"mean": 0.0, "stddev": 1.0}},
            },
            "weight": {
                "shape": [HIDDEN],
                "dtype": "fp64",
                "data": {"generator": "uniform", "seed": 18, "parameters": {"low": 0.5, "high": 1.5}},
            },
        },
        "scalars": {"epsilon": {"dtype": "fp64", "value": 1e-6}},
        "correctness": {
            "comparator": "elementwise_close",
            "maxAbsoluteError": 1e-9,
            "maxRelativeError": 1e-9,
            "requiredMatchedRatio": 1.0,
        },
    },
    name="rmsnorm-8-256",
)


def protocol(family: str) -> Manifest:
    """How it is measured: ``latency``, or ``paired_speedup`` over the reference."""
    plan = {
        "timer": "thread_cpu_time",
        "warmupIterations": 5,
        "samples": 151,
        "measuredIterations": 3,
        "primaryStatistic": "median",
    }
    spec = {"harness": {"name": "cpu"}, "measurement": plan, "comparability": {"family": family}}
    return manifest("BenchmarkProtocol", spec, name=f"cpu-{family.replace('_', '-')}")


def implementation(kernel: str) -> Manifest:
    """The kernel of that file."""
    return manifest(
        "ImplementationRevision",
        {
            "projectRevision": {"version": "1"},
            "operation": {"specDigest": OPERATION.digest},
            "callable": {"language": "python", "symbol": "rmsnorm"},
            "support": {"hardwareArchitectures": ["x86_64"], "dtypes": ["fp64"]},
            "source": {"contentDigest": digest(kernel), "fileName": f"{kernel}.py"},
            "licensing": {},
        },
        name=kernel,
    )


ENVIRONMENT = read_manifest(this_machine())
PRODUCT = ENVIRONMENT.spec["hardware"]["product"]


def task(kernel: str, family: str = "latency", environment: Manifest = ENVIRONMENT) -> dict[str, Any]:
    """What the harness is given to measure the kernel."""
    named = {
        "implementation": implementation(kernel),
        "workload": WORKLOAD,
        "protocol": protocol(family),
        "environment": environment,
    }
    run = manifest(
        "BenchmarkRun",
        {
            **{f"{name}Digest": one.digest for name, one in named.items()},
            "status": "incomplete_evidence",
            "observedAt": "2026-08-01T12:00:00Z",
        },
    )
    manifests = {"run": run, "operation": OPERATION, **named}
    trees = {name: json.loads(one.canonical) for name, one in manifests.items()}
    return {"rerun": "claim", "run": run.digest, "logId": "none", "manifests": trees}


def measure(given: dict[str, Any], sources: Path) -> dict[str, Any]:
    """What the harness prints, run as a runner runs it."""
    ran = subprocess.run(
        command(sources), input=json.dumps(given), capture_output=True, text=True, cwd=ROOT, check=True, timeout=300
    )
    printed: dict[str, Any] = json.loads(ran.stdout)
    return printed


def claim(measured: dict[str, Any], kernel: str, *, times: float = 1.0) -> Manifest:
    """A claim for the kernel with what was measured, perhaps of another one; ``times`` overstates or understates it."""
    tree = deepcopy(measured["run"])
    spec = tree["spec"]
    spec["implementationDigest"] = implementation(kernel).digest
    for entry in spec.get("measurements", ()):
        entry["value"] *= times
    return read_manifest(tree)
