"""Instants as manifests write them: RFC 3339 in UTC with ``Z``, seconds optional, any number of fraction digits."""

import re
from typing import Final

from domain.errors import ErrorCode, InvalidInput

DATE: Final = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])\Z")


def instant_key(instant: str) -> str:
    """A text that sorts as the instants do, whatever precision each was written in."""
    text = instant.removesuffix("Z")
    if len(text) == len("2026-08-01T12:00"):
        text += ":00"
    return text.rstrip("0").removesuffix(".") if "." in text else text


def with_seconds(instant: str) -> str:
    """The instant as RFC 3339 wants it: manifests may leave the seconds out, clients can't read that."""
    return f"{instant[:-1]}:00Z" if len(instant) == len("2026-08-01T12:00Z") else instant


def in_microseconds(instant: str) -> str:
    """The instant as the log writes instants, rounded down to whole microseconds."""
    whole, _, fraction = with_seconds(instant)[:-1].partition(".")
    return f"{whole}.{fraction[:6]:0<6}Z"


def instant_of_date(date: str) -> str:
    """The first instant of a UTC day given as ``YYYY-MM-DD``."""
    if not DATE.match(date):
        raise InvalidInput.because(
            f"{date!r} is not a date", code=ErrorCode.INVALID_VALUE, remedy="write it as YYYY-MM-DD"
        )
    return f"{date}T00:00:00Z"
