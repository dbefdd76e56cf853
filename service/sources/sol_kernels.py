"""A kernel of the SOL-ExecBench leaderboard: its operation, its cases, and the suite of them all."""

from collections.abc import Iterator
from typing import Final

from domain.identity import canonical_json, digest_of
from domain.manifests import Kind
from service.sources.base import Record
from service.sources.manifests import Part, name_of, part, prose
from service.sources.shapes import axes, parameters, sizes, tensors
from service.sources.values import Fields

COMPARATOR: Final = "sol_execbench_eval"
_KERNELS_URL: Final = "https://research.nvidia.com/benchmarks/sol-execbench/api/kernels"
_SUITE_POLICY: Final = "Correctness must pass on every case in the SOL evaluation stack."


def operation_of(kernel: Fields) -> Part:
    """What the kernel computes."""
    tags = kernel.texts("tags")
    spec = {
        "family": name_of(tags[0]) if tags else "unspecified",
        "axes": axes(kernel),
        "inputs": parameters(kernel, "inputs"),
        "outputs": parameters(kernel, "outputs"),
        "semantics": {"mutation": "none", "determinism": "unspecified"},
    }
    return part(
        Kind.OPERATION_SPEC,
        spec,
        name=name_of(kernel.text("name")),
        title=kernel.text("name"),
        description=prose(kernel.optional_text("description") or "", 2000),
        sourceRefs=[{"url": _KERNELS_URL}],
    )


def _cases(kernel: Fields) -> list[tuple[str, dict[str, int]]]:
    """Each case's id, which is the beginning of the digest of its axes, and the axes in the source's order."""
    found = []
    for workload in kernel.items("workloads"):
        stated = workload.within("axes")
        case = {name.lower(): stated.integer(name) for name in stated.tree}
        found.append((digest_of(canonical_json(case)).removeprefix("sha256:")[:12], case))
    return found


def suite_of(kernel: Fields, operation: Part) -> Part:
    """All of its cases, measured as one."""
    spec = {
        "operationSpecDigest": operation.digest,
        "cases": [{"externalId": id_, "axes": case} for id_, case in _cases(kernel)],
        "correctness": {"comparator": COMPARATOR, "description": _SUITE_POLICY},
        "aggregation": {"metric": "latency", "statistic": "mean"},
    }
    name = kernel.text("name")
    return part(Kind.WORKLOAD_SUITE, spec, name=f"{name_of(name)[:194]}-suite", title=f"SOL workload suite: {name}")


def records_of(kernel: Fields) -> Iterator[Record]:
    """The suite and each case as workloads."""
    operation, name = operation_of(kernel), kernel.text("name")
    yield Record(row=name, bundle={"operation": operation.tree, "workload": suite_of(kernel, operation).tree})
    for id_, case in _cases(kernel):
        spec = {
            "operationSpecDigest": operation.digest,
            "axes": case,
            "tensors": tensors(operation.spec, sizes(operation.spec, case)),
            "correctness": {"comparator": COMPARATOR},
        }
        listed = ", ".join(f"{axis}={size}" for axis, size in case.items())
        workload = part(Kind.WORKLOAD_CASE, spec, name=f"{name_of(name)[:191]}-{id_[:8]}", title=f"{name} · {listed}")
        yield Record(row=f"{name}/{id_}", bundle={"operation": operation.tree, "workload": workload.tree})
