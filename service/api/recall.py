"""What operations leave for those that come after them: rows of the views, and parts of answers.

A row of the views is never overwritten, so its table, its key and a position name it, in views of one generation: an
erasure makes new views. What one selection shows of one version of a document never changes either. So nothing here
goes out of date.
"""

from collections.abc import Hashable
from typing import Any

from service.kept import Kept


class Recall:
    """Keeps what was used last, up to so many bytes of memory, roughly; 0 keeps nothing. Not for several threads."""

    def __init__(self, max_bytes: int) -> None:
        self._kept: Kept[Hashable, Any] = Kept(max_bytes)
        self._generation = 0

    def __bool__(self) -> bool:
        return bool(self._kept.max_bytes)

    @property
    def bytes(self) -> int:
        """What is kept takes so many."""
        return self._kept.bytes

    def be_of(self, generation: int) -> None:
        """Forget what older views showed: what was erased since must not even lie in memory."""
        if generation != self._generation:
            self._kept.clear()
            self._generation = generation

    def get(self, key: Hashable) -> Any:
        """What was kept under a key, which names the generation of the views; None where nothing is."""
        return self._kept.get(key)

    def keep(self, generation: int, key: Hashable, value: Any, size: int) -> None:
        """Keep what takes ``size`` bytes, unless an erasure has come since it was read. Nobody may change it then."""
        if generation == self._generation:
            self._kept.keep(key, value, size)
