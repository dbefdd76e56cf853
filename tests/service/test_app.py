"""Opening an index: views are shown only with the log that they were made from."""

import shutil
from pathlib import Path

import pytest

from domain.principals import LOCAL
from projections.views import path_in
from service.app import open_index
from service.settings import Settings
from tests.examples import Clock, ingest


async def using(folder: Path, *values: int) -> list[str]:
    """Open the index, ingest runs of these values, and answer the digests of all runs that it shows."""
    async with open_index(Settings(data_dir=folder), now=Clock()) as index:
        for value in values:
            await index.ledger.handle([ingest(value, by=f"kernel-{value}")], LOCAL)
        rows = index.views.peek(lambda db: db.execute("SELECT digest FROM runs ORDER BY digest").fetchall())
    return [digest for (digest,) in rows]


async def test_a_log_restored_from_a_copy_is_shown_as_it_is(tmp_path: Path) -> None:
    """The README says to back up the log alone; the views that lie beside it then know too much."""
    before = await using(tmp_path, 100)
    shutil.copy(tmp_path / "log.db", tmp_path / "copy")
    await using(tmp_path, 200, 300)
    shutil.copy(tmp_path / "copy", tmp_path / "log.db")

    assert await using(tmp_path) == before
    assert len(await using(tmp_path, 400)) == 2


async def test_a_restored_log_that_has_grown_past_the_views_is_shown_as_it_is(tmp_path: Path) -> None:
    await using(tmp_path, 100)
    shutil.copy(tmp_path / "log.db", tmp_path / "copy")
    await using(tmp_path, 200)
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(tmp_path / "copy", other / "log.db")
    grown = await using(other, 300, 400, 500)
    shutil.copy(other / "log.db", tmp_path / "log.db")

    assert await using(tmp_path) == grown


async def test_a_new_log_beside_old_views_shows_nothing_of_them(tmp_path: Path) -> None:
    await using(tmp_path, 100)
    (tmp_path / "log.db").unlink()
    assert await using(tmp_path) == []


@pytest.mark.parametrize("rubbish", [b"no database at all" * 100, b"x"], ids=["long", "short"])
async def test_broken_views_are_made_again(tmp_path: Path, rubbish: bytes) -> None:
    before = await using(tmp_path, 100)
    path_in(tmp_path).write_bytes(rubbish)
    assert await using(tmp_path) == before


async def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "a?b=1#c%20d"
    assert len(await using(folder, 100)) == 1
    assert path_in(folder).exists()


async def test_views_that_are_right_are_kept(tmp_path: Path) -> None:
    await using(tmp_path, 100)
    inode = path_in(tmp_path).stat().st_ino
    await using(tmp_path, 200)
    assert path_in(tmp_path).stat().st_ino == inode
