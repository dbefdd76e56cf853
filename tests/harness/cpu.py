"""A real harness for CPUs: runs kernels written in Python, given by the digests of their files, checks and times them.

``python -m tests.harness.cpu --sources FOLDER`` is a COMMAND for ``kernelindex runner run``. FOLDER holds source files
named by the 64 hex digits of their SHA-256. A kernel is called with the axes, tensors (flat lists of floats, row by row)
and scalars of its workload by their names, and returns the flat list of its output. The operation's reference is a file
of the same folder whose function is called ``reference``.

The protocol says how to time: ``timer`` is ``thread_cpu_time`` or ``wall_clock``; ``warmupIterations``, ``samples`` and
``measuredIterations`` (calls a sample); with the comparability family ``paired_speedup`` each sample times the reference
too, and the ratio is the first measurement. That one barely minds what else the machine does.
"""

import argparse
import gc
import hashlib
import json
import math
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from domain.manifests import Manifest, read_manifest
from tests.harness.machine import environment
from tests.harness.samples import STATISTICS, speedup, timing

Kernel = Callable[..., Any]
Inputs = Mapping[str, Any]

TIMERS: Mapping[str, Callable[[], int]] = {"thread_cpu_time": time.thread_time_ns, "wall_clock": time.perf_counter_ns}
PAIRED = "paired_speedup"


class Unfit(Exception):
    """What the request asks for is not what this harness does."""


class Case(NamedTuple):
    """The specs of what is measured, on what and how."""

    implementation: Mapping[str, Any]
    workload: Mapping[str, Any]
    protocol: Mapping[str, Any]

    @property
    def paired(self) -> bool:
        """Whether each sample times the reference too."""
        return bool(self.protocol.get("comparability", {}).get("family") == PAIRED)

    def require_ours(self) -> None:
        """Raise :class:`Unfit` where it is not what this harness does."""
        plan = self.protocol["measurement"]
        for stated, known in (
            (plan["timer"], tuple(TIMERS)),
            (plan["primaryStatistic"], STATISTICS),
            (self.implementation["callable"]["language"], ("python",)),
            (self.workload["correctness"]["comparator"], ("elementwise_close",)),
        ):
            if stated not in known:
                raise Unfit(f"this harness knows {', '.join(known)}, not {stated}")


class Checked(NamedTuple):
    """How an output compares with the reference's: a status, and the ``correctness`` of the manifest."""

    status: str
    correctness: dict[str, Any]


# --- loading


def load(folder: Path, digest: str, symbol: str) -> Kernel:
    """The function of that name in the source file of that digest, which is checked before anything of it runs."""
    source = (folder / digest.removeprefix("sha256:")).read_bytes()
    found = f"sha256:{hashlib.sha256(source).hexdigest()}"
    if found != digest:
        raise Unfit(f"the file kept as {digest} has the digest {found}")
    names: dict[str, Any] = {"__name__": f"kernel_{digest[7:15]}"}
    exec(compile(source, f"<{digest[:15]}>", "exec"), names)
    kernel: Kernel = names[symbol]
    return kernel


def inputs(workload: Mapping[str, Any]) -> Inputs:
    """The arguments of a case, the same whoever makes them."""
    tensors = {name: _elements(tensor) for name, tensor in workload["tensors"].items()}
    scalars = {name: scalar["value"] for name, scalar in workload.get("scalars", {}).items()}
    return {**workload["axes"], **tensors, **scalars}


def _elements(tensor: Mapping[str, Any]) -> list[float]:
    data = tensor.get("data", {})
    given = data.get("parameters", {})
    rng = random.Random(data["seed"])
    makers: Mapping[str, Callable[[], float]] = {
        "normal": lambda: rng.gauss(given.get("mean", 0.0), given.get("stddev", 1.0)),
        "uniform": lambda: rng.uniform(given.get("low", 0.0), given.get("high", 1.0)),
    }
    if tensor["dtype"] != "fp64" or data["generator"] not in makers:
        raise Unfit(f"this harness makes fp64 by {', '.join(makers)}, not {tensor['dtype']} by {data['generator']}")
    make = makers[data["generator"]]
    return [make() for _ in range(math.prod(tensor["shape"]))]


def fresh(given: Inputs) -> dict[str, Any]:
    """A copy of the arguments that a kernel may spoil."""
    return {name: value.copy() if isinstance(value, list) else value for name, value in given.items()}


# --- checking


def check(output: Any, wanted: Sequence[float], rule: Mapping[str, Any]) -> Checked:
    """Compare an output with the reference's, by the workload's rule of correctness."""
    said: dict[str, Any] = {"comparator": rule["comparator"]}
    if not isinstance(output, list) or len(output) != len(wanted):
        return Checked("incorrect_shape", said)
    if not all(type(value) is float for value in output):
        return Checked("incorrect_dtype", said)
    errors = [abs(got - want) for got, want in zip(output, wanted, strict=True)]
    allowed = [rule.get("maxAbsoluteError", 0) + rule.get("maxRelativeError", 0) * abs(want) for want in wanted]
    # A NaN is close to nothing.
    close = sum(error <= most for error, most in zip(errors, allowed, strict=True))
    said["matchedRatio"] = close / len(wanted)
    if all(map(math.isfinite, errors)):
        said["maximumAbsoluteError"] = max(errors)
    passed = said["matchedRatio"] >= rule.get("requiredMatchedRatio", 1)
    return Checked("passed" if passed else "incorrect_numerical", said)


