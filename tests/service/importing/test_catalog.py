"""Rows of a catalog export: what they become, and what is wrong with those that are refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from domain.errors import ErrorCode
from domain.facts import AliasClaimed, ArtifactRecorded, ManifestRegistered, RunIngested, SourceRegistered
from service.app import Index
from tests.service.importing.conftest import Import
from tests.service.importing.exports import COUNTS, Line, changed, number_of, one_run, sample, written

OTHER = f"sha256:{'0' * 64}"


def set_to(field: str, value: Any) -> Callable[[Line], None]:
    """Sets a field of a row, by its path."""

    def change(row: Line) -> None:
        *way, last = field.split(".")
        for step in way:
            row = row[step]
        row[last] = value

    return change


def without(field: str) -> Callable[[Line], None]:
    """Takes a field out of a row."""
    return lambda row: row.pop(field)


class Case(NamedTuple):
    """A change to the first row of a table, and where it must be refused."""

    table: str
    change: Callable[[Line], None]
    path: str
    code: ErrorCode


REFUSED = [
    Case("operations", set_to("semanticDigest", OTHER), "row.semanticDigest", ErrorCode.DIGEST_MISMATCH),
    Case("workloads", set_to("workloadDigest", OTHER), "row.workloadDigest", ErrorCode.DIGEST_MISMATCH),
    Case(
        "implementations", set_to("implementationDigest", OTHER), "row.implementationDigest", ErrorCode.DIGEST_MISMATCH
    ),
    Case("benchmark_runs", set_to("runDigest", OTHER), "row.runDigest", ErrorCode.DIGEST_MISMATCH),
    Case("benchmark_runs", set_to("protocolKey", OTHER), "row.protocolKey", ErrorCode.DIGEST_MISMATCH),
    Case("benchmark_runs", set_to("environmentKey", OTHER), "row.environmentKey", ErrorCode.DIGEST_MISMATCH),
    Case("benchmark_runs", set_to("correctnessKey", OTHER), "row.correctnessKey", ErrorCode.DIGEST_MISMATCH),
    Case("benchmark_runs", set_to("comparisonKey", OTHER), "row.comparisonKey", ErrorCode.DIGEST_MISMATCH),
    Case("benchmark_runs", without("runDigest"), "row.runDigest", ErrorCode.MISSING_FIELD),
    Case("benchmark_runs", set_to("publishedAt", "yesterday"), "row.publishedAt", ErrorCode.INVALID_VALUE),
    Case("benchmark_runs", set_to("retractedAt", "2026-08-15T00:00:00Z"), "row.retractedAt", ErrorCode.INVALID_VALUE),
    Case("benchmark_runs", set_to("manifest", {}), "row.manifest.run", ErrorCode.MISSING_FIELD),
    Case(
        "benchmark_runs",
        set_to("manifest.run.spec.status", "splendid"),
        "row.manifest.run.spec.status",
        ErrorCode.INVALID_VALUE,
    ),
    Case(
        "benchmark_runs",
        set_to("manifest.protocol.spec.colour", "blue"),
        "row.manifest.protocol.spec.colour",
        ErrorCode.UNKNOWN_FIELD,
    ),
    Case("implementations", set_to("projectId", "nobody"), "row.projectId", ErrorCode.INVALID_VALUE),
    Case("operation_aliases", set_to("operationId", "nobody"), "row.operationId", ErrorCode.INVALID_VALUE),
    Case("sources", set_to("slug", "Not A Slug"), "row.slug", ErrorCode.INVALID_VALUE),
    Case("projects", set_to("id", " blank "), "row.id", ErrorCode.INVALID_VALUE),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.path)
async def test_a_refusal_names_line_field_and_remedy(case: Case, tmp_path: Path, imported: Import) -> None:
    lines = one_run()
    number = changed(lines, case.table, case.change)
    file = written(tmp_path, lines)

    report = await imported(file)

    problems = [problem for rejected in report.refused for problem in rejected.problems]
    first = problems[0]
    assert (first.document, first.path, first.code) == (f"{file}:{number}", case.path, case.code)
    assert all(problem.remedy for problem in problems)


async def test_one_bad_row_loses_no_other_record(tmp_path: Path, imported: Import) -> None:
    lines = sample()
    changed(lines, "benchmark_runs", set_to("runDigest", OTHER), nth=17)

    report = await imported(written(tmp_path, lines))

    counts = {kind: count.new for kind, count in report.counts.items()}
    assert counts == COUNTS | {"runs": 189}
    assert report.counts["runs"].refused == 1


async def test_a_row_that_points_to_a_refused_one_says_so(tmp_path: Path, imported: Import) -> None:
    lines = one_run()
    changed(lines, "operations", set_to("semanticDigest", OTHER))

    report = await imported(written(tmp_path, lines))

    by_kind = {rejected.kind: rejected.problems[0] for rejected in report.refused}
    assert set(by_kind) == {"operations", "operation aliases"}
    assert by_kind["operation aliases"].message == "its operation was refused"


async def test_an_implementation_is_kept_where_its_project_was_refused(
    index: Index, tmp_path: Path, imported: Import
) -> None:
    """It joins the project when a later import brings both."""
    lines = one_run()
    changed(lines, "projects", set_to("manifest.kind", "Projekt"))
    implementation = lines[number_of(lines, "implementations") - 1]["row"]
    stream = f"manifest/{implementation['implementationDigest']}"

    report = await imported(written(tmp_path, lines))
    (alone,) = index.log.load([stream])[stream]
    await imported(written(tmp_path, one_run()))
    _, joined = index.log.load([stream])[stream]

    assert [rejected.kind for rejected in report.refused] == ["projects"]
    assert isinstance(alone.fact, ManifestRegistered)
    assert alone.fact.project is None
    assert isinstance(joined.fact, ManifestRegistered)
    assert joined.fact.project is not None


@pytest.mark.parametrize("line", [{"table": "secrets", "row": {}}, {"table": ["runs"], "row": None}])
async def test_an_unknown_table_is_refused(line: Line, tmp_path: Path, imported: Import) -> None:
    file = written(tmp_path, [line])
    (rejected,) = (await imported(file)).refused
    assert rejected.problems[0].document == f"{file}:1"
    assert rejected.problems[0].path == "table"
    assert rejected.problems[0].code is ErrorCode.UNKNOWN_KIND


async def test_a_row_that_is_no_object_is_refused(tmp_path: Path, imported: Import) -> None:
    (rejected,) = (await imported(written(tmp_path, [{"table": "benchmark_runs", "row": 1}]))).refused
    assert rejected.kind == "runs"
    assert rejected.problems[0].path == "row"


async def test_rows_become_facts_with_their_old_ids(index: Index, tmp_path: Path, imported: Import) -> None:
    lines = sample()
    artifact: Line = {
        "id": "01a006c1-a0dc-763b-b0fd-f91172904c3c",
        "contentDigest": OTHER,
        "kind": "source",
        "mediaType": "text/x-python",
        "sizeBytes": 4575,
        "storage": "inline",
        "uri": "https://example.org/kernel.py",
        "license": "Apache-2.0",
    }
    rows = {line["table"]: line["row"] for line in reversed(lines)} | {"artifacts": artifact}

    await imported(written(tmp_path, [*lines, {"table": "artifacts", "row": artifact}]))

    facts = {committed.recorded.originator_id: committed.recorded.fact for committed in index.log.read(0, 10_000)}
    run = facts[f"run/{rows['benchmark_runs']['runDigest']}"]
    assert isinstance(run, RunIngested)
    assert (run.source, run.published_at) == ("sol-execbench", rows["benchmark_runs"]["publishedAt"])
    source = facts["source/flashinfer-bench"]
    assert isinstance(facts[f"artifact/{OTHER}"], ArtifactRecorded)
    assert facts[f"artifact/{OTHER}"] == ArtifactRecorded(
        digest=OTHER,
        kind="source",
        media_type="text/x-python",
        size_bytes=4575,
        uri="https://example.org/kernel.py",
        licence="Apache-2.0",
    )
    targets = {
        name.removeprefix("alias/"): fact.target for name, fact in facts.items() if isinstance(fact, AliasClaimed)
    }
    assert targets[artifact["id"]] == OTHER
    assert targets[rows["sources"]["id"]] == "source/sol-execbench"
    assert targets[rows["benchmark_runs"]["id"]] == rows["benchmark_runs"]["runDigest"]
    assert targets[rows["operation_aliases"]["alias"]] == targets[rows["operation_aliases"]["operationId"]]
    assert source is not None


async def test_a_source_brings_its_terms_and_a_known_one_its_homepage(
    index: Index, tmp_path: Path, imported: Import
) -> None:
    await imported(written(tmp_path, sample()))
    registered = index.log.load(["source/flashinfer-bench"])["source/flashinfer-bench"][0].fact
    assert isinstance(registered, SourceRegistered)
    assert registered.name == "FlashInfer-Bench"
    assert registered.homepage == "https://huggingface.co/datasets/flashinfer-ai/flashinfer-trace"
    assert b'"license":"Apache-2.0"' in bytes(registered.policy or b"")
