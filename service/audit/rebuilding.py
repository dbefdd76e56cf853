"""Views made again from the log: to compare them with those that are shown, or to put them in their place."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from domain.audit.findings import Tampered, Tampering
from domain.events import Committed
from projections import saves
from projections.digests import rows_of, tables_of
from projections.saves import Save
from projections.views import Views, open_reader, path_in, replace
from service.data_folder import alone
from service.event_log import EventLog
from service.follower import Follower


class Compared(msgspec.Struct, frozen=True):
    """Views that are what the log makes of them: as of which position, and how many rows in how many tables."""

    position: int
    tables: int
    rows: int


async def verify_views(folder: Path) -> Compared:
    """Build the views of this data folder again and compare each row. Raises :class:`Tampered` for the first other one.

    What is written meanwhile is left out: the views are compared as they were when this began.
    """
    log = EventLog(folder / "log.db")
    with closing(log), TemporaryDirectory(prefix="kernelindex-views-") as temporary:
        erasures = log.erasures()
        with closing(open_reader(path_in(folder, erasures))) as shown:
            shown.execute("BEGIN")
            head = saves.head(shown)
            again = await _build(log, Path(temporary), erasures, lambda position, _: position > head.position)
            if again.position != head.position:
                raise Tampered(Tampering.VIEW_ALTERED, "the views show events that the log doesn't hold")
            with closing(open_reader(path_in(Path(temporary), erasures))) as built:
                tables = tables_of(built)
                return Compared(head.position, len(tables), sum(_compare(table, shown, built) for table in tables))


async def rebuild_views(folder: Path) -> int:
    """Build the views of this data folder anew beside the ones that are shown, then swap them. Answers their position.

    A server that has the old ones open shows them until it has taken up the new ones, within a moment.
    """
    log = EventLog(folder / "log.db")
    with closing(log), TemporaryDirectory(prefix=".views-", dir=folder) as temporary:
        erasures = log.erasures()
        head = await _build(log, Path(temporary), erasures)
        with alone(folder):
            await asyncio.to_thread(replace, path_in(Path(temporary), erasures), path_in(folder, erasures))
        return head.position


async def _build(
    log: EventLog, folder: Path, erasures: int, beyond: Callable[[int, Committed], bool] | None = None
) -> Save:
    views = await Views.open(folder, erasures)
    try:
        return await Follower(log, views, beyond=beyond).catch_up()
    finally:
        await views.close()


def _compare(table: str, shown: sqlite3.Connection, built: sqlite3.Connection) -> int:
    """How many rows the table has, the same in both."""
    count = 0
    for left, right in _pairs(rows_of(shown, table), rows_of(built, table)):
        count += 1
        if left != right:
            raise Tampered(Tampering.VIEW_ALTERED, f"view {table}: the row of {_difference(left, right)}")
    return count


def _difference(shown: tuple[Any, ...] | None, built: tuple[Any, ...] | None) -> str:
    """What is wrong with the first of two rows that are not the same; tables are read in the order of their keys."""
    if shown is None or (built is not None and built[0] < shown[0]):
        return f"{built[0] if built else ''} is missing"
    if built is None or shown[0] < built[0]:
        return f"{shown[0]} is one too many"
    return f"{shown[0]} was altered"


def _pairs(
    left: Iterator[tuple[Any, ...]], right: Iterator[tuple[Any, ...]]
) -> Iterator[tuple[tuple[Any, ...] | None, tuple[Any, ...] | None]]:
    while True:
        pair = next(left, None), next(right, None)
        if pair == (None, None):
            return
        yield pair
