"""Scalars: each says where its form is specified."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final, NewType

import strawberry
from graphql import GraphQLError
from strawberry.types.scalar import ScalarDefinition

from domain.errors import ErrorCode
from domain.identity import is_digest
from domain.instants import DATE

BigInt = NewType("BigInt", str)
Decimal = NewType("Decimal", str)
Position = NewType("Position", int)
Digest = NewType("Digest", str)
LogCursor = NewType("LogCursor", str)
DateTime = NewType("DateTime", str)
Date = NewType("Date", str)
URL = NewType("URL", str)
ManifestText = NewType("ManifestText", str)

_DATE_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?Z\Z"
)
_URL: Final = re.compile(r"https?://[^\s\x00-\x20/?#\x7f]+(?:[/?#][^\s\x00-\x20\x7f]*)?\Z")
_MAX_POSITION: Final = 2**53 - 1


def _refused(message: str, remedy: str) -> GraphQLError:
    return GraphQLError(message, extensions={"code": ErrorCode.INVALID_ARGUMENT.value, "remedy": remedy})


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise _refused(f"{what} must be a string", f"write the {what} in quotes")
    return value


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _digest(value: Any) -> str:
    text = _text(value, "Digest")
    if not is_digest(text):
        raise _refused(f"{text[:100]!r} is not a digest", "write sha256: and 64 lower-case hex digits")
    return text


def _date_time(value: Any) -> str:
    text = _text(value, "DateTime")
    if not _DATE_TIME.match(text) or not _is_day(text[: len("2026-08-01")]):
        raise _refused(f"{text[:100]!r} is not a UTC instant", "write it as 2026-08-01T12:00:00Z")
    return text


def _date(value: Any) -> str:
    text = _text(value, "Date")
    if not DATE.match(text) or not _is_day(text):
        raise _refused(f"{text[:100]!r} is not a date", "write it as 2026-08-01")
    return text


def _url(value: Any) -> str:
    text = _text(value, "URL")
    if not _URL.match(text):
        raise _refused(f"{text[:100]!r} is not an absolute URL", "write it with http:// or https://, unspaced")
    return text


def _position(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_POSITION:
        raise _refused("a position is a whole number from 0 on", "take it from a stamp")
    return value


def _plain(name: str) -> Any:
    return lambda value: _text(value, name)


_RFC: Final = "https://www.rfc-editor.org/rfc"
_NUMBERS: Final = f"{_RFC}/rfc8259#section-6"


def _scalar(name: str, description: str, url: str, parse: Any = None) -> ScalarDefinition:
    return strawberry.scalar(
        name=name, description=description, specified_by_url=url, parse_value=parse or _plain(name)
    )


SCALARS: Final[Mapping[object, ScalarDefinition]] = {
    BigInt: _scalar("BigInt", "A whole number of any size, as decimal text.", _NUMBERS),
    Decimal: _scalar("Decimal", "An exact decimal number, as text in JSON's number form.", _NUMBERS),
    Position: _scalar(
        "Position",
        "The place of an event in the log, from 1 without gaps; a whole number below 2^53.",
        _NUMBERS,
        _position,
    ),
    Digest: _scalar("Digest", "`sha256:` and 64 lower-case hex digits.", f"{_RFC}/rfc6234", _digest),
    LogCursor: _scalar("LogCursor", "An opaque place in one log.", f"{_RFC}/rfc4648#section-5"),
    DateTime: _scalar("DateTime", "An instant in UTC, RFC 3339 with `Z`.", f"{_RFC}/rfc3339", _date_time),
    Date: _scalar("Date", "A day in UTC, `YYYY-MM-DD`.", f"{_RFC}/rfc3339#section-5.6", _date),
    URL: _scalar("URL", "An absolute URL, of http or https.", f"{_RFC}/rfc3986", _url),
    ManifestText: _scalar(
        "ManifestText",
        "A manifest as text, JSON or YAML 1.2, so that duplicate keys and the spelling of numbers reach the parser.",
        "https://yaml.org/spec/1.2.2/",
    ),
}
