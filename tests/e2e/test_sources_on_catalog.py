"""On top of the whole catalog, the sources' own files are the records that it has, and add what it left out."""

from pathlib import Path

from service.app import Index, open_index
from service.importing.jobs import import_into
from service.importing.report import Count
from service.importing.upstream import Options
from service.settings import Settings
from tests.service.sources import reading


async def runs_of(index: Index, *paths: Path, options: Options) -> Count:
    report = await import_into(index, paths, options=options)
    assert report.refused == []
    return report.counts["runs"]


async def test_what_the_catalog_has_is_unchanged_by_the_source_s_own_files(shared: Path, tmp_path: Path) -> None:
    """All three traces; of KernelBot the three benchmarks of a submission that it has, not the scores and another one."""
    (catalog,) = (shared / "data" / "catalog").glob("*.jsonl.zst")
    async with open_index(Settings(data_dir=tmp_path), follow=False) as index:
        await import_into(index, [catalog])

        flashinfer = await runs_of(
            index, reading.SOURCES / "flashinfer-traces", options=Options(revision=reading.REVISION)
        )
        kernelbot = await runs_of(index, reading.SOURCES / "kernelbot", options=Options())

    assert flashinfer == Count(unchanged=3)
    assert kernelbot == Count(new=5, unchanged=3)
