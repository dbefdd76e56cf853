"""Views made again from the log: to compare them with those that are shown, or to put them in their place."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from domain.audit.findings import Tampered, Tampering
from projections import saves
from projections.digests import rows_of, tables_of
from projections.views import Views, apply, open_reader, open_writer, path_in, replace
from service.data_folder import alone
from service.event_log import EventLog
from service.follower import BATCH, Follower


class Compared(msgspec.Struct, frozen=True):
    """Views that are what the log makes of them: as of which position, and how many rows in how many tables."""

    position: int
    tables: int
    rows: int


def verify_views(folder: Path) -> Compared:
    """Build the views of this data folder again and compare each row. Raises :class:`Tampered` for the first other one.

    What is written meanwhile is left out: the views are compared as they were when this began.
    """
    log = EventLog(folder / "log.db")
    with (
        closing(log),
        TemporaryDirectory(prefix="kernelindex-views-") as temporary,
        closing(open_reader(path_in(folder))) as shown,
        closing(open_writer(Path(temporary) / "views.db")) as built,
    ):
        shown.execute("BEGIN")
        head = saves.head(shown)
        _build(log, built, head.recorder_id)
        tables, rows = tables_of(built), 0
        for table in tables:
            rows += _compare(table, shown, built)
        return Compared(head.position, len(tables), rows)


async def rebuild_views(folder: Path) -> int:
    """Build the views of this data folder anew beside the ones that are shown, then swap them. Answers their position.

    A server that has the old ones open shows them until it has taken up the new ones, within a moment.
    """
    log = EventLog(folder / "log.db")
    try:
        with TemporaryDirectory(prefix=".views-", dir=folder) as temporary:
            views = await Views.open(Path(temporary))
            try:
                head = await Follower(log, views).catch_up()
            finally:
                await views.close()
            with alone(folder):
                await asyncio.to_thread(replace, path_in(Path(temporary)), path_in(folder))
            return head.position
    finally:
        log.close()


def _build(log: EventLog, db: sqlite3.Connection, until: int) -> None:
    head = saves.NOTHING
    while head.recorder_id < until:
        limit = BATCH
        while True:
            found = log.read(head.recorder_id, limit)
            whole = [one for one in found if one.recorder_id <= until]
            while whole and not whole[-1].recorded.cause.ends_save:
                whole.pop()
            if whole or len(found) < limit:
                break
            limit *= 4
        if not whole:
            raise Tampered(Tampering.VIEW_ALTERED, "the views show events that the log doesn't hold", head.position + 1)
        head = apply(db, head, whole)


def _compare(table: str, shown: sqlite3.Connection, built: sqlite3.Connection) -> int:
    """How many rows the table has, the same in both."""
    count = 0
    for left, right in _pairs(rows_of(shown, table), rows_of(built, table)):
        count += 1
        if left != right:
            what = "is missing" if left is None else "is one too many" if right is None else "was altered"
            raise Tampered(Tampering.VIEW_ALTERED, f"view {table}: the row of {(left or right or ('',))[0]} {what}")
    return count


def _pairs(
    left: Iterator[tuple[Any, ...]], right: Iterator[tuple[Any, ...]]
) -> Iterator[tuple[tuple[Any, ...] | None, tuple[Any, ...] | None]]:
    while True:
        pair = next(left, None), next(right, None)
        if pair == (None, None):
            return
        yield pair