# --- timing


class Timed(NamedTuple):
    """Nanoseconds a call, sample by sample, of the kernel and of the reference."""

    kernel: list[float]
    reference: list[float]
    checked: Checked


def run(kernel: Kernel, given: Inputs, wanted: Sequence[float], reference: Kernel, case: "Case") -> Timed:
    """Warm up, then time as the protocol says. The output of every sample is checked, outside the time taken."""
    plan, rule = case.protocol["measurement"], case.workload["correctness"]
    clock, calls = TIMERS[plan["timer"]], plan.get("measuredIterations", 1)
    timed = Timed([], [], check(kernel(**fresh(given)), wanted, rule))
    for _ in range(plan.get("warmupIterations", 0)):
        kernel(**fresh(given))
    gc.disable()
    for _ in range(plan.get("samples", 1)):
        if timed.checked.status != "passed":
            break
        if case.paired:
            timed.reference.append(_sample(reference, given, clock, calls)[0])
        elapsed, output = _sample(kernel, given, clock, calls)
        timed.kernel.append(elapsed)
        timed = timed._replace(checked=check(output, wanted, rule))
    gc.enable()
    return timed


def _sample(kernel: Kernel, given: Inputs, clock: Callable[[], int], calls: int) -> tuple[float, Any]:
    arguments = [fresh(given) for _ in range(calls)]
    output = None
    start = clock()
    for one in arguments:
        output = kernel(**one)
    return (clock() - start) / calls, output


# --- manifests


def measured(task: Mapping[str, Any], sources: Path) -> dict[str, Any]:
    """Measure what the request names: the run's manifest, and the environment's where the claim had another."""
    given = {name: read_manifest(tree) for name, tree in task["manifests"].items()}
    claim = given["run"].spec
    _require_named(given, claim)
    here = environment()
    digest = read_manifest(here).digest
    spec: dict[str, Any] = {
        field: claim[field] for field in ("implementationDigest", "workloadDigest", "protocolDigest")
    }
    spec |= {"environmentDigest": digest, "observedAt": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"}
    spec |= outcome(given, sources)
    manifest = {
        "apiVersion": "kernelindex.dev/v1alpha1",
        "kind": "BenchmarkRun",
        "metadata": {"name": f"cpu-{given['implementation'].name}"},
        "spec": spec,
    }
    return {"run": manifest} if digest == claim["environmentDigest"] else {"run": manifest, "environment": here}


def outcome(given: Mapping[str, Manifest], sources: Path) -> dict[str, Any]:
    """Status, correctness, and the timing or measurements of a run that passed."""
    case = Case(*(given[name].spec for name in ("implementation", "workload", "protocol")))
    case.require_ours()
    reference = load(sources, given["operation"].spec["reference"]["artifact"]["digest"], "reference")
    arguments = inputs(case.workload)
    wanted = reference(**fresh(arguments))
    try:
        kernel = load(
            sources, case.implementation["source"]["contentDigest"], case.implementation["callable"]["symbol"]
        )
    except (Unfit, OSError):
        raise
    except Exception as error:  # noqa: BLE001 what others wrote may raise anything
        return _failed("compile_error", error)
    try:
        timed = run(kernel, arguments, wanted, reference, case)
    except Exception as error:  # noqa: BLE001
        return _failed("runtime_error", error)
    said: dict[str, Any] = {"status": timed.checked.status, "correctness": timed.checked.correctness}
    if timed.checked.status != "passed":
        return said
    if case.paired:
        return said | {"measurements": [speedup(timed.reference, timed.kernel)]}
    return said | {"timing": timing(timed.kernel, case.protocol["measurement"]["primaryStatistic"])}


def _failed(status: str, error: Exception) -> dict[str, Any]:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    return {"status": status}


def _require_named(given: Mapping[str, Manifest], claim: Mapping[str, Any]) -> None:
    """The manifests are those that the run names, whoever sent them."""
    for name in ("implementation", "workload", "protocol"):
        if given[name].digest != claim[f"{name}Digest"]:
            raise Unfit(f"the {name} sent is {given[name].digest}, the run names {claim[f'{name}Digest']}")
    if given["operation"].digest != given["workload"].spec["operationSpecDigest"]:
        raise Unfit("the operation sent is not the one that the workload names")


def main() -> int:
    """Read a request from standard input, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, required=True, help="the folder of source files")
    chosen = parser.parse_args()
    try:
        # What a kernel prints is not what was measured.
        with redirect_stdout(sys.stderr):
            found = measured(json.load(sys.stdin), chosen.sources)
    except (Unfit, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
