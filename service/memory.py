"""How a process that reads much looks for garbage."""

import gc
from typing import Final

# Python's own thresholds are for programs that make few objects. Documents are trees without cycles, which need no
# search at all: looking less often takes a twelfth off an import, and not a megabyte more.
YOUNG: Final = 20_000
MIDDLE: Final = 20
OLD: Final = 50


def search_garbage_rarely() -> None:
    """Search for cycles less often. To be called before a program is loaded: a sixth of that was for searches."""
    gc.set_threshold(YOUNG, MIDDLE, OLD)


def search_garbage_less() -> None:
    """Search for cycles less often, and never among what is loaded by now. To be called once a program is loaded."""
    gc.freeze()
    search_garbage_rarely()
