"""GraphQL over server-sent events: the distinct connections mode of the graphql-sse protocol.

https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md. One operation a request, by POST or GET. Each event's
``id`` is its cursor, so that a browser's EventSource goes on by itself where it was cut off.
"""

import asyncio
from collections.abc import Iterable
from contextlib import aclosing, suppress
from http import HTTPStatus
from typing import Any, Final

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from domain.errors import ErrorCode, KernelIndexError
from service.auth import unauthenticated
from service.errors_out import Refused, refused
from service.http.admission import Gate
from service.http.answers import refusal, respond
from service.http.graphql_http import METHODS
from service.http.lifetimes import Lifetimes, Pace, cut, is_denied
from service.http.negotiation import JSON, negotiate
from service.http.operating import Failed, Operations
from service.http.parameters import Parameters
from service.keys import KeyStore

EVENT_STREAM: Final = "text/event-stream"
COMPLETE: Final = "event: complete\ndata: \n\n"
KEEP_ALIVE: Final = ":\n\n"
_HEADERS: Final = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    (b"vary", b"Accept"),
)


class Streams:
    """An ASGI application for streams at one path."""

    def __init__(self, operations: Operations, gate: Gate, keys: KeyStore, lifetimes: Lifetimes | None = None) -> None:
        self.operations = operations
        self.gate = gate
        self.keys = keys
        self.lifetimes = lifetimes or Lifetimes()
        self._ending = asyncio.Event()

    def end(self) -> None:
        """End all streams: the server is about to stop, and clients come back by themselves."""
        self._ending.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        request = Request(scope, receive)
        if request.method == "OPTIONS":
            await Response(status_code=HTTPStatus.NO_CONTENT, headers={"Allow": METHODS})(scope, receive, send)
            return
        try:
            if negotiate(",".join(request.headers.getlist("accept")), (EVENT_STREAM,)) is None:
                raise _not_acceptable()
            parameters = await self.operations.endpoint.read(request)
        except ClientDisconnect:
            return
        except KernelIndexError as error:
            await respond(refusal(error), JSON)(scope, receive, send)
            return
        await _Stream(self, request, parameters, send).run(self._ending)


class _Stream:
    """One stream."""

    def __init__(self, streams: Streams, request: Request, parameters: Parameters, send: Send) -> None:
        self._streams = streams
        self._request = request
        self._parameters = parameters
        self._asgi_send = send
        self._pace = Pace()

    async def run(self, ending: asyncio.Event) -> None:
        """Tell until there is no more to tell, the client leaves, or its time is over."""
        await self._asgi_send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": list(_HEADERS)})
        telling = asyncio.create_task(self._tell(), name="stream")
        others = [asyncio.create_task(one) for one in (self._left(), self._guard(), ending.wait())]
        try:
            await asyncio.wait([telling, *others], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (telling, *others):
                task.cancel()
            await asyncio.gather(telling, *others, return_exceptions=True)
        with suppress(OSError):
            await self._asgi_send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _tell(self) -> None:
        last = self._request.headers.get("last-event-id") or None
        answers = self._streams.operations.answers(self._parameters, self._request, last)
        try:
            async with aclosing(answers):
                async for told in answers:
                    mark = f"id: {told.cursor}\n" if told.cursor else ""
                    await self._send(f"event: next\n{mark}data: {told.payload}\n\n")
        except Failed as failed:
            await self._send(_errors(failed.errors))
        await self._send(COMPLETE)

    async def _left(self) -> None:
        while (await self._request.receive())["type"] != "http.disconnect":
            pass

    async def _guard(self) -> None:
        times, loop = self._streams.lifetimes, asyncio.get_running_loop()
        until = loop.time() + times.whole
        while loop.time() < until:
            await asyncio.sleep(min(times.check, times.keep_alive))
            if self._pace.is_stuck(times.stuck):
                cut(self._request.scope)
                return
            if is_denied(self._streams.keys, self._streams.gate.caller_in(self._request.scope)):
                error = unauthenticated("the key is not taken any more")
                await self._send(_errors(refusal(error).body["errors"]) + COMPLETE)
                return
            if self._pace.quiet_s >= times.keep_alive:
                await self._send(KEEP_ALIVE)

    async def _send(self, text: str) -> None:
        with self._pace:
            await self._asgi_send({"type": "http.response.body", "body": text.encode(), "more_body": True})


def _errors(errors: Iterable[Any]) -> str:
    return f"event: next\ndata: {msgspec.json.encode({'errors': list(errors)}).decode()}\n\n"


def _not_acceptable() -> Refused:
    return refused(
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        "This path answers with server-sent events, which Accept does not take",
        remedy=f"accept {EVENT_STREAM}, or ask at /graphql",
        status=HTTPStatus.NOT_ACCEPTABLE,
    )
