"""A trace file of 100 MB: read as a stream, in memory that does not grow with it, with its progress told."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from service.app import Index
from service.importing.run import Importer
from service.importing.upstream import Options
from tests.service.sources import reading

MIB = 1024 * 1024
SOURCE = reading.SOURCES / "sol-traces"
IMPORT = """
import resource, sys
from service.cli import main
sys.argv = ["kernelindex", "import", *sys.argv[1:]]
try:
    main()
finally:
    print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, file=sys.stderr)
"""


def traces(path: Path, size: int) -> int:
    """A file of this many bytes of traces: failures with long logs, as real ones have, each a run of its own."""
    trace = json.loads((SOURCE / "trace.jsonl").read_text().splitlines()[1])
    lines = 0
    with path.open("w") as file:
        while file.tell() < size:
            trace["solution"] = f"solution-{lines}"
            trace["evaluation"]["log"] = f"{lines}: " + "CUDA error: an illegal memory access was encountered\n" * 400
            file.write(json.dumps(trace) + "\n")
            lines += 1
    return lines


def imported(folder: Path, file: Path, definition: Path) -> tuple[dict[str, int], int]:
    """The counts of the runs, and the most memory that the importing process had."""
    process = subprocess.run(
        [sys.executable, "-c", IMPORT, str(file), "--kernel", str(definition), "--json"],
        env={**os.environ, "KERNELINDEX_DATA_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    counts: dict[str, int] = json.loads(process.stdout)["counts"]["runs"]
    return counts, int(process.stderr.rpartition("peak ")[2])


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Of the file a batch is held at a time; a hundred megabytes take what ten took."""
    peaks = {}
    for size in (10, 100):
        file = tmp_path / f"{size}.jsonl"
        lines = traces(file, size * MIB)
        counts, peaks[size] = imported(tmp_path / f"data-{size}", file, SOURCE / "definition.json")
        assert counts == {"new": lines, "unchanged": 0, "refused": 0}
        file.unlink()

    assert peaks[100] - peaks[10] < 30 * MIB


async def test_the_progress_that_is_told_adds_up_to_the_file(index: Index, tmp_path: Path) -> None:
    """The bar is over bytes, and moves while the file is read."""
    file = tmp_path / "traces.jsonl"
    traces(file, 2 * MIB)
    steps: list[int] = []

    importer = Importer(index.ledger, advance=steps.append, options=Options(kernels=(SOURCE / "definition.json",)))
    report = await asyncio.to_thread(importer.run, [file])

    assert report.refused == []
    assert sum(steps) == file.stat().st_size
    assert len(steps) > 4
