"""``kill -9`` during an import: whole saves only, and the import can be finished."""

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from projections import saves
from projections.digests import view_digests
from service.app import Index
from service.sample import FILES
from tests.e2e.importing import import_file, opened

SAMPLE = FILES[0]
KILLS = 6


def started(folder: Path) -> subprocess.Popen[str]:
    """A process that imports the sample, and has begun."""
    command = [sys.executable, "-m", "tests.e2e.importing", str(folder), str(SAMPLE)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stdout.readline() == "importing\n"
    return process


async def contents(index: Index) -> tuple[dict[str, str], list[Any]]:
    """What the views show: digests of all tables, and the sources but for how much of their files was new.

    The events say how much was new too, so their hashes are left out.
    """
    digests = await index.views.read(view_digests)
    rows = await index.views.read(lambda db: db.execute("SELECT slug, doc FROM sources ORDER BY slug").fetchall())
    sources = [(slug, msgspec.json.decode(doc)) for slug, doc in rows]
    for _, doc in sources:
        (doc["lastImport"] or {}).pop("counts", None)
    del digests["sources"], digests["tree"], digests["tree_nodes"]
    return digests, sources


def assert_whole_saves(index: Index) -> None:
    """Every event of the log belongs to a save that is all there."""
    causes = [committed.recorded.cause for committed in index.log.read(0, 100_000)]
    assert causes[0].index == 1
    assert causes[-1].ends_save
    assert all(after.index == (1 if before.ends_save else before.index + 1) for before, after in pairwise(causes))


def recorded(folder: Path) -> int:
    """How many events the log in the folder has by now."""
    try:
        with closing(sqlite3.connect(f"file:{folder}/log.db?mode=ro", uri=True)) as db:
            (count,) = db.execute("SELECT count(*) FROM stored_events").fetchone()
            return int(count)
    except sqlite3.Error:
        return 0  # it is being made


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an import that nobody killed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    process = started(folder)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    return folder


@pytest.mark.parametrize("part", range(KILLS))
async def test_an_import_that_is_killed_can_be_finished(part: int, undisturbed: Path, tmp_path: Path) -> None:
    """Killed somewhere in this part of its way."""
    moment = int(recorded(undisturbed) * (part + random.random()) / (KILLS + 1))
    process = started(tmp_path)
    while recorded(tmp_path) < moment and process.poll() is None:
        continue
    process.kill()
    process.communicate(timeout=30)

    async with opened(tmp_path) as index:
        assert_whole_saves(index)
        head = await index.views.read(saves.head)
        assert head.recorder_id == index.log.latest() < recorded(undisturbed)
    await import_file(tmp_path, SAMPLE)

    async with opened(undisturbed) as whole, opened(tmp_path) as finished:
        assert_whole_saves(finished)
        assert await contents(finished) == await contents(whole)
