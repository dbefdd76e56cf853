"""Request bodies: read within a limit, and decoded as the JSON that GraphQL over HTTP means."""

import asyncio
import json
from http import HTTPStatus
from math import isfinite
from typing import Any, Final, NoReturn

from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive

from domain.errors import ErrorCode
from service.errors_out import Refused, refused
from service.http.arriving import arrived, is_whole

BODY_TIMEOUT_S: Final = 120.0  # 5 MiB by a poor line
INTEGER_DIGITS: Final = 309  # of the largest double; more can be no number of GraphQL's


class BodyTooLarge(Refused):
    """The body is larger than this request may send."""

    default_code = ErrorCode.BODY_TOO_LARGE


async def read_body(request: Request, limit: int, seconds: float = BODY_TIMEOUT_S) -> bytes:
    """The whole body, at most ``limit`` bytes of it, which must come within so many seconds.

    A declared length is believed before anything is read, and what arrives is counted all the same. Raises
    :class:`BodyTooLarge`, or :class:`Refused` for a length that is no number; a client that leaves raises Starlette's
    ``ClientDisconnect``.
    """
    declared = request.headers.get("content-length", "0")
    if not (declared.isascii() and declared.isdigit()):
        raise refused(ErrorCode.BAD_REQUEST, "Content-Length is not a number")
    if len(declared.lstrip("0")) > len(str(limit)) or int(declared) > limit:
        raise _too_large(limit)
    first = arrived(request.receive)
    if first and is_whole(first):
        body: bytes = first.get("body", b"")
        _require_within(limit, body)
        return body
    try:
        async with asyncio.timeout(seconds):
            return await _all_of(request.receive, first, limit)
    except TimeoutError:
        raise refused(
            ErrorCode.BAD_REQUEST,
            f"The body did not come within {seconds:g} seconds",
            remedy="send it in several requests",
            status=HTTPStatus.REQUEST_TIMEOUT,
            headers={"Connection": "close"},
        ) from None


async def _all_of(receive: Receive, first: Message | None, limit: int) -> bytes:
    body = bytearray()
    message = first or await receive()
    while message["type"] == "http.request":
        body += message.get("body", b"")
        _require_within(limit, body)
        if is_whole(message):
            return bytes(body)
        message = await receive()
    raise ClientDisconnect


def _require_within(limit: int, body: bytes | bytearray) -> None:
    if len(body) > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge.because(
        f"The body is larger than the {limit} bytes that this request may send", remedy="send it in several requests"
    )


def decode_json(data: bytes | str, max_depth: int) -> Any:
    """The value of a JSON text in UTF-8. Raises :class:`Refused`.

    Stricter than ``json.loads`` where that would let through what can't be told apart or written back: repeated keys,
    NaN and infinities, numbers that no double holds, half a surrogate pair, nesting deeper than ``max_depth``.
    """
    try:
        text = data.decode() if isinstance(data, bytes) else data
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_not_a_number,
            parse_int=_integer,
            parse_float=_float,
        )
    except UnicodeDecodeError:
        raise refused(ErrorCode.BAD_REQUEST, "The text is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise refused(
            ErrorCode.BAD_REQUEST, f"The text is not JSON, at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise _too_deep(max_depth) from None
    if _deeper_than(value, max_depth):
        raise _too_deep(max_depth)
    if "\\u" in text and not _is_encodable(value):
        raise refused(ErrorCode.INVALID_TEXT, "The text has half a surrogate pair, which is no character")
    return value


def _too_deep(limit: int) -> Refused:
    return refused(
        ErrorCode.BAD_REQUEST, f"The JSON is nested deeper than {limit} levels", remedy="send manifests as text"
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise refused(ErrorCode.DUPLICATE_KEY, "An object in the JSON has the same key twice")
    return value


def _not_a_number(name: str) -> NoReturn:
    raise refused(ErrorCode.BAD_REQUEST, f"{name} is no JSON number", remedy="leave it out, or send null")


def _integer(digits: str) -> int:
    if len(digits) > INTEGER_DIGITS:
        raise _out_of_range()
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if not isfinite(value):
        raise _out_of_range()
    return value


def _out_of_range() -> Refused:
    return refused(
        ErrorCode.NUMBER_OUT_OF_RANGE, "A number in the JSON is too large", remedy="send exact numbers as strings"
    )


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            child
            for item in level
            if isinstance(item, (dict, list))
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return any(isinstance(item, (dict, list)) for item in level)


def _is_encodable(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
