"""Many writers in several processes, many subscribers that come and go: each hears each position once, in order."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(("seconds", "kills"), [(15, 0), (8, 2)])
async def test_every_subscriber_hears_every_matching_position_once_and_in_order(
    tmp_path: Path, seconds: int, kills: int
) -> None:
    """With ``kills`` the server is killed with SIGKILL meanwhile, and started again."""
    port, wanted = free_port(), dict[str, list[int]]()
    subscribers = [Subscriber(f"http://127.0.0.1:{port}", number) for number in range(SUBSCRIBERS)]

    def is_done(one: Subscriber) -> bool:
        return bool(wanted) and len(one.heard) >= len(wanted[one.kind])

    with ExitStack() as stack:
        server = await asyncio.to_thread(started, stack, tmp_path, port)
        listening = [asyncio.create_task(one.run(is_done)) for one in subscribers]
        with writers(tmp_path):
            for _ in range(kills):
                await asyncio.sleep(seconds / (kills + 1))
                server.close()
                server = await asyncio.to_thread(started, stack, tmp_path, port)
            await asyncio.sleep(seconds / (kills + 1))
        wanted |= matching(tmp_path)
        async with asyncio.timeout(LAST_WORDS_S):
            await asyncio.gather(*listening)

    assert len(wanted["all"]) > 100
    assert wanted["timeouts"]
    assert all(one.heard == wanted[one.kind] for one in subscribers)
    assert sum(one.connections for one in subscribers) > 3 * SUBSCRIBERS
