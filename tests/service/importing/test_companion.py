"""The second process of a large import."""

import asyncio
import subprocess
import sys
from pathlib import Path

import psutil

from projections import saves
from projections.digests import view_digests
from service.app import open_index
from service.importing.companion import LARGE, Companion, is_large
from service.importing.jobs import import_into
from service.settings import Settings
from tests.examples import Clock, Ids
from tests.service.importing.exports import SAMPLE, SEEDS


async def test_it_brings_the_views_level_and_ends(tmp_path: Path) -> None:
    """As if the importing process had done it: nothing is left for that one, and the views are the same."""
    digests = []
    for name in ("with", "without"):
        settings = Settings(data_dir=tmp_path / name)
        async with open_index(settings, now=Clock(), new_id=Ids(), follow=False) as index:
            companion = Companion(settings.data_dir)
            if name == "with":
                companion.start()
            report = await import_into(index, [SAMPLE], companion=companion)
            digests.append(await index.views.read(view_digests))
            assert (await index.views.read(saves.head)).recorder_id == index.log.latest()
            assert report.refused == []
    assert digests[0] == digests[1]


async def test_it_has_applied_all_when_it_ends(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    companion = Companion(tmp_path)
    companion.start()
    async with open_index(settings, follow=False, level=False) as index:
        await import_into(index, [SEEDS[0]])
        await asyncio.to_thread(companion.finish)
        assert (await index.views.read(saves.head)).recorder_id == index.log.latest()


def test_it_ends_when_the_importing_process_is_killed(tmp_path: Path) -> None:
    script = f"""
import os, signal, sys
from pathlib import Path
from service.importing.companion import Companion
companion = Companion(Path({str(tmp_path)!r}))
companion.start()
print(companion._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=30)
    companion = int(killed.stdout)

    _, alive = psutil.wait_procs([psutil.Process(companion)] if psutil.pid_exists(companion) else [], timeout=20)

    assert alive == []
    assert killed.returncode == -9


def test_what_was_never_started_needs_no_end(tmp_path: Path) -> None:
    Companion(tmp_path).finish()
    assert list(tmp_path.iterdir()) == []


def test_only_large_files_are_worth_it(tmp_path: Path) -> None:
    small, large, compressed = (tmp_path / name for name in ("small.jsonl", "large.jsonl", "compressed.jsonl.zst"))
    small.write_bytes(bytes(LARGE // 2))
    large.write_bytes(bytes(LARGE))
    compressed.write_bytes(bytes(LARGE // 5))
    assert not is_large([small])
    assert is_large([large])
    assert is_large([compressed])
    assert is_large([small, small])
