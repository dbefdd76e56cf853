"""What an import says of records that a source changed, disqualified or removed, and what it does about them."""

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from domain.errors import InvalidInput
from domain.facts import RunIngested, RunRetracted, SourceImported
from service.app import Index, open_index
from service.importing.jobs import try_import
from service.importing.report import Report
from service.importing.upstream import Options
from service.settings import Settings
from tests.examples import Clock, Ids
from tests.service.api.asking import ask
from tests.service.sources import reading
from tests.service.sources.importing import fixture, imported, written

KERNEL = reading.SOURCES / "sol-leaderboard" / "kernel-4.json"


def page(tmp_path: Path, *changes: dict[str, Any], total: int = 50, name: str = "page.json") -> Path:
    """A page of submissions: the fixture's two, each with its changes; of more changes further ones."""
    document = fixture("sol-leaderboard", "submissions.json")
    first = document["data"]["submissions"][0]
    rows = document["data"]["submissions"]
    rows += [dict(first, id=40000 + place) for place in range(len(rows), len(changes))]
    document["data"]["submissions"] = [
        {**row, **change} for row, change in zip(rows, changes or ({}, {}), strict=False)
    ]
    document["data"]["total"] = total
    return written(tmp_path / name, document)


def facts(index: Index, kind: type) -> list[Any]:
    return [one.recorded.fact for one in index.log.read(0, 10_000) if isinstance(one.recorded.fact, kind)]


def digests(index: Index) -> dict[str, list[str]]:
    """The runs in the log by external id, in order."""
    found: dict[str, list[str]] = {}
    for fact in facts(index, RunIngested):
        found.setdefault(fact.external_id, []).append(fact.digest)
    return found


class TestChanged:
    async def test_a_changed_value_is_a_new_record_flagged_with_the_old_one(self, index: Index, tmp_path: Path) -> None:
        await imported(index, KERNEL, page(tmp_path))

        report = await imported(index, KERNEL, page(tmp_path, {"latency_ms": 0.05}, {}))

        old, new = digests(index)["36577"]
        assert report.counts["runs"].new == 1
        assert [(one.source, one.external_id, one.run, one.before) for one in report.changed] == [
            ("sol-execbench", "36577", new, old)
        ]
        assert report.changed_count == 1
        flagged = await ask(index, f'{{ run(id: "{old}") {{ digest duplicates {{ digest }} }} }}')
        assert flagged["run"] == {"digest": old, "duplicates": [{"digest": new}]}

    async def test_the_same_again_is_no_change(self, index: Index, tmp_path: Path) -> None:
        await imported(index, KERNEL, page(tmp_path))
        report = await imported(index, KERNEL, page(tmp_path))
        assert (report.changed, report.changed_count, report.gone) == ([], 0, [])

    async def test_a_change_is_told_once(self, index: Index, tmp_path: Path) -> None:
        await imported(index, KERNEL, page(tmp_path))
        await imported(index, KERNEL, page(tmp_path, {"latency_ms": 0.05}, {}))
        report = await imported(index, KERNEL, page(tmp_path, {"latency_ms": 0.05}, {}))
        assert report.changed == []


class TestDisqualified:
    CHANGES: ClassVar[tuple[dict[str, Any], ...]] = (
        {"is_disqualified": True, "disqualification_reason": "reads the clock"},
        {},
    )

    async def test_a_disqualified_record_is_reported_and_stands(self, index: Index, tmp_path: Path) -> None:
        await imported(index, KERNEL, page(tmp_path))

        report = await imported(index, KERNEL, page(tmp_path, *self.CHANGES))

        (gone,) = report.gone
        assert (gone.external_id, gone.run, gone.why, gone.retracted) == (
            "36577",
            digests(index)["36577"][0],
            "reads the clock",
            False,
        )
        assert facts(index, RunRetracted) == []

    async def test_it_is_retracted_only_with_a_reason_and_then_told_no_more(self, index: Index, tmp_path: Path) -> None:
        await imported(index, KERNEL, page(tmp_path))

        report = await imported(index, KERNEL, page(tmp_path, *self.CHANGES), retract="the leaderboard withdrew it")
        again = await imported(index, KERNEL, page(tmp_path, *self.CHANGES), retract="the leaderboard withdrew it")

        assert [gone.retracted for gone in report.gone] == [True]
        (retraction,) = facts(index, RunRetracted)
        assert retraction.digest == digests(index)["36577"][0]
        assert retraction.reason == "the leaderboard withdrew it (reads the clock)"
        assert again.gone == []

    async def test_one_that_never_was_here_is_neither_imported_nor_reported(self, index: Index, tmp_path: Path) -> None:
        report = await imported(index, KERNEL, page(tmp_path, *self.CHANGES))
        assert report.gone == []
        assert set(digests(index)) == {"36157"}


