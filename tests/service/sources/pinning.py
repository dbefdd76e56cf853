"""Writing the digests that a source's fixtures must give: ``python -m tests.service.sources.pinning NAME``."""

import json
import sys
from pathlib import Path
from typing import Any

from service.sources.base import Record, Source
from service.sources.registry import SOURCES
from tests.service.sources import reading


def files(source: Source) -> list[Path]:
    """The fixtures of a source."""
    return sorted((reading.SOURCES / source.name).iterdir())


def digests(source: Source, paths: list[Path]) -> dict[str, dict[str, str]]:
    """The digests of all parts of each record, under its row and benchmark."""
    found = {}
    for one in reading.parsed(source, reading.documents(*paths)):
        if isinstance(one, Record):
            bundle = reading.accepted(one)
            benchmark = bundle.run.spec["sourceNative"]["benchmark"] if bundle.run else None
            parts: list[Any] = [*bundle.manifests, *([bundle.run] if bundle.run else [])]
            name = " ".join(filter(None, (one.row, benchmark)))
            found[name] = {part.kind.value: part.digest for part in parts}
    return found


if __name__ == "__main__":
    for name in sys.argv[1:]:
        target = reading.SOURCES / "expected" / f"{name}.json"
        target.write_text(json.dumps(digests(SOURCES[name], files(SOURCES[name])), indent=1) + "\n")
        print(target)
