"""An import as a whole: what it appends, counts and leaves alone."""

import asyncio
import json
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import pytest

from domain.errors import ErrorCode
from domain.facts import SourceImported
from projections.digests import view_digests
from service.app import Index, open_index
from service.importing.jobs import import_into, try_import
from service.importing.report import Count
from service.importing.run import Importer, Stopped
from service.settings import Settings
from tests.examples import Clock, Ids, run
from tests.service.importing.conftest import Import
from tests.service.importing.exports import COUNTS, SAMPLE, SEEDS, changed, sample, seed, written


def events(index: Index, after: int = 0) -> list[str]:
    """The types of the events of a log behind a recorder id."""
    return [type(committed.recorded.fact).__name__ for committed in index.log.read(after, 100_000)]


async def test_the_sample_is_imported_whole(index: Index, imported: Import) -> None:
    report = await imported(SAMPLE)

    assert {kind: count.new for kind, count in report.counts.items()} == COUNTS
    assert all(count.unchanged == count.refused == 0 for count in report.counts.values())
    assert report.derived == {"measurements": 184}
    assert report.refused == []


async def test_a_second_import_appends_nothing_but_that_it_took_place(index: Index, imported: Import) -> None:
    await imported(SAMPLE)
    before = index.log.latest()

    report = await imported(SAMPLE)

    assert events(index, before) == ["SourceImported", "SourceImported"]
    assert {kind: count.unchanged for kind, count in report.counts.items()} == COUNTS
    assert all(count.new == count.refused == 0 for count in report.counts.values())


async def test_each_source_of_a_file_is_told_of_its_import(index: Index, imported: Import) -> None:
    await imported(SAMPLE)

    history = index.log.load(["source/sol-execbench", "source/flashinfer-bench"])
    sol, flashinfer = (history[f"source/{slug}"][-1].fact for slug in ("sol-execbench", "flashinfer-bench"))

    assert sol == SourceImported(
        slug="sol-execbench",
        file_digest=f"sha256:{sha256(SAMPLE.read_bytes()).hexdigest()}",
        importer="catalog",
        importer_version=version("kernelindex"),
        counts={"new": 140, "unchanged": 0, "refused": 0},
    )
    assert isinstance(flashinfer, SourceImported)
    assert flashinfer.counts == {"new": 50, "unchanged": 0, "refused": 0}


async def test_a_file_without_a_source_is_told_to_whoever_imports_it(
    index: Index, tmp_path: Path, imported: Import
) -> None:
    path = tmp_path / "project.json"
    path.write_text(json.dumps(seed()["project"]))

    await imported(path)

    (event,) = index.log.load(["source/local"])["source/local"]
    assert isinstance(event.fact, SourceImported)
    assert (event.fact.importer, event.fact.counts) == ("bundle", {"new": 1, "unchanged": 0, "refused": 0})


async def test_a_run_without_a_source_is_the_importer_s_own(index: Index, tmp_path: Path, imported: Import) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(run().canonical)

    report = await imported(path)

    assert report.files[0].sources == {"local": Count(new=1)}


async def test_a_conflict_with_the_log_is_refused_at_its_line(index: Index, tmp_path: Path, imported: Import) -> None:
    """An old id that another object has already: only deciding can tell, and the refusal is located all the same."""
    lines = sample()
    taken = next(line["row"]["id"] for line in lines if line["table"] == "benchmark_runs")
    number = changed(lines, "benchmark_runs", lambda row: row.update(id=taken), nth=33)
    file = written(tmp_path, lines)

    report = await imported(file)

    (rejected,) = report.refused
    assert (rejected.kind, rejected.source) == ("runs", "sol-execbench")
    assert rejected.problems[0].document == f"{file}:{number}"
    assert rejected.problems[0].code is ErrorCode.ALIAS_TAKEN
    assert report.counts["runs"] == Count(new=189, refused=1)


async def test_files_that_can_not_be_found_keep_no_other_out(index: Index, tmp_path: Path, imported: Import) -> None:
    report = await imported(tmp_path / "missing.json", SEEDS[0])
    assert report.counts["files"] == Count(refused=1)
    assert report.counts["runs"] == Count(new=1)


async def test_an_empty_file_is_an_import_of_nothing(index: Index, tmp_path: Path, imported: Import) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    report = await imported(path)
    assert report.counts == {}
    assert report.refused == []


async def test_batches_are_saves_and_no_view_shows_half_of_one(index: Index, imported: Import) -> None:
    await imported(SAMPLE)
    committed = index.log.read(0, 100_000)
    requests = {one.recorded.cause.request: one.recorded.cause.of for one in committed}
    assert sum(requests.values()) == len(committed)
    assert max(requests.values()) > 10
    assert len(requests) < len(committed) / 10


async def test_a_dry_run_reports_what_would_happen_and_appends_nothing(tmp_path: Path) -> None:
    """Also of what depends on earlier lines, batches and files: it is the import itself, into a copy."""
    settings = Settings(data_dir=tmp_path / "data")
    again = tmp_path / "again.jsonl.zst"
    again.write_bytes(SAMPLE.read_bytes())
    paths = [SAMPLE, SEEDS[1], again, tmp_path / "missing.json"]
    async with open_index(settings, follow=False) as index:
        await import_into(index, [SEEDS[0]])
        before = index.log.latest()

        dry = await try_import(settings, paths)

        assert index.log.latest() == before
        real = await import_into(index, paths)
    assert dry.dry_run
    assert dry.to_json() | {"dryRun": False} == real.to_json()
    assert dry.counts["runs"] == Count(new=191, unchanged=190)


async def test_a_dry_run_makes_no_data_folder(tmp_path: Path) -> None:
    report = await try_import(Settings(data_dir=tmp_path / "data"), [SEEDS[0]])
    assert report.counts["runs"] == Count(new=1)
    assert not (tmp_path / "data").exists()


async def test_two_imports_of_one_file_give_equal_views(tmp_path: Path) -> None:
    """With the same clock and ids; the one in one go, the other in two with a view of it in between."""
    digests = []
    for name, parts in (("one", [[SAMPLE, *SEEDS]]), ("two", [[SAMPLE], SEEDS])):
        async with open_index(Settings(data_dir=tmp_path / name), now=Clock(), new_id=Ids(), follow=False) as index:
            for paths in parts:
                await import_into(index, paths)
            digests.append(await index.views.read(view_digests))
    assert digests[0] == digests[1]


async def test_an_import_that_is_stopped_ends_before_its_next_document(index: Index) -> None:
    importer = Importer(index.ledger)
    importer.stop()
    with pytest.raises(Stopped):
        await asyncio.to_thread(importer.run, [SAMPLE])
    assert "SourceImported" not in events(index)