class TestRemoved:
    async def test_what_is_missing_where_the_source_says_that_this_is_all_was_removed(
        self, index: Index, tmp_path: Path
    ) -> None:
        """Over pages: only together they are as many as the source says."""
        await imported(index, KERNEL, page(tmp_path, {}, {}, {}))
        one = page(tmp_path, {}, total=2, name="one.json")
        two = page(tmp_path, {"id": 36157}, total=2, name="two.json")

        report = await imported(index, KERNEL, one, two)

        assert [(gone.external_id, gone.why) for gone in report.gone] == [("40002", "removed by the source")]
        assert facts(index, RunRetracted) == []

    async def test_a_page_alone_shows_nothing_gone(self, index: Index, tmp_path: Path) -> None:
        await imported(index, KERNEL, page(tmp_path, {}, {}, {}))
        report = await imported(index, KERNEL, page(tmp_path, {}, total=2))
        assert report.gone == []

    async def test_a_page_twice_is_not_the_whole(self, index: Index, tmp_path: Path) -> None:
        await imported(index, KERNEL, page(tmp_path, {}, {}, {}))
        report = await imported(
            index, KERNEL, page(tmp_path, {}, total=2), page(tmp_path, {}, total=2, name="again.json")
        )
        assert report.gone == []

    async def test_a_row_that_is_refused_or_skipped_is_there_all_the_same(self, index: Index, tmp_path: Path) -> None:
        await imported(index, KERNEL, page(tmp_path))
        report = await imported(index, KERNEL, page(tmp_path, {"latency_ms": -1}, {"status": "FAILED"}, total=2))
        assert len(report.refused) == 1
        assert report.gone == []

    async def test_removed_records_are_retracted_with_a_reason(self, index: Index, tmp_path: Path) -> None:
        await imported(index, KERNEL, page(tmp_path))

        await imported(index, KERNEL, page(tmp_path, {}, total=1), retract="gone upstream")

        assert [(fact.digest, fact.reason) for fact in facts(index, RunRetracted)] == [
            (digests(index)["36157"][0], "gone upstream (removed by the source)")
        ]

    async def test_files_that_state_no_total_can_be_said_to_be_whole(self, index: Index, tmp_path: Path) -> None:
        source = reading.SOURCES / "sol-traces"
        await imported(index, source)
        first = written(tmp_path / "trace.jsonl", *lines_of(source / "trace.jsonl")[:1])

        unsaid = await imported(index, source / "definition.json", first)
        said = await imported(index, source / "definition.json", first, whole=True)

        assert unsaid.gone == []
        assert [gone.external_id.rpartition("/")[2][:8] for gone in said.gone] == ["864d596c"]


def lines_of(path: Path) -> list[Any]:
    """The lines of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_a_dry_run_prints_the_same_report(tmp_path: Path) -> None:
    """With what changed and what is gone, and without a trace in the log."""
    settings = Settings(data_dir=tmp_path / "data")
    async with open_index(settings, now=Clock(), new_id=Ids(), follow=False) as index:
        await imported(index, KERNEL, page(tmp_path))
        paths = [KERNEL, page(tmp_path, {"latency_ms": 0.05}, {"is_disqualified": True}, {"latency_ms": "soon"})]
        options = Options(retract="withdrawn")
        before = index.log.latest()

        dry = await try_import(settings, paths, options=options)

        assert index.log.latest() == before
        real = await imported(index, *paths, retract="withdrawn")
    assert dry.dry_run
    assert (len(dry.changed), len(dry.gone), len(dry.refused)) == (1, 1, 1)
    assert dry.to_json() | {"dryRun": False} == real.to_json()


async def test_the_event_of_an_import_has_digest_version_and_counts(index: Index, tmp_path: Path) -> None:
    await imported(index, KERNEL, page(tmp_path, {}, {"latency_ms": 0}, {"status": "FAILED"}))

    kernel, submissions = facts(index, SourceImported)
    assert {kernel.slug, submissions.slug} == {"sol-execbench"}
    assert kernel.counts["new"] == 17
    assert submissions.importer == "sol-leaderboard"
    assert submissions.importer_version == "1"
    assert submissions.file_digest.startswith("sha256:")
    assert submissions.counts == {"new": 1, "unchanged": 0, "refused": 1, "skipped": 1}


class TestTellingSourcesApart:
    async def test_a_document_that_may_be_of_two_sources_is_refused_until_one_is_named(
        self, index: Index, tmp_path: Path
    ) -> None:
        workload = written(tmp_path / "workload.jsonl", *lines_of(reading.SOURCES / "sol-traces" / "workload.jsonl"))

        refused = await imported(index, workload)
        read = await imported(
            index, workload, source="sol-traces", kernels=(reading.SOURCES / "sol-traces" / "definition.json",)
        )

        assert {one.problems[0].remedy for one in refused.refused} == {"say which with --source"}
        assert read.refused == []
        assert read.counts["workloads"].new == 4

    async def test_a_source_that_there_is_not_is_refused_with_those_that_there_are(self, index: Index) -> None:
        with pytest.raises(InvalidInput, match="kernelbot"):
            await imported(index, KERNEL, source="kernelbench")

    async def test_a_file_that_is_not_of_the_named_source_is_refused(self, index: Index, tmp_path: Path) -> None:
        report: Report = await imported(index, KERNEL, source="liger")
        assert len(report.refused) == 1

    async def test_two_descriptions_of_one_kernel_are_told(self, index: Index, tmp_path: Path) -> None:
        other = fixture("sol-leaderboard", "kernel-4.json")
        other["data"]["tags"] = ["gemm"]

        report = await imported(index, KERNEL, written(tmp_path / "other.json", other))

        assert "describes the operation" in report.refused[0].problems[0].message

    async def test_a_bundle_can_describe_the_kernel_of_submissions(self, index: Index, tmp_path: Path) -> None:
        document = fixture("sol-leaderboard", "submissions.json")
        seed = reading.FIXTURES / "seeds" / "sol-submission-20464.bundle.json"
        for row in document["data"]["submissions"]:
            row["kernel_name"] = "025_moe_expert_parallel_execution_backward"

        report = await imported(index, written(tmp_path / "page.json", document), kernels=(seed,))

        assert report.refused == []
        assert report.counts["runs"].new == 2
