"""What pages take from their address."""

from starlette.requests import Request

from domain.errors import ErrorCode, InvalidInput, NotFound
from projections.model import Doc

ROWS = 50
"""How many rows a page shows of its list."""


def after(request: Request) -> str | None:
    """Where the page goes on in its list, if it is not the first."""
    return request.query_params.get("after") or None


def field(request: Request, name: str) -> str:
    """A field of a form; empty where it was left so."""
    return request.query_params.get(name, "").strip()


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
