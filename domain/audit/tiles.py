"""C2SP tlog-tiles: the paths under which a log's hashes and entries are served, and what a bundle of entries holds."""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from domain.audit.merkle import TILE_WIDTH

ENTRIES: Final = "entries"
_PATH: Final = re.compile(
    r"(?P<level>[0-9]|[1-5][0-9]|6[0-3]|entries)/(?P<number>(?:x[0-9]{3}/){0,5}[0-9]{3})(?:\.p/(?P<width>[1-9][0-9]{0,2}))?\Z"
)


class Tile(msgspec.Struct, frozen=True):
    """A tile of ``width`` hashes of a level, or with level None a bundle of that many entries."""

    level: int | None
    number: int
    width: int = TILE_WIDTH

    @property
    def path(self) -> str:
        """Its path below ``/tile/``."""
        groups = list[str]()
        number = self.number
        while True:
            number, group = divmod(number, 1000)
            groups.append(f"{group:03}" if not groups else f"x{group:03}")
            if not number:
                break
        level = ENTRIES if self.level is None else str(self.level)
        partial = f".p/{self.width}" if self.width < TILE_WIDTH else ""
        return f"{level}/{'/'.join(reversed(groups))}{partial}"

    @property
    def first(self) -> int:
        """The number, within its level, of its first hash."""
        return self.number * TILE_WIDTH

    def is_in(self, size: int) -> bool:
        """Whether a tree of ``size`` leaves has it."""
        unit: int = TILE_WIDTH ** (self.level or 0)
        return (self.first + self.width) * unit <= size

    @classmethod
    def parse(cls, path: str) -> "Tile | None":
        """The tile of a path below ``/tile/``, or None where none has this path."""
        match = _PATH.match(path)
        if not match:
            return None
        number = int("".join(match["number"].replace("x", "").split("/")))
        level = None if match["level"] == ENTRIES else int(match["level"])
        tile = cls(level, number, int(match["width"] or TILE_WIDTH))
        # Each tile has one path: no groups of leading zeros, no partial tile that is full.
        return tile if tile.path == path else None


def bundle(entries: Iterable[bytes]) -> bytes:
    """Entries as they are served: each behind its length in two bytes."""
    return b"".join(len(entry).to_bytes(2, "big") + entry for entry in entries)
