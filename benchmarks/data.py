"""What is measured over: the whole catalog where it lies, else the sample that comes with the program, repeated.

A repeated run was observed later and took a little longer, so that it has another digest and its group ranks it anew.
"""

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import zstandard

from domain.manifests.reading import read_manifest
from service import sample

TIMES = 40
SAMPLE = Path(sample.__file__).parent / "sample.jsonl.zst"


def catalog(folder: Path) -> Path:
    """The file to import: the whole catalog, else the repeated sample, which is written to the folder."""
    if shared := os.environ.get("KERNELINDEX_SHARED"):
        return next((Path(shared) / "data" / "catalog").glob("*.jsonl.zst"))
    path = folder / f"sample-{TIMES}-times.jsonl.zst"
    lines = "".join(json.dumps(line) + "\n" for line in repeated())
    path.write_bytes(zstandard.ZstdCompressor().compress(lines.encode()))
    return path


def repeated() -> Iterator[dict[str, Any]]:
    """The lines of the sample, each run of it several times."""
    with SAMPLE.open("rb") as file:
        lines = zstandard.ZstdDecompressor().stream_reader(file).read().splitlines()
    for line in map(json.loads, lines):
        yield line
        if line["table"] == "benchmark_runs":
            yield from ({**line, "row": again(line["row"], number)} for number in range(1, TIMES))


def again(row: dict[str, Any], number: int) -> dict[str, Any]:
    """A run's row under another digest."""
    run = row["manifest"]["run"]
    spec = run["spec"] | {"observedAt": later(run["spec"]["observedAt"], number)}
    if timing := spec.get("timing"):
        latency_ns = {name: value + number for name, value in timing["latencyNs"].items() if name != "sampleCount"}
        spec["timing"] = timing | {"latencyNs": latency_ns}
    manifest = row["manifest"] | {"run": run | {"spec": spec}}
    id_ = UUID(int=UUID(row["id"]).int ^ number << 64)
    return row | {"id": str(id_), "runDigest": read_manifest(manifest["run"]).digest, "manifest": manifest}


def later(instant: str, seconds: int) -> str:
    """An instant so many seconds after another."""
    moment = datetime.fromisoformat(instant).astimezone(UTC) + timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
