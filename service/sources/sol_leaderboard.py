"""NVIDIA SOL-ExecBench, as the leaderboard's API answers: kernels, one kernel in detail, submissions."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from domain.identity import canonical_json, digest_of
from domain.json_text import Json
from domain.manifests import Kind
from service.sources.base import Document, Fact, Noted, Parsed, Record, Skipped, Source, Told, Whole, Withdrawn
from service.sources.hardware import hardware
from service.sources.manifests import Part, bundle, given, name_of, part, prose
from service.sources.rows import each
from service.sources.shapes import axes, input_dtypes, parameters, sizes, tensors
from service.sources.values import Fields, plain

NAME: Final = "sol-leaderboard"
SLUG: Final = "sol-execbench"
_KERNELS_URL: Final = "https://research.nvidia.com/benchmarks/sol-execbench/api/kernels"
_COMPARATOR: Final = "sol_execbench_eval"
_SUITE_POLICY: Final = "Correctness must pass on every case in the SOL evaluation stack."
_METRICS: Final = ("sol_score", "latency_ms", "avg_speedup", "fast_1_count", "fast_1_total")


def _data(document: Document) -> dict[str, Any]:
    data = document.get("data") if isinstance(document, dict) else None
    return data if isinstance(data, dict) else {}


def recognises(document: Document) -> bool:
    """Whether this is an answer of the API."""
    data = _data(document)
    return "submissions" in data or "kernels" in data or {"name", "axes", "inputs", "workloads"} <= data.keys()


def learn(document: Document, _: Told) -> Iterator[Fact]:
    """A kernel in detail is what submissions refer to."""
    if "workloads" in _data(document):
        kernel = Fields(document["data"], "data")
        operation = _operation(kernel)
        yield "operation", kernel.text("name"), operation
        yield "suite", operation.digest, _suite(kernel, operation)


def parse(document: Document, told: Told) -> Iterator[Parsed]:
    """The kernel with its workloads, or the runs that the submissions are."""
    data = Fields(_data(document), "data")
    if "workloads" in data.tree:
        yield from _kernel(data)
    elif "submissions" in data.tree:
        yield from each(data.rows("submissions"), lambda row: _submission(row, told), _external_id)
        yield from _extent(data, told)
    else:
        yield from (Skipped("kernels that are only listed") for _ in data.rows("kernels"))


def _external_id(row: dict[str, Any]) -> str:
    return str(row.get("id"))


def _operation(kernel: Fields) -> Part:
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


def _suite(kernel: Fields, operation: Part) -> Part:
    spec = {
        "operationSpecDigest": operation.digest,
        "cases": [{"externalId": id_, "axes": case} for id_, case in _cases(kernel)],
        "correctness": {"comparator": _COMPARATOR, "description": _SUITE_POLICY},
        "aggregation": {"metric": "latency", "statistic": "mean"},
    }
    name = kernel.text("name")
    return part(Kind.WORKLOAD_SUITE, spec, name=f"{name_of(name)[:194]}-suite", title=f"SOL workload suite: {name}")


def _kernel(kernel: Fields) -> Iterator[Parsed]:
    operation, name = _operation(kernel), kernel.text("name")
    yield Record(row=name, bundle={"operation": operation.tree, "workload": _suite(kernel, operation).tree})
    for id_, case in _cases(kernel):
        spec = {
            "operationSpecDigest": operation.digest,
            "axes": case,
            "tensors": tensors(operation.spec, sizes(operation.spec, case)),
            "correctness": {"comparator": _COMPARATOR},
        }
        listed = ", ".join(f"{axis}={size}" for axis, size in case.items())
        workload = part(Kind.WORKLOAD_CASE, spec, name=f"{name_of(name)[:191]}-{id_[:8]}", title=f"{name} · {listed}")
        yield Record(row=f"{name}/{id_}", bundle={"operation": operation.tree, "workload": workload.tree})


def _submission(row: Fields, told: Told) -> Iterator[Parsed]:
    if row.get("type") not in (None, "kernel") or row.get("submission_mode") not in (None, "release"):
        yield Skipped("submissions that are not a kernel's release", _external_id(row.tree))
        return
    if row.get("is_disqualified"):
        reason = str(row.get("disqualification_reason") or "disqualified by the source")
        yield Withdrawn(row=_external_id(row.tree), reason=reason)
        return
    if row.text("status") != "COMPLETED" or row.get("is_correct") is not True:
        yield Skipped("submissions without a correct result", _external_id(row.tree))
        return
    kernel = row.text("kernel_name")
    operation = told.operation(NAME, kernel, name_of(kernel))
    suite = told.suite(NAME, operation) if operation else None
    if operation is None or suite is None:
        remedy = "import the kernel's own page with it, or name it with --kernel"
        raise row.fault("kernel_name", f"kernel {kernel} is not known: its axes and cases are needed", remedy=remedy)
    yield from _run(row, told, operation, suite)


def _run(row: Fields, told: Told, operation: Part, suite: Part) -> Iterator[Parsed]:
    gpu, user, kernel, id_ = (
        hardware(row.text("gpu_type")),
        row.text("username"),
        row.text("kernel_name"),
        row.text("id"),
    )
    if not gpu.known:
        yield Noted(f"hardware {row.text('gpu_type')!r} is in no table of names: kept as published")
    _counts_agree(row, suite)
    implementation = part(
        Kind.IMPLEMENTATION_REVISION,
        {
            "projectRevision": {"version": f"submission-{id_}"},
            "operation": {"specDigest": operation.digest},
            "callable": {"language": "unknown"},
            "support": {
                "hardwareArchitectures": [gpu.architecture],
                "productsTested": [gpu.product],
                "dtypes": input_dtypes(operation.spec),
            },
            "licensing": {},
        },
        name=f"sol-submission-{name_of(id_)}",
        title=f"{user} · {kernel}",
        authors=[{"name": prose(user, 200)}],
    )
    stack = row.text("evaluation_stack_version")
    protocol, environment = _protocol(stack), _environment(gpu.vendor, gpu.product, gpu.architecture, stack)
    run = part(
        Kind.BENCHMARK_RUN,
        {
            "implementationDigest": implementation.digest,
            "workloadDigest": suite.digest,
            "protocolDigest": protocol.digest,
            "environmentDigest": environment.digest,
            "status": "passed",
            "timing": {"primaryStatistic": "mean", "latencyNs": {"mean": row.nanoseconds("latency_ms", "ms")}},
            "sourceNative": {
                "source": SLUG,
                "benchmark": kernel,
                "externalId": id_,
                "metrics": {name: plain(row.number(name)) for name in _METRICS if row.get(name) is not None},
            },
            "observedAt": row.instant("submitted_at", told.now),
        },
        name=f"sol-submission-{name_of(id_)}",
        title=f"{user} · {kernel} · {row.text('gpu_type')}",
        labels=given(worker=row.optional_text("worker_id"), hardware=None if gpu.known else row.text("gpu_type")),
    )
    project = _project(user)
    yield Record(
        row=_external_id(row.tree),
        operation=operation.digest,
        bundle=bundle(
            run,
            {"source": SLUG, "producer": project.spec["host"]["id"]},
            project=project,
            operation=operation,
            workload=suite,
            implementation=implementation,
            protocol=protocol,
            environment=environment,
        ),
    )


def _counts_agree(row: Fields, suite: Part) -> None:
    if row.get("fast_1_total") is None:
        return
    total, cases = row.integer("fast_1_total"), len(suite.spec["cases"])
    if total != cases:
        raise row.fault("fast_1_total", f"{total} cases were counted, the kernel has {cases}")
    if row.get("fast_1_count") is not None and not 0 <= row.integer("fast_1_count") <= total:
        raise row.fault("fast_1_count", f"{row.integer('fast_1_count')} of {total} cases can't be faster")


def _extent(data: Fields, told: Told) -> Iterator[Parsed]:
    """Where the pages are about one kernel, their total says how many submissions it has."""
    kernels = {str(row.get("kernel_name")) for _, row in data.rows("submissions") if isinstance(row, dict)}
    operation = told.operation(NAME, *kernels, *map(name_of, kernels)) if len(kernels) == 1 else None
    if operation and data.get("total") is not None:
        yield Whole(operation=operation.digest, rows=data.integer("total"))


@lru_cache(maxsize=64)
def _protocol(stack: str) -> Part:
    spec: dict[str, Json] = {
        "harness": {"name": "SOL-ExecBench evaluation stack", "version": stack},
        "measurement": {"timer": "harness_reported", "primaryStatistic": "mean"},
        "correctness": {"reference": "definition reference implementation", "comparator": _COMPARATOR},
        "comparability": {
            "family": "sol_execbench_leaderboard",
            "notes": "Suite-mean latency and SOL-Score as published by the SOL-ExecBench leaderboard. Comparable only"
            " within one definition, GPU type, and evaluation stack version.",
        },
    }
    return part(
        Kind.BENCHMARK_PROTOCOL,
        spec,
        name=f"sol-execbench-leaderboard-{name_of(stack)}",
        title=f"SOL-ExecBench evaluation stack {stack}",
    )


@lru_cache(maxsize=64)
def _environment(vendor: str, product: str, architecture: str, stack: str) -> Part:
    spec = {
        "hardware": {"vendor": vendor, "product": product, "architecture": architecture},
        "software": {"libraries": {"evaluation_stack": stack}},
    }
    short = product.removeprefix("NVIDIA ")
    name = f"sol-execbench-{name_of(short, stack)}"
    return part(Kind.EXECUTION_ENVIRONMENT, spec, name=name, title=f"SOL-ExecBench {product}, stack {stack}")


@lru_cache(maxsize=256)
def _project(user: str) -> Part:
    spec = {"name": user, "host": {"kind": "other", "id": f"{SLUG}/user/{user}"}}
    return part(Kind.SOFTWARE_PROJECT, spec, name=f"sol-user-{name_of(user)}")


SOURCE = Source(
    name=NAME,
    slug=SLUG,
    version="1",
    reads="answers of the SOL-ExecBench leaderboard's API: one kernel in detail, and submissions",
    needs="for submissions, the detail of their kernel: in the same import, or with --kernel",
    conventions=(
        "latency_ms is the mean over the suite: the run's workload is the suite of all of the kernel's cases",
        "a case's id is the first 12 hex digits of SHA-256 of the canonical JSON of its axes",
        "a kernel's family is its first tag; determinism is unspecified, for the API doesn't say",
        "an evaluation stack of another version is another protocol",
        "disqualified submissions are reported, not imported",
    ),
    states_total=True,
    recognises=recognises,
    resembles=recognises,
    parse=parse,
    learn=learn,
)
