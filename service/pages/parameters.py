"""What pages take from their address."""

from datetime import UTC, datetime

from starlette.requests import Request

from domain.errors import ErrorCode, InvalidInput, NotFound
from domain.events import timestamp
from projections.model import Doc

ROWS = 50
"""How many rows a page shows of its list."""


def after(request: Request) -> str | None:
    """Where the page goes on in its list, if it is not the first."""
    return request.query_params.get("after") or None


def field(request: Request, name: str) -> str:
    """A field of a form; empty where it was left so."""
    return request.query_params.get(name, "").strip()


def moment(request: Request, now: datetime) -> Doc | None:
    """What ``?at=`` names: a position, an instant, or the end of a UTC day, as ``AsOf`` of the API. None without."""
    text = field(request, "at")
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return {"position": position(text, "at")}
    try:
        whole_day = len(text) == len("2026-08-01")
        instant = datetime.fromisoformat(f"{text}T23:59:59.999999Z" if whole_day else text)
        if instant.tzinfo:
            today = whole_day and text == timestamp(now)[: len(text)]
            return {"time": timestamp(now if today else instant.astimezone(UTC))}
    except (ValueError, OverflowError):
        pass
    raise InvalidInput.because(
        f"{text[:100]!r} is not a moment of the log",
        code=ErrorCode.INVALID_ARGUMENT,
        path="at",
        remedy="write a position, a day as 2026-08-01, or an instant as 2026-08-01T12:00:00Z",
    )


def position(text: str, path: str) -> int:
    """A position of the log that somebody wrote. Raises :class:`InvalidInput` for what is none."""
    if text.isascii() and text.isdigit() and int(text[:20]) < 2**53:
        return int(text[:20])
    raise InvalidInput.because(
        f"{text[:100]!r} is not a position of the log",
        code=ErrorCode.INVALID_ARGUMENT,
        path=path,
        remedy="write a whole number, as stamps and histories give it",
    )


def found(doc: Doc | None, what: str, remedy: str) -> Doc:
    """The object that the page is about. Raises :class:`NotFound` where there is none."""
    if doc is None:
        raise NotFound.because(f"There is no such {what} here", remedy=remedy)
    return doc
