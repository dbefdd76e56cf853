"""Cursors: opaque to clients, bound to what they were given for.

A page cursor holds the snapshot in which the paging began, so that pages fit together however much is written
meanwhile.
A log cursor is a place in one log; one of another log, or of the future, is an error, never silence.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Annotated, Any, Final

import msgspec

from domain.errors import ErrorCode, InvalidInput
from domain.identity import canonical_json


class PageCursor(msgspec.Struct, frozen=True, array_like=True):
    """The key of a row in a listing as of a position; ``listing`` is a fingerprint of filter and order."""

    listing: str
    position: Annotated[int, msgspec.Meta(gt=0)]
    key: tuple[str | Annotated[int, msgspec.Meta(ge=0, lt=2**53)], ...]


class _LogCursor(msgspec.Struct, frozen=True, array_like=True):
    log_id: str
    position: Annotated[int, msgspec.Meta(ge=0, lt=2**53)]


_PAGE: Final = msgspec.json.Decoder(PageCursor)
_LOG: Final = msgspec.json.Decoder(_LogCursor)
FROM_A_STAMP: Final = "take one from a stamp of this index"


def fingerprint(log_id: str, field: str, arguments: Any) -> str:
    """Tells one listing from another: the log, the field, and the arguments that choose and order the rows."""
    return sha256(canonical_json([log_id, field, arguments])).hexdigest()[:16]


def encode(cursor: PageCursor) -> str:
    """The cursor as clients get it."""
    return _opaque(msgspec.json.encode(cursor))


def decode(text: str, listing: str, head: int, path: str) -> PageCursor:
    """The cursor again. Raises :class:`InvalidInput` where it was not given for this listing of this log."""
    try:
        cursor = _PAGE.decode(_bytes(text))
    except (ValueError, msgspec.DecodeError):
        raise invalid("is not a cursor of this index", path) from None
    if encode(cursor) != text:
        raise invalid("is not a cursor of this index", path)
    if cursor.listing != listing:
        raise invalid("was given for another list, filter or order", path)
    if cursor.position > head:
        raise invalid("is from a later position than the one that is shown", path)
    return cursor


def log_cursor(log_id: str, position: int) -> str:
    """The place in the log, as clients get it."""
    return _opaque(msgspec.json.encode(_LogCursor(log_id, position)))


def log_position(text: str, log_id: str, path: str) -> int:
    """The position that a log cursor stands for. Raises :class:`InvalidInput` where it is none of this log."""
    try:
        cursor = _LOG.decode(_bytes(text))
    except (ValueError, msgspec.DecodeError):
        raise invalid("is not a cursor of this index", path, FROM_A_STAMP) from None
    if log_cursor(cursor.log_id, cursor.position) != text:
        raise invalid("is not a cursor of this index", path, FROM_A_STAMP)
    if cursor.log_id != log_id:
        raise invalid("is a place in another log", path, FROM_A_STAMP)
    return cursor.position


def _opaque(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))


def invalid(message: str, path: str, remedy: str = "begin again without it, or take one from a page") -> InvalidInput:
    """The error about a cursor that is of no use here."""
    return InvalidInput.because(message, code=ErrorCode.INVALID_CURSOR, path=path, remedy=remedy)
