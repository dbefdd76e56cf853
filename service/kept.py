"""A bounded store of what can be made again: what was used last stays, up to so many bytes of memory, roughly."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """Values by key. ``bytes`` is what they take, at most ``max_bytes``; one of more than an eighth is not kept."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.bytes = 0
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Key) -> Value | None:
        """The value of a key, if it is kept."""
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def keep(self, key: Key, value: Value, size: int) -> None:
        """Keep a value that takes ``size`` bytes, unless the key has one."""
        if size > self.max_bytes // 8 or key in self._values:
            return
        self._values[key] = value, size
        self.bytes += size
        while self.bytes > self.max_bytes:
            _, (_, freed) = self._values.popitem(last=False)
            self.bytes -= freed

    def clear(self) -> None:
        """Keep nothing any more."""
        self._values.clear()
        self.bytes = 0
