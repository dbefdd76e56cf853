"""Appending events in batches of 500, beside `executemany` of the same bytes with `synchronous = FULL`, in turn.

Run as `python benchmarks/append.py [BATCHES]`.
"""

import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rows import Row, tell

from domain.commands import Ingest
from domain.events import Cause, Recorded, encode_state
from domain.facts import RunIngested
from domain.principals import LOCAL
from domain.streams import World
from service.event_log import EventLog
from tests.examples import bundle

BATCH, ROUNDS = 500, 5
WHEN = "2026-09-01T12:00:00.000000Z"
TABLE = """CREATE TABLE events (id INTEGER PRIMARY KEY, stream TEXT NOT NULL, version INTEGER NOT NULL,
  topic TEXT NOT NULL, state BLOB NOT NULL, UNIQUE (stream, version))"""


def saves_of(count: int, first: int) -> list[list[Recorded]]:
    """So many saves of runs, each as the ledger would write it."""
    return [
        [
            Recorded(fact.stream, 1, WHEN, "heron", Cause(f"{first + number}", index, BATCH), fact)
            for index, fact in enumerate(map(_ingested, range(first + number * BATCH, first + (number + 1) * BATCH)), 1)
        ]
        for number in range(count)
    ]


def _ingested(number: int) -> RunIngested:
    facts = Ingest(bundle=bundle(1 + number)).decide(World({}), LOCAL).facts
    return next(fact for fact in facts if isinstance(fact, RunIngested))


def timed(write: Callable[[Sequence[Recorded]], object], saves: Sequence[Sequence[Recorded]]) -> float:
    """Events a second."""
    began = time.perf_counter()
    for save in saves:
        write(save)
    return len(saves) * BATCH / (time.perf_counter() - began)


def main(count: int = 5) -> None:
    """Measure in turn."""
    with TemporaryDirectory() as folder:
        log = EventLog(Path(folder) / "log.db")
        plain = sqlite3.connect(Path(folder) / "plain.db", isolation_level=None)
        for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", TABLE):
            plain.execute(statement)

        def written(rows: Sequence[tuple[str, int, str, bytes]]) -> None:
            plain.execute("BEGIN IMMEDIATE")
            plain.executemany("INSERT INTO events (stream, version, topic, state) VALUES (?, ?, ?, ?)", rows)
            plain.execute("COMMIT")

        ratios, rates = [], []
        for number in range(ROUNDS):
            saves = saves_of(count, number * count * BATCH)
            rows = [
                [(one.originator_id, one.originator_version, "RunIngested", encode_state(one)) for one in save]
                for save in saves
            ]
            rates.append(timed(log.append, saves))
            ratios.append(rates[-1] / timed(written, rows))
        log.close()
        plain.close()
    tell(
        Row("append", "events a second × executemany of the same bytes", median(ratios), 0.4),
        Row("append", "events a second", median(rates)),
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
