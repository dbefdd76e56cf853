"""Liger-Kernel: the CSV file that its benchmarks write."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from domain.json_text import Json, read_json
from domain.manifests import Kind
from service.sources.base import Document, Noted, Parsed, Record, Skipped, Source, Told
from service.sources.hardware import Hardware, hardware
from service.sources.manifests import Part, bundle, given, name_of, part, title_of
from service.sources.rows import each
from service.sources.shapes import dtype
from service.sources.values import Fields

SLUG: Final = "liger-kernel"
_REPOSITORY: Final = "https://github.com/linkedin/Liger-Kernel"
_COLUMNS: Final = {"kernel_name", "kernel_provider", "kernel_operation_mode", "metric_name", "x_name", "y_value_50"}
_NOT_IN_AXES: Final = re.compile(r"[^a-z0-9_]+")


def recognises(document: Document) -> bool:
    """Whether this is a row of that file."""
    return isinstance(document, dict) and document.keys() >= _COLUMNS


def parse(document: Document, told: Told) -> Iterator[Parsed]:
    """The run that a row is."""
    yield from each([("", document)], lambda row: _row(row, told), _external_id)


def _external_id(row: dict[str, Any]) -> str:
    columns = ("kernel_name", "kernel_operation_mode", "kernel_provider", "liger_version", "x_name", "x_value")
    return "/".join(str(row.get(name)) for name in columns)[:500]


def _row(row: Fields, told: Told) -> Iterator[Parsed]:
    if row.text("metric_name") != "speed":
        yield Skipped(f"measurements of {row.text('metric_name')}", _external_id(row.tree))
        return
    if row.text("metric_unit") != "ms":
        raise row.fault("metric_unit", f"speed in {row.text('metric_unit')}, where milliseconds are written")
    axes, settings = _configuration(row)
    operation = _operation(row.text("kernel_name"), row.text("kernel_operation_mode"), settings, tuple(sorted(axes)))
    listed = ", ".join(f"{axis}={size}" for axis, size in axes.items())
    workload = part(
        Kind.WORKLOAD_CASE,
        {
            "operationSpecDigest": operation.digest,
            "axes": axes,
            "tensors": {},
            "correctness": {"comparator": "unspecified"},
        },
        name=name_of(operation.tree["metadata"]["name"], listed),
        title=f"{title_of(operation)} · {listed}",
    )
    gpu = hardware(row.text("gpu_name"))
    if not gpu.known:
        yield Noted(f"hardware {row.text('gpu_name')!r} is in no table of names: kept as published")
    yield Record(
        row=_external_id(row.tree),
        operation=operation.digest,
        bundle=_bundle(row, told, operation, workload, _environment(gpu.vendor, gpu.product, gpu.architecture)),
    )


def _bundle(row: Fields, told: Told, operation: Part, workload: Part, environment: Part) -> dict[str, Json]:
    provider, kernel = row.text("kernel_provider"), row.text("kernel_name")
    revision, card = (row.text("liger_version"), hardware(row.text("gpu_name")))
    implementation = _implementation(operation, (provider, kernel, revision), card, _dtypes(row))
    middle = row.nanoseconds("y_value_50", "ms")
    low, high = row.nanoseconds("y_value_20", "ms"), row.nanoseconds("y_value_80", "ms")
    if not low <= middle <= high:
        raise row.fault("y_value_50", "the median does not lie between the 20th and the 80th percentile")
    quantiles = (("p20", low), ("p80", high))
    run = part(
        Kind.BENCHMARK_RUN,
        {
            "implementationDigest": implementation.digest,
            "workloadDigest": workload.digest,
            "protocolDigest": _protocol().digest,
            "environmentDigest": environment.digest,
            "status": "passed",
            "timing": {"primaryStatistic": "median", "latencyNs": {"median": middle}},
            "measurements": [
                {"metric": "latency", "unit": "ns", "statistic": name, "value": value} for name, value in quantiles
            ],
            "sourceNative": {"source": SLUG, "benchmark": f"{kernel}/{row.text('kernel_operation_mode')}"[:200]},
            "observedAt": row.instant("timestamp", told.now),
        },
        name=name_of("liger", kernel, provider, row.text("timestamp")),
        title=f"{provider} · {title_of(workload)}",
        labels=given(hardware=row.text("gpu_name")),
    )
    return bundle(
        run,
        {"source": SLUG, "externalId": _external_id(row.tree)},
        project=_project() if provider.startswith("liger") else None,
        operation=operation,
        workload=workload,
        implementation=implementation,
        protocol=_protocol(),
        environment=environment,
    )


def _configuration(row: Fields) -> tuple[dict[str, int], tuple[tuple[str, str], ...]]:
    """The sizes of a row, x among them, and what else its configuration fixes."""
    stated = read_json(row.optional_text("extra_benchmark_config_str") or "{}")
    if not isinstance(stated, dict):
        raise row.fault("extra_benchmark_config_str", "is not an object")
    axes = {_axis(row.text("x_name")): row.integer("x_value")}
    settings = []
    for name, value in stated.items():
        if name == row.text("x_name") or value is None:
            continue
        if isinstance(value, int) and not isinstance(value, bool):
            if _axis(name) in axes:
                raise row.fault("extra_benchmark_config_str", f"{name} differs from another size in capitals only")
            axes[_axis(name)] = value
        else:
            settings.append((name, str(value)))
    return axes, tuple(sorted(settings))


def _axis(name: str) -> str:
    plain = _NOT_IN_AXES.sub("_", name.lower()).strip("_")
    return plain if plain[:1].isalpha() else f"x_{plain}"


def _dtypes(row: Fields) -> list[str]:
    stated = dict(_configuration(row)[1]).get("dtype")
    return [dtype(stated)] if stated else []


@lru_cache(maxsize=512)
def _operation(kernel: str, mode: str, settings: tuple[tuple[str, str], ...], axes: tuple[str, ...]) -> Part:
    # The file names its kernels and no more, so the name and what is fixed are all that tells operations apart.
    said = "; ".join(f"{name} = {value}" for name, value in (("pass", mode), *settings))
    spec = {
        "family": name_of(kernel)[:100].strip("-"),
        "axes": {axis: {"role": "variable", "type": "integer"} for axis in axes},
        "inputs": [{"name": "input"}],
        "outputs": [{"name": "output"}],
        "semantics": {
            "expression": f"Liger-Kernel benchmark {kernel}; {said}",
            "mutation": "none",
            "determinism": "unspecified",
        },
    }
    values = [mode, *(value for _, value in settings)]
    return part(
        Kind.OPERATION_SPEC, spec, name=name_of("liger", kernel, *values), title=f"{kernel} ({', '.join(values)})"
    )


def _implementation(operation: Part, named: tuple[str, str, str], card: Hardware, dtypes: list[str]) -> Part:
    provider, kernel, version = named
    revision: dict[str, Json] = {"version": f"as benchmarked by Liger-Kernel {version}"}
    if provider.startswith("liger"):
        revision = {"version": version, "repository": _REPOSITORY}
    return part(
        Kind.IMPLEMENTATION_REVISION,
        {
            "projectRevision": revision,
            "operation": {"specDigest": operation.digest},
            "callable": {"language": "unknown", "symbol": provider},
            "support": {
                "hardwareArchitectures": [card.architecture],
                "productsTested": [card.product],
                "dtypes": dtypes,
            },
            "licensing": {},
        },
        name=name_of(provider, kernel, version),
        title=f"{provider} · {kernel}",
        sourceRefs=[{"url": _REPOSITORY}],
    )


@lru_cache(maxsize=1)
def _project() -> Part:
    host = {"kind": "github", "id": "linkedin/Liger-Kernel"}
    spec = {"name": "Liger-Kernel", "repository": _REPOSITORY, "host": host}
    return part(Kind.SOFTWARE_PROJECT, spec, name="liger-kernel")


@lru_cache(maxsize=1)
def _protocol() -> Part:
    spec: dict[str, Json] = {
        "harness": {"name": "Liger-Kernel benchmark scripts", "repository": _REPOSITORY},
        "measurement": {"timer": "harness_reported", "primaryStatistic": "median"},
        "comparability": {"family": "liger_kernel_benchmark"},
    }
    return part(Kind.BENCHMARK_PROTOCOL, spec, name="liger-kernel-benchmark", title="Liger-Kernel benchmark scripts")


@lru_cache(maxsize=64)
def _environment(vendor: str, product: str, architecture: str) -> Part:
    spec = {"hardware": {"vendor": vendor, "product": product, "architecture": architecture}, "software": {}}
    return part(
        Kind.EXECUTION_ENVIRONMENT, spec, name=name_of("liger", product), title=f"{product} (as Liger-Kernel names it)"
    )


SOURCE = Source(
    name="liger",
    slug=SLUG,
    version="1",
    reads="Liger-Kernel's benchmark file, all_benchmark_data.csv",
    conventions=(
        "y_value_50, _20 and _80 are the median and the 20th and 80th percentile; milliseconds become nanoseconds",
        "rows that measure memory are skipped and counted",
        "whole numbers of the configuration are sizes; what else it fixes (dtype, eps) is part of the operation",
        "a row with more or fewer columns than the heading is refused: a decimal comma shifts all behind it",
    ),
    recognises=recognises,
    resembles=recognises,
    parse=parse,
)
