"""A process that writes runs into the log of a folder from two threads, until its standard input ends.

Its first argument is the folder, the second a number that no other writer has. It says when it begins.
"""

import asyncio
import random
import sys
import threading
from pathlib import Path

from domain.commands import Ingest
from domain.principals import LOCAL
from service.app import Index, open_index
from service.settings import Settings
from tests.examples import bundle

THREADS = 2
PAUSE_S = 0.3
EACH = 10_000_000


def write(index: Index, first: int, ended: threading.Event) -> None:
    """Save after save of one to four runs, some of which did not pass."""
    chance, value = random.Random(first), first
    while not ended.wait(chance.random() * PAUSE_S):
        commands = []
        for _ in range(chance.randint(1, 4)):
            value += 1
            status = chance.choice(["passed", "passed", "timeout"])
            commands.append(Ingest(bundle=bundle(value, status=status)))
        index.ledger.record(commands, LOCAL)


def wait(ended: threading.Event) -> None:
    """Until standard input ends."""
    sys.stdin.read()
    ended.set()


async def main(folder: Path, number: int) -> None:
    """Write until told to end."""
    ended = threading.Event()
    async with open_index(Settings(data_dir=folder), follow=False, level=False) as index:
        starts = [(number * THREADS + thread + 1) * EACH for thread in range(THREADS)]
        writers = [asyncio.to_thread(write, index, start, ended) for start in starts]
        print("writing", flush=True)
        await asyncio.gather(asyncio.to_thread(wait, ended), *writers)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
