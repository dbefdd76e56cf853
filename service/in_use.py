"""Closing what threads are at work with: first they finish."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class InUse:
    """Counts who is at work with something, and lets it be closed when nobody is.

    A thread goes on when the task that waits for it is cancelled: SQLite crashes the process where its connection is
    closed under it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._workers = 0
        self.closed = False

    @contextmanager
    def at_work(self) -> Iterator[bool]:
        """Work with it. Gives False where it is closed, or about to be."""
        with self._changed:
            self._workers += 1
            closed = self.closed
        try:
            yield not closed
        finally:
            with self._changed:
                self._workers -= 1
                self._changed.notify_all()

    def finish(self, timeout_s: float) -> bool:
        """Let nobody begin and wait until nobody is at work; False where that takes too long."""
        with self._changed:
            self.closed = True
            return self._changed.wait_for(lambda: self._workers == 0, timeout_s)
