"""``kernelindex watch`` and ``demo-feed``, as they are run from a shell."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from domain.commands import Ingest
from domain.principals import LOCAL
from service.app import open_index
from service.settings import Settings
from tests.examples import bundle, run
from tests.service.cli.running import running

COMMAND = [sys.executable, "-c", "from service.cli import main; main()"]


async def written(folder: Path, *values: int) -> None:
    async with open_index(Settings(data_dir=folder), follow=False, level=False) as index:
        for value in values:
            index.ledger.record([Ingest(bundle=bundle(value))], LOCAL)


@contextmanager
def watching(url: str, home: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """A watch that is killed at the end, and keeps its place in this folder."""
    environment = os.environ | {"XDG_STATE_HOME": str(home)}
    process = subprocess.Popen(
        [*COMMAND, "watch", "--server", url, *more], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def lines(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout
    return [process.stdout.readline() for _ in range(count)]


async def test_a_watch_that_was_killed_goes_on_where_it_stopped(tmp_path: Path) -> None:
    await written(tmp_path / "data", 100, 200)
    with running("serve", "--port", "0", data=tmp_path / "data") as server:
        with watching(server.url(), tmp_path, "--from-start") as first:
            told = lines(first, 2)
            await written(tmp_path / "data", 300)
            told += lines(first, 1)
        await written(tmp_path / "data", 400, 500)
        with watching(server.url(), tmp_path) as second:
            again = lines(second, 2)
            if again[0] == told[-1]:
                # It was killed between the line and the note of its place: better said twice than never.
                again = [again[1], *lines(second, 1)]
            told += again
    digests = [run(value).digest.removeprefix("sha256:") for value in (100, 200, 300, 400, 500)]
    assert [line.rsplit("/", 1)[1].strip() for line in told] == digests
    assert "100 ns" in told[0]


def test_a_watch_of_what_is_no_operation_says_so(tmp_path: Path) -> None:
    with running("serve", "--port", "0", data=tmp_path / "data") as server:
        command = [*COMMAND, "watch", "--server", server.url(), "--operation", "nonsense"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "names nothing here" in ended.stderr


def test_the_feed_of_the_demo_adds_runs_that_say_what_they_are(tmp_path: Path) -> None:
    with running("demo", "--port", "0", data=tmp_path / "data") as server:
        url = server.url(60)
        with watching(url, tmp_path, "--from-start", "--json") as watch:
            command = [*COMMAND, "demo-feed", "--server", url, "--every", "0.01", "--limit", "2"]
            fed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            told = lines(watch, 194)
    assert fed.returncode == 0, fed.stderr
    assert len(fed.stdout.splitlines()) == 2
    assert all("Made-up run" in line for line in told[-2:])
