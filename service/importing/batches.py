"""Recording items in batches, one behind the reader."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from service.importing.items import Item
from service.ledger import Result

Record = Callable[[Sequence[Item]], Sequence[Result]]
Settle = Callable[[Sequence[Item], Sequence[Result]], None]


class Batches:
    """Collects items and records each ``size`` of them in a thread of its own, so that reading need not wait.

    ``settle`` is told, in the reader's thread, what became of them. Leaving the context records the rest, unless an
    error ends it.
    """

    def __init__(self, record: Record, settle: Settle, size: int) -> None:
        self._record = record
        self._settle = settle
        self._size = size
        self._items: list[Item] = []
        self._recording: tuple[list[Item], Future[Sequence[Result]]] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="import")

    def add(self, item: Item) -> None:
        """Add an item to the batch, which is recorded when it is full."""
        self._items.append(item)
        if len(self._items) >= self._size:
            self._flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._flush()
                self._finish()
        finally:
            self._thread.shutdown()

    def _flush(self) -> None:
        self._finish()
        if self._items:
            self._recording = self._items, self._thread.submit(self._record, self._items)
            self._items = []

    def _finish(self) -> None:
        if self._recording:
            items, recording = self._recording
            self._recording = None
            self._settle(items, recording.result())
