"""NVIDIA SOL-ExecBench, as the leaderboard's API answers: kernels, one kernel in detail, submissions."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from domain.json_text import Json
from domain.manifests import Kind
from service.sources.base import Document, Fact, Noted, Parsed, Record, Skipped, Source, Told, Whole, Withdrawn
from service.sources.hardware import Hardware, hardware
from service.sources.manifests import Part, bundle, given, name_of, part, prose
from service.sources.rows import each
from service.sources.shapes import input_dtypes
from service.sources.sol_kernels import COMPARATOR, operation_of, records_of, suite_of
from service.sources.values import Fields, plain

NAME: Final = "sol-leaderboard"
SLUG: Final = "sol-execbench"
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
        operation = operation_of(kernel)
        yield "operation", kernel.text("name"), operation
        yield "suite", operation.digest, suite_of(kernel, operation)


def parse(document: Document, told: Told) -> Iterator[Parsed]:
    """The kernel with its workloads, or the runs that the submissions are."""
    data = Fields(_data(document), "data")
    if "workloads" in data.tree:
        yield from records_of(data)
    elif "submissions" in data.tree:
        yield from each(data.rows("submissions"), lambda row: _submission(row, told), _external_id)
        yield from _extent(data, told)
    else:
        yield from (Skipped("kernels that are only listed") for _ in data.rows("kernels"))


def _external_id(row: dict[str, Any]) -> str:
    return str(row.get("id"))


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
    gpu, stack = hardware(row.text("gpu_type")), row.text("evaluation_stack_version")
    if not gpu.known:
        yield Noted(f"hardware {row.text('gpu_type')!r} is in no table of names: kept as published")
    _counts_agree(row, suite)
    implementation, project = _implementation(row, operation, gpu), _project(row.text("username"))
    protocol, environment = _protocol(stack), _environment(gpu.vendor, gpu.product, gpu.architecture, stack)
    references = {
        "implementationDigest": implementation.digest,
        "workloadDigest": suite.digest,
        "protocolDigest": protocol.digest,
        "environmentDigest": environment.digest,
    }
    yield Record(
        row=_external_id(row.tree),
        operation=operation.digest,
        bundle=bundle(
            _run_of(row, told, references),
            {"source": SLUG, "producer": project.spec["host"]["id"]},
            project=project,
            operation=operation,
            workload=suite,
            implementation=implementation,
            protocol=protocol,
            environment=environment,
        ),
    )


def _run_of(row: Fields, told: Told, references: dict[str, str]) -> Part:
    user, kernel, id_, gpu = (row.text(name) for name in ("username", "kernel_name", "id", "gpu_type"))
    return part(
        Kind.BENCHMARK_RUN,
        {
            **references,
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
        title=f"{user} · {kernel} · {gpu}",
        labels=given(worker=row.optional_text("worker_id"), hardware=None if hardware(gpu).known else gpu),
    )


def _implementation(row: Fields, operation: Part, gpu: Hardware) -> Part:
    id_, user = row.text("id"), row.text("username")
    return part(
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
        title=f"{user} · {row.text('kernel_name')}",
        authors=[{"name": prose(user, 200)}],
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
        "correctness": {"reference": "definition reference implementation", "comparator": COMPARATOR},
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
