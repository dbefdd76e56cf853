"""Reads are open to browsers everywhere.

The headers are the same whoever asks. Starlette's middleware adds them only where there is an ``Origin``, and then
varies by it: a shared cache would hold every answer once per origin, and one that ignores ``Vary`` hands a script the
copy that it stored for a plain link. Credentials are never allowed: keys travel in ``Authorization``, which a page must
set itself, and never in cookies.
"""

from typing import Final

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

METHODS: Final = ("GET", "POST", "OPTIONS")
REQUEST_HEADERS: Final = (
    "content-type",
    "authorization",
    "x-kernelindex-min-position",
    "last-event-id",
    "if-none-match",
    "accept-datetime",
    "x-request-id",
)
EXPOSED_HEADERS: Final = (
    "ETag",
    "Link",
    "Memento-Datetime",
    "RateLimit",
    "RateLimit-Limit",
    "RateLimit-Policy",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Retry-After",
    "X-Request-Id",
)
PREFLIGHT_AGE_S: Final = 7200  # the most that Chromium keeps

_OPEN: Final = (b"access-control-allow-origin", b"*")
_ANSWER: Final = (_OPEN, (b"access-control-expose-headers", ", ".join(EXPOSED_HEADERS).encode()))
_PREFLIGHT: Final = (
    _OPEN,
    (b"access-control-allow-methods", ", ".join(METHODS).encode()),
    (b"access-control-allow-headers", ", ".join(REQUEST_HEADERS).encode()),
    (b"access-control-max-age", str(PREFLIGHT_AGE_S).encode()),
    (b"content-length", b"0"),
)


class OpenToBrowsers:
    """ASGI middleware: answers preflights, and lets any page read every other answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection; what is not HTTP passes through."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif scope["method"] == "OPTIONS" and "access-control-request-method" in Headers(scope=scope):
            await send({"type": "http.response.start", "status": 204, "headers": list(_PREFLIGHT)})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self.app(scope, receive, opened(send))


def opened(send: Send) -> Send:
    """``send``, with the headers that let any page read the answer."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_ANSWER]
        await send(message)

    return with_headers


def cors_middleware() -> Middleware:
    """The middleware as Starlette takes it."""
    return Middleware(OpenToBrowsers)
