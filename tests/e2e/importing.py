"""An import that a test can kill: small batches, a clock that stands still, one id for everything.

Run as a program it imports the file that is its second argument into the folder that is its first, and says when it
begins.
"""

import asyncio
import sys
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path

from service.app import Index, open_index
from service.importing.companion import Companion
from service.importing.jobs import import_into
from service.settings import Settings

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
BATCH = 20


def opened(folder: Path) -> AbstractAsyncContextManager[Index]:
    """The index in the folder, whose views depend on nothing but what is imported."""
    return open_index(Settings(data_dir=folder), now=lambda: NOW, new_id=lambda: "id", follow=False)


async def import_file(folder: Path, file: Path, *, companion: bool = False) -> None:
    """Import the file into the index in the folder."""
    beside = Companion(folder)
    if companion:
        beside.start()
    async with opened(folder) as index:
        print("importing", flush=True)
        await import_into(index, [file], companion=beside, batch=BATCH)


if __name__ == "__main__":
    asyncio.run(import_file(Path(sys.argv[1]), Path(sys.argv[2]), companion=True))
