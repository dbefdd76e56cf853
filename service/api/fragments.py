"""Parts of answers that are kept: what a selection shows of a document.

A row of the views is never overwritten, so its table, its key and the position since which it holds name its text, in
views of one generation: an erasure makes new views. What one selection shows of one version never changes, so nothing
here goes out of date.
"""

from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from projections.model import Doc
from service.kept import Kept

ENTRY_BYTES: Final = 500
"""What an entry takes beside its fragment, roughly."""

IN_MEMORY: Final = 4
"""How many times its JSON a fragment takes in memory, roughly."""


Version: TypeAlias = tuple[int, str, Any, int]
"""One version of one document: the generation of the views, the table, the key of the row, and since when it holds."""


class Fragment(NamedTuple):
    """What a selection shows of a document but for fields with code of their own, and what that code reads of it."""

    part: Doc
    read: Doc


class Fragments:
    """Keeps fragments, those used last, up to so many bytes of memory, roughly; 0 keeps none."""

    def __init__(self, max_bytes: int) -> None:
        self._kept: Kept[tuple[object, Version], Fragment] = Kept(max_bytes)
        self._generation = 0

    @property
    def bytes(self) -> int:
        """What is kept takes so many."""
        return self._kept.bytes

    def be_of(self, generation: int) -> None:
        """Forget what older views showed: what was erased since must not even lie in memory."""
        if generation != self._generation:
            self._kept.clear()
            self._generation = generation

    def get(self, selection: object, version: Version) -> Fragment | None:
        """What was kept for a selection of this version of a document."""
        return self._kept.get((selection, version))

    def keep(self, selection: object, version: Version, fragment: Fragment) -> None:
        """Keep a fragment, unless an erasure has come since it was read. Nobody may change it from now on."""
        if self._kept.max_bytes and version[0] == self._generation:
            size = ENTRY_BYTES + IN_MEMORY * len(msgspec.json.encode(fragment))
            self._kept.keep((selection, version), fragment, size)
