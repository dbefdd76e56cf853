"""How much of an object its document shows.

The published schemas bound no list, and intake takes what they take: a digest must not depend on what we like to show.
But a page of a hundred objects is answered from their documents, so each of those is bounded here: at most 100 entries
of a list, with ``cutLists`` to say how many there are, and 4,000 characters of a text, which then ends in an ellipsis.
The manifest itself is kept and served whole.
"""

from collections.abc import Iterable
from typing import Any, Final

MOST_ENTRIES: Final = 100
MOST_CHARACTERS: Final = 4_000
"""No field of a manifest may have so many; lines that are made of many fields might."""


def bounded(doc: dict[str, Any]) -> dict[str, Any]:
    """The document within its bounds: the same one where it is, else with ``cutLists``."""
    if not _is_beyond(doc.values()):
        return doc
    cut: list[dict[str, Any]] = []
    shown = {name: _shown(value, name, cut) for name, value in doc.items()}
    return shown | {"cutLists": cut[:MOST_ENTRIES]}


def _is_beyond(values: Iterable[Any]) -> bool:
    # Every document passes here whenever it is written: one call for each container, not for each value.
    for value in values:
        kind = type(value)
        if kind is str:
            if len(value) > MOST_CHARACTERS:
                return True
        elif kind is list:
            if len(value) > MOST_ENTRIES or _is_beyond(value):
                return True
        elif kind is dict and _is_beyond(value.values()):
            return True
    return False


def _shown(value: Any, path: str, cut: list[dict[str, Any]]) -> Any:
    if isinstance(value, list):
        if len(value) > MOST_ENTRIES:
            cut.append({"path": path, "count": len(value)})
        return [_shown(item, f"{path}[{index}]", cut) for index, item in enumerate(value[:MOST_ENTRIES])]
    if isinstance(value, dict):
        return {name: _shown(item, f"{path}.{name}", cut) for name, item in value.items()}
    if isinstance(value, str) and len(value) > MOST_CHARACTERS:
        return value[:MOST_CHARACTERS] + "…"
    return value
