"""Verify a synthetic log without its server: how many events a second, and how much memory.

    .venv/bin/python benchmarks/audit_verify.py [EVENTS]

The log has 1,000,000 events unless told otherwise: saves of 500, runs of 50 implementations in groups of 200, and
aliases, each as the ledger would write it. Beside it, as the plain baseline, each line is read, parsed and hashed. The
targets are at least 5,000 events a second and at most 300 MB, which holds at any length.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from rows import Row, tell

from domain import facts
from domain.audit.leaves import leaf_of
from domain.audit.merkle import Tree
from domain.audit.notes import Checkpoint
from domain.bundles import bundle_of
from domain.commands import Ingest
from domain.events import Cause, Committed, Recorded, export_line
from domain.facts import Fact
from domain.principals import LOCAL
from domain.streams import World
from service.audit.ed25519 import SignerKey
from tests.examples import ENVIRONMENT, OPERATION, PROJECT, PROTOCOL, WORKLOAD, implementation, manifest, run

EVENTS = 1_000_000
SAVE = 500
GROUP = 200
KEY = SignerKey("example.org/log", bytes(32))
WHEN = "2026-09-01T12:00:00.000000Z"


def synthetic() -> Iterator[Fact]:
    """Facts without end: manifests first, then runs, each with an alias."""
    yield facts.LogOpened(log_id="0123456789abcdef", origin=KEY.verifier.name)
    yield facts.PolicyAdopted(name="ranking", version="ranking-v1")
    world = World({})
    implementations = [implementation(f"n{number}") for number in range(50)]
    for one in (PROJECT, OPERATION, WORKLOAD, PROTOCOL, ENVIRONMENT, *implementations):
        decision = Ingest(bundle=bundle_of(one)).decide(world, LOCAL)
        yield from decision.facts
    number, protocol = 0, PROTOCOL
    while True:
        if number % GROUP == 0:
            harness = {"name": "tern-eval", "version": str(number)}
            protocol = manifest("BenchmarkProtocol", PROTOCOL.spec | {"harness": harness})
            yield from Ingest(bundle=bundle_of(protocol)).decide(world, LOCAL).facts
        number += 1
        spec = {"protocolDigest": protocol.digest, "observedAt": _observed(number)}
        measured = run(1_000_000 - number % 5_000, by=f"n{number % 50}", **spec)
        yield from Ingest(bundle=bundle_of(measured)).decide(world, LOCAL).facts
        yield facts.AliasClaimed(alias=f"alias-{number}", target=measured.digest)


def _observed(number: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_700_000_000 + number))


def write(folder: Path, count: int) -> None:
    """The log and its checkpoint."""
    tree, versions, stream = Tree(), dict[str, int](), synthetic()
    with (folder / "log.jsonl").open("wb") as out:
        for position in range(1, count + 1):
            fact = next(stream)
            first = (position - 1) // SAVE * SAVE
            cause = Cause(f"r{first}", position - first, min(SAVE, count - first))
            versions[fact.stream] = version = versions.get(fact.stream, 0) + 1
            line = export_line(Committed(0, Recorded(fact.stream, version, WHEN, "local", cause, fact)).at(position))
            tree.append(leaf_of(sha256(line).digest()))
            out.write(line + b"\n")
    (folder / "checkpoint").write_text(str(KEY.sign(Checkpoint(KEY.verifier.name, count, tree.root()).text)))


def baseline(log: Path) -> float:
    """Seconds to read, parse and hash each line in plain Python."""
    start = time.perf_counter()
    with log.open("rb") as file:
        for line in file:
            json.loads(line)
            sha256(line[:-1]).digest()
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS
    with TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, count)
        plain = baseline(folder / "log.jsonl")
        command = [sys.executable, "-c", "from service.cli import main; main()", "audit", "verify"]
        command += [str(folder / "log.jsonl"), "--checkpoint", str(folder / "checkpoint"), "--key", str(KEY.verifier)]
        start = time.perf_counter()
        subprocess.run(command, check=True)
        seconds = time.perf_counter() - start
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        size = (folder / "log.jsonl").stat().st_size
    print(f"{count:,} events, {size / 1e6:,.0f} MB:")
    print(f"  verified, events a second (wall)     {count / seconds:9,.0f}   (target: at least 5,000)")
    print(f"  verified, events a second (CPU)      {count / (usage.ru_utime + usage.ru_stime):9,.0f}")
    print(f"  to reading, parsing and hashing      {seconds / plain:9.1f}")
    print(f"  memory, MB                           {usage.ru_maxrss / 1e3:9,.0f}   (target: at most 300)")
    tell(
        Row("audit verify", "verified events a second", count / seconds, 5_000),
        Row("audit verify", "× reading, parsing and hashing", seconds / plain),
        Row("audit verify", "memory, MB", usage.ru_maxrss / 1e3, 300, "at most"),
    )


if __name__ == "__main__":
    main()
