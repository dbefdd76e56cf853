"""The wish to stop, by a signal: whoever waits wakes up at once."""

import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self


class Stopped(Exception):
    """What was going on has been given up, because the runner is to stop."""


class Stop:
    """A flag that can be waited for, also together with files (it has a ``fileno``).

    It is set from a signal handler, so it may use no lock: a byte in a pipe is the flag.
    """

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._reading)
        os.close(self._writing)

    def set(self) -> None:
        """Wake up all who wait, now and from now on."""
        os.write(self._writing, b".")

    def is_set(self) -> bool:
        """Whether it was set."""
        return self.wait(0)

    def wait(self, seconds: float) -> bool:
        """Wait until it is set, at most so long. Answers whether it is."""
        return bool(select.select([self._reading], [], [], seconds)[0])

    def fileno(self) -> int:
        """What becomes readable when it is set."""
        return self._reading


@contextmanager
def stopped_by_signals() -> Iterator[Stop]:
    """A flag that SIGTERM and SIGINT set; the second signal does what it does by default."""
    with Stop() as stop:

        def handle(number: int, _frame: object) -> None:
            signal.signal(number, signal.SIG_DFL)
            stop.set()

        before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield stop
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
