"""What a verification has checked, as it is told to people and to programs."""

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from domain.audit.notes import Checkpoint


class Verified(msgspec.Struct, kw_only=True):
    """What was checked and found right."""

    checkpoint: Checkpoint
    kept: int
    events: int = 0
    saves: int = 0
    streams: int = 0
    erased: int = 0
    types: Counter[str] = msgspec.field(default_factory=Counter)
    views: dict[str, str] | None = None
    runs: int = 0
    groups: int = 0
    levels: dict[str, int] = {}

    @property
    def uncovered(self) -> int:
        """How many events are behind the checkpoint: whole and in order, but not promised by it yet."""
        return self.events - self.checkpoint.size

    def lines(self) -> Iterator[str]:
        """What was checked, for people."""
        promised = self.checkpoint
        yield f"The log {promised.origin} is whole: {promised.size:,} events under root {_text(promised.root)}."
        yield "  signature of the checkpoint: holds"
        if self.kept:
            yield f"  checkpoints kept from earlier: the log extends all {self.kept}"
        yield f"  events that hash to leaves: {self.events:,}, of {self.saves:,} saves and {self.streams:,} streams"
        yield "  versions of streams: without gaps; digests of records and their primary values: as stated"
        yield f"  erased by law, each with its EventErased: {self.erased:,}"
        levels = ", ".join(f"{count:,} {name}" for name, count in self.levels.items())
        yield f"  rebuilt from events: {self.runs:,} runs ({levels or 'none'}), {self.groups:,} groups ranked"
        if self.uncovered:
            yield f"  events behind the checkpoint, not promised yet: {self.uncovered:,}"
        for table, digest in (self.views or {}).items():
            yield f"  view {table}: {digest}"

    def to_json(self) -> dict[str, Any]:
        """The same as a document."""
        fields = msgspec.structs.asdict(self)
        checkpoint = {
            "origin": self.checkpoint.origin,
            "treeSize": self.checkpoint.size,
            "rootHash": _text(self.checkpoint.root),
        }
        return {**fields, "types": dict(self.types), "checkpoint": checkpoint, "uncovered": self.uncovered}


def _text(hashed: bytes) -> str:
    return b64encode(hashed).decode()
