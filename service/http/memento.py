"""Datetime negotiation (RFC 7089): the record as it stood at a time is a redirect away."""

import sqlite3
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Final

from domain.errors import ErrorCode
from domain.events import timestamp
from projections import saves
from service.errors_out import refused
from service.http.representations import Record

REST_OF_THE_SECOND: Final = timedelta(microseconds=999_999)


def http_date(instant: str) -> str:
    """An instant of the log as HTTP headers write it."""
    return format_datetime(datetime.fromisoformat(instant).astimezone(UTC), usegmt=True)


async def position_for(record: Record, accept_datetime: str) -> int:
    """The position at which the record stood at that time; its first where it was not there yet, as RFC 7089 says.

    An HTTP date means the whole of its second: a time out of ``Memento-Datetime`` leads to where it came from.
    """
    instant = timestamp(_parsed(accept_datetime) + REST_OF_THE_SECOND)

    def query(db: sqlite3.Connection) -> int:
        known = saves.save_known_at(db, instant).position
        return max(known, saves.end_of(db, record.run["position"]).position)

    position: int = await record.snapshot.read(query)
    return min(position, record.snapshot.position)


def _parsed(text: str) -> datetime:
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise refused(
        ErrorCode.BAD_REQUEST,
        "Accept-Datetime is not an HTTP date",
        remedy="write it as Tue, 01 Sep 2026 12:00:00 GMT",
    )
