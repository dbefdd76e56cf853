"""Eight writers in four processes, one server, and fifty subscribers that come and go at random."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from domain.facts import RunIngested
from service.event_log import EventLog
from tests.e2e.subscribing import Subscriber
from tests.service.cli.running import Server, running

WRITERS = 4  # of two threads each
SUBSCRIBERS = 50
LAST_WORDS_S = 120


@contextmanager
def writers(folder: Path) -> Iterator[None]:
    """Processes that write until the context ends; each has made its last save by then."""
    command = [sys.executable, "-m", "tests.e2e.writing", str(folder)]
    processes = [
        subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(WRITERS)
    ]
    try:
        for process in processes:
            assert process.stdout
            assert process.stdout.readline() == "writing\n"
        yield
        for process in processes:
            process.communicate(timeout=30)
            assert process.returncode == 0
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def matching(folder: Path) -> dict[str, list[int]]:
    """The positions that each kind of subscriber has to hear, read from the log itself."""
    log = EventLog(folder / "log.db")
    runs = [(position, one.recorded.fact) for position, one in enumerate(log.read(0, 1_000_000), 1)]
    log.close()
    found = [(position, bytes(fact.manifest)) for position, fact in runs if isinstance(fact, RunIngested)]
    everything = [position for position, _ in found]
    return {
        "all": everything,
        "events": everything,
        "timeouts": [position for position, manifest in found if b'"status":"timeout"' in manifest],
    }


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def started(stack: ExitStack, folder: Path, port: int) -> Server:
    server = stack.enter_context(running("serve", "--port", str(port), data=folder))
    server.url()
    return server


async def told(folder: Path, seconds: float, kills: int) -> tuple[dict[str, list[int]], list[Subscriber]]:
    """What each kind of subscriber had to hear in so many seconds, and the subscribers, once all have heard enough.

    The server is killed with SIGKILL so many times meanwhile, and started again.
    """
    port, wanted = free_port(), dict[str, list[int]]()
    subscribers = [Subscriber(f"http://127.0.0.1:{port}", number) for number in range(SUBSCRIBERS)]

    def is_done(one: Subscriber) -> bool:
        return bool(wanted) and len(one.heard) >= len(wanted[one.kind])

    with ExitStack() as stack:
        server = await asyncio.to_thread(started, stack, folder, port)
        listening = [asyncio.create_task(one.run(is_done)) for one in subscribers]
        with writers(folder):
            for _ in range(kills):
                await asyncio.sleep(seconds / (kills + 1))
                server.close()
                server = await asyncio.to_thread(started, stack, folder, port)
            await asyncio.sleep(seconds / (kills + 1))
        wanted |= matching(folder)
        async with asyncio.timeout(LAST_WORDS_S):
            await asyncio.gather(*listening)
    return wanted, subscribers
