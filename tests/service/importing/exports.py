"""Catalog exports for tests: the shipped sample, whole or changed row by row."""

import io
import json
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import zstandard

from service.sample import FILES

SAMPLE, *SEEDS = FILES
Line = dict[str, Any]

COUNTS = {
    "sources": 2,
    "projects": 14,
    "operations": 68,
    "operation aliases": 68,
    "workloads": 73,
    "implementations": 150,
    "protocols": 3,
    "environments": 4,
    "runs": 190,
}
"""What the sample holds."""


@cache
def _sample() -> tuple[Line, ...]:
    with SAMPLE.open("rb") as file:
        text = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), encoding="utf-8")
        return tuple(json.loads(line) for line in text)


def sample() -> list[Line]:
    """The lines of the sample, to be changed at will."""
    return deepcopy(list(_sample()))


def one_run() -> list[Line]:
    """One run of the sample, the first, and what it refers to: a row of each table."""
    lines = sample()
    rows = {line["row"]["id"]: line["row"] for line in lines if "id" in line["row"]}
    run = next(line["row"] for line in lines if line["table"] == "benchmark_runs")
    implementation = rows[run["implementationId"]]
    wanted = {
        run["id"],
        run["sourceId"],
        run["workloadId"],
        implementation["id"],
        implementation["projectId"],
        implementation["operationId"],
    }
    return [line for line in lines if line["row"].get("id", line["row"].get("operationId")) in wanted]


def number_of(lines: list[Line], table: str, nth: int = 0) -> int:
    """The number, from 1, of the line that holds the nth row of a table."""
    return [number for number, line in enumerate(lines, 1) if line["table"] == table][nth]


def changed(lines: list[Line], table: str, change: Callable[[Line], None], nth: int = 0) -> int:
    """Change the nth row of a table. Answers the number of its line."""
    number = number_of(lines, table, nth)
    change(lines[number - 1]["row"])
    return number


def written(folder: Path, lines: Iterable[Line], name: str = "export.jsonl") -> Path:
    """A file of these lines."""
    path = folder / name
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def seed(nth: int = 0) -> Line:
    """One of the two seed bundles."""
    tree: Line = json.loads(zstandard.decompress(SEEDS[nth].read_bytes()))
    return tree
