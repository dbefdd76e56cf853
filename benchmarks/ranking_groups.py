"""What a page of a ranking and a run's rank cost in groups of 100, 10,000 and 100,000 runs.

A group is ranked once per change, at first read; then a page costs what it returns, however large the group is. Beside
the first read stands the plain baseline: reading the same columns by the same SQL and sorting them in Python.

    python benchmarks/ranking_groups.py [SIZE...]
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from decimal import Decimal
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from domain.events import Cause, Recorded, timestamp
from domain.facts import Fact, ManifestRegistered, RunIngested
from domain.manifests import Manifest
from service.api.execute import Api
from service.api.schema import built_schema
from service.app import Index, open_index
from service.auth import AT_HOME
from service.settings import Settings
from tests.examples import ENVIRONMENT, OPERATION, PROTOCOL, START, WORKLOAD, implementation, raw, run

schema = built_schema()

SIZES = (100, 10_000, 100_000)
SAVE = 500
REPEATS = 15

PAGE = """query($key: Digest!) { ranking(comparisonKey: $key) { size
  entries(first: 25) { nodes { rank tied value ratioToLeader run { shortId } } } } }"""
RANK = "query($id: ID!) { run(id: $id) { ranking { rank tied groupSize ratioToLeader } } }"


def main() -> None:
    """Measure each size in turn and print one table."""
    sizes = tuple(map(int, sys.argv[1:])) or SIZES
    print(f"{'runs':>8} {'first page':>12} {'to plain':>9} {'page':>9} {'rank':>9} {'after a change':>15}")
    results = [asyncio.run(measured(size)) for size in sizes]
    smallest = results[0]
    for size, found in zip(sizes, results, strict=True):
        first, plain, page, rank, changed = found
        ratios = f"{first / plain:>9.2f} {page / smallest[2]:>8.2f}× {rank / smallest[3]:>8.2f}×"
        print(f"{size:>8,} {first * 1e3:>9.1f} ms {ratios} {changed * 1e3:>12.1f} ms")
    page, rank = smallest[2] * 1e3, smallest[3] * 1e3
    print(f"(a page of the smallest group takes {page:.2f} ms, a rank {rank:.2f} ms: they are the 1×)")


async def measured(size: int) -> tuple[float, float, float, float, float]:
    """Seconds: the first page, the plain baseline, a page, a run's rank, the first page after a change."""
    with TemporaryDirectory() as folder:
        async with open_index(Settings(data_dir=Path(folder)), follow=False) as index:
            fill(index, size)
            await index.follower.catch_up()
            key, digest = index.views.peek(
                lambda db: db.execute(
                    "SELECT comparison_key, digest FROM runs LIMIT 1 OFFSET ?", (size // 2,)
                ).fetchone()
            )
            api = Api(index)
            first = await timed(lambda: ask(api, PAGE, key=key))
            plain = median([await timed(lambda: index.views.read(lambda db: sort(db, key))) for _ in range(3)])
            page = median([await timed(lambda: ask(api, PAGE, key=key)) for _ in range(REPEATS)])
            rank = median([await timed(lambda: ask(api, RANK, id=digest)) for _ in range(REPEATS)])
            append(index, [ingested(measurement(size + 1))], "another")
            await index.follower.catch_up()
            return first, plain, page, rank, await timed(lambda: ask(api, PAGE, key=key))


async def ask(api: Api, query: str, **variables: Any) -> None:
    result = await schema.execute(query, variable_values=variables, context_value=api.context(AT_HOME))
    if result.errors:
        raise RuntimeError(result.errors)


def sort(db: Any, key: str) -> list[tuple[Decimal, str, str]]:
    """What any ranking has to do at least: read the group and sort it by value."""
    rows = db.execute(
        "SELECT value, observed_key, digest FROM runs WHERE comparison_key = ? AND to_position IS NULL", (key,)
    )
    return sorted((Decimal(value), observed, digest) for value, observed, digest in rows)


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


def fill(index: Index, size: int) -> None:
    """A group of so many runs, in saves of 500."""
    append(index, [registered(one) for one in (OPERATION, WORKLOAD, PROTOCOL, ENVIRONMENT, implementation())], "begin")
    facts: Iterator[Fact] = (ingested(measurement(number)) for number in range(size))
    number = 0
    while save := list(islice(facts, SAVE)):
        number += 1
        append(index, save, f"save-{number}")


def append(index: Index, facts: list[Fact], request: str) -> None:
    events = [
        Recorded(fact.stream, 1, timestamp(START), "local", Cause(request, place, len(facts)), fact)
        for place, fact in enumerate(facts, 1)
    ]
    index.log.append(events)


def measurement(number: int) -> Manifest:
    """A run of its own value, observed at its own minute."""
    value = 10_000 + number * 7919 % 1_000_003
    minute, hour, day = number % 60, number // 60 % 24, 1 + number // 1440 % 28
    month = 1 + number // 40_320
    return run(value, observedAt=f"2026-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z")


def registered(one: Manifest) -> Fact:
    return ManifestRegistered(digest=one.digest, kind=one.kind.value, manifest=raw(one))


def ingested(one: Manifest) -> Fact:
    return RunIngested(digest=one.digest, manifest=msgspec.Raw(one.canonical), source="local")


if __name__ == "__main__":
    main()
