"""A source, to be copied to ``service/sources/NAME.py``: what the benchmark publishes, and how it is read.

This one reads the results of a made-up Tern board: ``{"board": "tern", "results": [{"id", "kernel", "by", "gpu",
"median_us", "measured_at"}]}``.
"""

from collections.abc import Iterator
from typing import Final

from domain.manifests import Kind
from service.sources.base import Document, Noted, Parsed, Record, Skipped, Source, Told
from service.sources.hardware import hardware
from service.sources.manifests import Part, bundle, name_of, part
from service.sources.rows import each
from service.sources.values import Fields

SLUG: Final = "tern-board"


def recognises(document: Document) -> bool:
    """Whether the document can be of no other source. It may be anything that JSON can hold."""
    return isinstance(document, dict) and document.get("board") == "tern"


def parse(document: Document, told: Told) -> Iterator[Parsed]:
    """One record for each row; a row that can't be trusted is refused, and keeps no other out."""
    rows = Fields(document).rows("results")
    yield from each(rows, lambda row: _result(row, told), lambda row: str(row.get("id")))


def _result(row: Fields, told: Told) -> Iterator[Parsed]:
    # Every method of Fields reads exactly, and refuses with the path of the field.
    if row.get("withdrawn"):
        yield Skipped("results that were withdrawn", row.text("id"))
        return
    card = hardware(row.text("gpu"))
    if not card.known:
        yield Noted(f"hardware {row.text('gpu')!r} is in no table of names: kept as published")
    operation = _operation(row.text("kernel"))
    workload = part(
        Kind.WORKLOAD_CASE,
        {
            "operationSpecDigest": operation.digest,
            "axes": {"n": row.integer("n")},
            "tensors": {},
            "correctness": {"comparator": "unspecified"},
        },
        name=name_of("tern", row.text("kernel"), row.text("n")),
    )
    implementation = part(
        Kind.IMPLEMENTATION_REVISION,
        {
            "projectRevision": {"version": row.text("id")},
            "operation": {"specDigest": operation.digest},
            "callable": {"language": "unknown"},
            "support": {"hardwareArchitectures": [card.architecture], "dtypes": []},
            "licensing": {},  # nothing is guessed: no licence that isn't there
        },
        name=name_of("tern", row.text("id")),
        authors=[{"name": row.text("by")}],
    )
    protocol = part(
        Kind.BENCHMARK_PROTOCOL,
        {
            "harness": {"name": "Tern board"},
            "measurement": {"timer": "harness_reported", "primaryStatistic": "median"},
        },
        name="tern-board",
    )
    environment = part(
        Kind.EXECUTION_ENVIRONMENT,
        {
            "hardware": {"vendor": card.vendor, "product": card.product, "architecture": card.architecture},
            "software": {},
        },
        name=name_of("tern", card.product),
    )
    run = part(
        Kind.BENCHMARK_RUN,
        {
            "implementationDigest": implementation.digest,
            "workloadDigest": workload.digest,
            "protocolDigest": protocol.digest,
            "environmentDigest": environment.digest,
            "status": "passed",
            "timing": {"primaryStatistic": "median", "latencyNs": {"median": row.nanoseconds("median_us", "us")}},
            "sourceNative": {"source": SLUG, "benchmark": row.text("kernel"), "externalId": row.text("id")},
            "observedAt": row.instant("measured_at", told.now),
        },
        name=name_of("tern", row.text("id")),
    )
    yield Record(
        row=row.text("id"),
        operation=operation.digest,
        bundle=bundle(
            run,
            {"source": SLUG},
            operation=operation,
            workload=workload,
            implementation=implementation,
            protocol=protocol,
            environment=environment,
        ),
    )


def _operation(kernel: str) -> Part:
    spec = {
        "family": "unspecified",
        "axes": {"n": {"role": "variable", "type": "integer"}},
        "inputs": [{"name": "x"}],
        "outputs": [{"name": "y"}],
        "semantics": {"expression": f"Tern board {kernel}", "mutation": "none", "determinism": "unspecified"},
    }
    return part(Kind.OPERATION_SPEC, spec, name=name_of("tern", kernel), title=kernel)


SOURCE = Source(
    name="tern",
    slug=SLUG,
    version="1",
    reads="results of the Tern board",
    conventions=("median_us is the median of each result; a time without a zone is UTC",),
    recognises=recognises,
    resembles=recognises,
    parse=parse,
)
