"""Import and rebuild, each as a ratio to its plain baseline, taken side by side in one run.

    make bench                                  # the sample that comes with the program
    KERNELINDEX_SHARED=../shared make bench     # the whole public catalog

* import: ``kernelindex import`` of the file, views level at its end, to reading the file, ``json.loads`` of each line
  and one RFC 8785 digest for each manifest in it. The target for the catalog is at most 4.
* rebuild: the views from the log alone, to that import. The target is at most 1.
* memory: the most that the importing processes held at once (resident, summed). The target is at most 400 MB.

Rounds are taken in turn, so that what else the machine does falls on all alike; the medians of ratios count.
"""

import asyncio
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import psutil
import rfc8785
import zstandard
from data import catalog
from rows import Row, tell

from projections.views import Views
from service.event_log import EventLog
from service.follower import Follower

ROUNDS = 3
POLL_S = 0.02


def baseline(path: Path) -> int:
    """Read, parse and digest every manifest in plain Python; answers how many there were."""
    with path.open("rb") as file:
        text = zstandard.ZstdDecompressor().stream_reader(file).read()
    digested = 0
    for line in text.splitlines():
        manifest = json.loads(line)["row"].get("manifest")
        if not manifest:
            continue
        for part in manifest.values() if "run" in manifest else (manifest,):
            identity = {field: part[field] for field in ("apiVersion", "kind", "spec")}
            hashlib.sha256(rfc8785.dumps(identity)).hexdigest()
            digested += 1
    return digested


def import_into(folder: Path, path: Path) -> int:
    """Run ``kernelindex import`` on an empty folder; answers the most bytes that its processes held at once."""
    command = [sys.executable, "-c", "from service.cli import main; raise SystemExit(main())", "import", str(path)]
    environment = os.environ | {"KERNELINDEX_DATA_DIR": str(folder)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        watched, most = psutil.Process(process.pid), 0
        while process.poll() is None:
            most = max(most, resident(watched))
            time.sleep(POLL_S)
    if process.returncode:
        raise SystemExit(f"the import failed with status {process.returncode}")
    return most


def resident(process: psutil.Process) -> int:
    """The resident memory of a process and its children, in bytes."""
    total = 0
    for one in (process, *process.children(recursive=True)):
        try:
            total += one.memory_info().rss
        except psutil.Error:
            continue
    return total


def rebuild(folder: Path) -> int:
    """Build the views anew from the log; answers the number of events."""

    async def build() -> int:
        with TemporaryDirectory() as fresh:
            log, views = EventLog(folder / "log.db"), await Views.open(Path(fresh))
            head = await Follower(log, views).catch_up()
            await views.close()
            log.close()
            return head.position

    return asyncio.run(build())


def timed(work: Callable[[], int]) -> tuple[float, int]:
    """How long it took in seconds, and what it answered."""
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def measured(path: Path, number: int) -> tuple[float, float, float, float]:
    """One round: import to plain work, rebuild to import, events a second, and megabytes."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        plain_s, manifests = timed(lambda: baseline(path))
        import_s, most = timed(lambda: import_into(folder, path))
        rebuild_s, events = timed(lambda: rebuild(folder))
    print(
        f"round {number}: plain {plain_s:.2f} s ({manifests} manifests), import {import_s:.2f} s,"
        f" rebuild {rebuild_s:.2f} s ({events} events)"
    )
    return import_s / plain_s, rebuild_s / import_s, events / rebuild_s, most / 1e6


def main() -> None:
    """Measure and print."""
    with TemporaryDirectory() as beside:
        path = catalog(Path(beside))
        rounds = [measured(path, number) for number in range(1, ROUNDS + 1)]
    ratio, rebuilt, per_s, megabytes = (median(column) for column in zip(*rounds, strict=True))
    print(f"{path.name}, medians of {ROUNDS} rounds:")
    print(f"  import to plain reading, parsing and digesting   {ratio:5.2f}   (target: at most 4)")
    print(f"  rebuild to import                                {rebuilt:5.2f}   (target: at most 1)")
    print(f"  rebuild, events per second                      {per_s:6.0f}   (target: at least 5000)")
    print(f"  memory of the import, MB                        {megabytes:6.0f}   (target: at most 400)")
    tell(
        Row("import", "× reading, parsing and digesting", ratio, 4, "at most"),
        Row("import", "memory, MB", megabytes, 400, "at most"),
        Row("rebuild", "× import", rebuilt, 1, "at most"),
        Row("rebuild", "events a second", per_s, 5_000),
    )


if __name__ == "__main__":
    main()
