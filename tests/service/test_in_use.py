"""What threads are at work with is closed after them, not under them."""

import asyncio
import threading
from pathlib import Path

import pytest

from service.event_log import EventLog
from service.event_store import LogUnusable
from service.in_use import InUse


def test_closing_waits_for_those_at_work_and_lets_nobody_begin() -> None:
    use, begun, go_on = InUse(), threading.Event(), threading.Event()
    order: list[str] = []

    def work() -> None:
        with use.at_work() as is_open:
            assert is_open
            begun.set()
            go_on.wait()
            order.append("worked")

    def close() -> None:
        assert use.finish(30)
        order.append("closed")

    worker = threading.Thread(target=work)
    worker.start()
    begun.wait()
    closer = threading.Thread(target=close)
    closer.start()
    while not use.closed:
        pass
    with use.at_work() as is_open:
        assert not is_open
    go_on.set()
    worker.join()
    closer.join()

    assert order == ["worked", "closed"]


def test_it_does_not_wait_for_ever() -> None:
    use = InUse()
    with use.at_work():
        assert not use.finish(0.01)


async def test_a_log_is_closed_while_it_is_read_without_harm(tmp_path: Path) -> None:
    """The readers are cancelled, their threads go on: as when a server stops."""
    log = EventLog(tmp_path / "log.db")
    readers = [asyncio.create_task(asyncio.to_thread(log.read, 0, 100)) for _ in range(50)]
    await asyncio.sleep(0)
    for reader in readers:
        reader.cancel()
    await asyncio.to_thread(log.close)

    with pytest.raises(LogUnusable, match="closed"):
        log.read(0, 1)
