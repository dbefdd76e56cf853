"""The outermost layer of the application: an id for each request, and the last word on what nothing else caught."""

import re
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.http.answers import AnswerError, error_as_json
from service.http.cors import opened
from service.logs import logged_under

SAFE_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")


def request_id_of(came: str, make_id: Callable[[], str]) -> str:
    """The id of a request: the one that came in, if it is harmless to print, else a new one."""
    return came if SAFE_ID.match(came) else make_id()


def request_ids(new_id: Callable[[], str]) -> Callable[[], str]:
    """Makes ids of requests: one that is new, and a number. A new one for each would take a call of the system."""
    numbers = count(1)
    first = cache(new_id)
    return lambda: f"{first()}-{next(numbers):x}"


class RequestBoundary:
    """ASGI middleware: ``X-Request-Id`` on every answer, bound in the log's context, and no exception gets past it.

    The id is the one that came in, if it is harmless to print, else one of ``make_id``. An error of ours is answered
    as it says; any other is logged and answered 500 ``INTERNAL``. Where the answer has already begun, the server is
    left to cut it off; a client that left while its body was read gets nothing. ``answer`` answers errors.
    """

    def __init__(self, app: ASGIApp, make_id: Callable[[], str], answer: AnswerError = error_as_json) -> None:
        self.app = app
        self.answer = answer
        self.make_id = make_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection; lifespan messages pass through."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        request_id = request_id_of(Headers(scope=scope).get("x-request-id", ""), self.make_id)
        with logged_under(request_id):
            await self._run(scope, receive, send, (b"x-request-id", request_id.encode()))

    async def _run(self, scope: Scope, receive: Receive, send: Send, header: tuple[bytes, bytes]) -> None:
        begun = False

        async def marked(message: Message) -> None:
            nonlocal begun
            if message["type"] in ("http.response.start", "websocket.accept"):
                begun = True
                message["headers"] = [*message.get("headers", ()), header]
            await send(message)

        try:
            await self.app(scope, receive, marked)
        except ClientDisconnect:
            return
        except Exception as error:
            if begun or scope["type"] != "http":
                raise
            response = self.answer(error, ",".join(Headers(scope=scope).getlist("accept")), scope["path"])
            # The layer that opens answers to browsers is inside this one, and the exception went through it.
            await response(scope, receive, opened(marked))
