"""How a process that reads much looks for garbage."""

import gc
from typing import Final

# Python's own thresholds are for programs that make few objects. Documents are trees without cycles, which need no
# search at all: looking less often takes a twelfth off an import, and not a megabyte more.
YOUNG: Final = 20_000
MIDDLE: Final = 20
OLD: Final = 50
# More than loading the whole program makes: a sixth of the time of that went into searches that find nothing.
LOADING: Final = 500_000


def search_no_garbage_yet() -> None:
    """Search for cycles as good as never. To be called before a program is loaded."""
    gc.set_threshold(LOADING, MIDDLE, OLD)


def search_garbage_less() -> None:
    """Search for cycles less often, and never among what is loaded by now. To be called once a program is loaded."""
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
