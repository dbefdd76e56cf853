"""A process that keeps the views level while another one imports, so that both cores work.

It ends when its standard input does: when it is told to, and also when the importing process is killed.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

LARGE: Final = 1024 * 1024
"""From so many bytes on, a second process is worth its start."""

_COMPRESSION: Final = 10


def is_large(files: Iterable[Path]) -> bool:
    """Whether these files are worth a second process."""
    return sum(file.stat().st_size * (_COMPRESSION if file.suffix == ".zst" else 1) for file in files) >= LARGE


class Companion:
    """The process, as the importing one sees it. Without it all is the same, only later."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it."""
        command = [sys.executable, "-P", "-c", f"import {__name__} as it; it.main()", str(self._folder)]
        # A session of its own: an interrupt from the keyboard is for us, and reaches it as the end of its input.
        self._process = subprocess.Popen(  # noqa: S603 this program
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
        )

    def finish(self) -> None:
        """Let it apply what the log holds now, and end; where it was not started, do nothing."""
        if self._process:
            self._process.communicate()
            self._process = None


def main() -> None:
    """Follow the log in the folder that the command line names, until standard input ends."""
    asyncio.run(_follow(Path(sys.argv[1])))


async def _follow(folder: Path) -> None:
    # Only here: the importing process starts this one before it has loaded all that itself.
    from projections.views import Views  # noqa: PLC0415
    from service.data_folder import alone  # noqa: PLC0415
    from service.event_log import EventLog  # noqa: PLC0415
    from service.follower import Follower  # noqa: PLC0415
    from service.memory import search_garbage_less  # noqa: PLC0415

    search_garbage_less()
    with alone(folder):
        log = EventLog(folder / "log.db")
        views = await Views.open(folder, await asyncio.to_thread(log.erasures))
    follower = Follower(log, views)
    try:
        follower.start()
        await asyncio.to_thread(sys.stdin.buffer.read)
        await follower.stop()
        await follower.catch_up()
    finally:
        await follower.stop()
        await views.close()
        log.close()
