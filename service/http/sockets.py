"""GraphQL over WebSocket: the graphql-transport-ws protocol, and no other.

https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md. Where that leaves something open, graphql-ws's own
server is the reference. Any operation may be sent; a key comes in the payload of ``connection_init`` as
``Authorization``, or in that header of the handshake.
"""

import asyncio
from contextlib import aclosing
from typing import Any, Final

import msgspec
from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send

from domain.errors import KernelIndexError
from service.http.admission import Gate, let_in, peer_of
from service.http.answers import refusal, respond
from service.http.lifetimes import Lifetimes, Pace, cut, is_denied
from service.http.negotiation import JSON
from service.http.operating import Failed, Operations
from service.http.socket_messages import PROTOCOL, Said, Violation, read_message
from service.keys import KeyStore

MAX_OPERATIONS: Final = 20
CLOSE_S: Final = 5.0


class Sockets:
    """An ASGI application for WebSockets at one path."""

    def __init__(self, operations: Operations, gate: Gate, keys: KeyStore, lifetimes: Lifetimes | None = None) -> None:
        self.operations = operations
        self.gate = gate
        self.keys = keys
        self.lifetimes = lifetimes or Lifetimes()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        await receive()
        connection = HTTPConnection(scope)
        try:
            let_in(scope, self.gate.admit(connection.headers, peer_of(scope)))
        except KernelIndexError as error:
            await respond(refusal(error), JSON)(scope, receive, send)
            return
        spoken = PROTOCOL in scope["subprotocols"]
        await send({"type": "websocket.accept", "subprotocol": PROTOCOL if spoken else None})
        if spoken:
            await _Socket(self, connection, receive, send).run()
        else:
            await send({"type": "websocket.close", "code": 4406, "reason": "Subprotocol not acceptable"})


class _Socket:
    """One connection."""

    def __init__(self, sockets: Sockets, connection: HTTPConnection, receive: Receive, send: Send) -> None:
        self._sockets = sockets
        self._connection = connection
        self._receive = receive
        self._asgi_send = send
        self._pace = Pace()
        self._initialised = asyncio.Event()
        self._operations: dict[str, asyncio.Task[None]] = {}
        self._closed = False
        self._opened_at = self._busy_at = asyncio.get_running_loop().time()

    async def run(self) -> None:
        guard = asyncio.create_task(self._guard(), name="guard of a socket")
        try:
            while (text := await self._received()) is not None:
                await self._handle(read_message(text, self._sockets.operations.endpoint.limits.json_depth))
        except Violation as violation:
            await self._close(violation)
        except OSError:
            pass  # it has left
        finally:
            tasks = [guard, *self._operations.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _received(self) -> str | None:
        """The next message as text, None once the connection has ended."""
        message = await self._receive()
        if message["type"] == "websocket.disconnect":
            self._closed = True
            return None
        text = message.get("text")
        if text is None:
            raise Violation(4400, "Invalid message received")
        if len(text) > self._sockets.operations.endpoint.max_body(self._connection):
            raise Violation(1009, "The message is too large")
        return str(text)

    async def _handle(self, said: Said) -> None:
        match said.type:
            case "connection_init":
                await self._init(said.payload or {})
            case "ping":
                await self._send(_text({"type": "pong"} | ({"payload": said.payload} if said.payload else {})))
            case "subscribe":
                await self._subscribe(said)
            case "complete":
                if task := self._operations.pop(said.id, None):
                    task.cancel()

    async def _init(self, payload: dict[str, Any]) -> None:
        if self._initialised.is_set():
            raise Violation(4429, "Too many initialisation requests")
        sent = payload.get("Authorization", payload.get("authorization"))
        if sent is not None:
            headers, scope = self._connection.headers, self._connection.scope
            try:
                let_in(scope, self._sockets.gate.admit(headers, peer_of(scope), str(sent)))
            except KernelIndexError as error:
                raise Violation(4401, f"Unauthorized: {error.problems[0].message}") from None
        self._initialised.set()
        await self._send(_text({"type": "connection_ack"}))

    async def _subscribe(self, said: Said) -> None:
        if not self._initialised.is_set():
            raise Violation(4401, "Unauthorized")
        if said.id in self._operations:
            raise Violation(4409, f"Subscriber for {said.id} already exists")
        self._busy_at = asyncio.get_running_loop().time()
        try:
            self._sockets.gate.admit_operation(self._connection.scope, len(self._operations), MAX_OPERATIONS)
        except KernelIndexError as error:
            await self._send(_text({"id": said.id, "type": "error", "payload": refusal(error).body["errors"]}))
            return
        self._operations[said.id] = asyncio.create_task(self._operate(said), name="operation of a socket")

    async def _operate(self, said: Said) -> None:
        assert said.parameters  # noqa: S101 a subscribe message has them
        id_ = _text(said.id)
        beginning = f'{{"id":{id_},"type":"next","payload":'
        try:
            async with aclosing(self._sockets.operations.answers(said.parameters, self._connection)) as answers:
                async for told in answers:
                    await self._send(f"{beginning}{told.payload}}}")
            end = f'{{"id":{id_},"type":"complete"}}'
        except Failed as failed:
            end = f'{{"id":{id_},"type":"error","payload":{_text(failed.errors)}}}'
        except OSError:
            return  # it has left
        # The id is free before the client can know that the operation has ended.
        if self._operations.get(said.id) is asyncio.current_task():
            del self._operations[said.id]
        self._busy_at = asyncio.get_running_loop().time()
        await self._send(end)

    async def _send(self, text: str) -> None:
        if not self._closed:
            with self._pace:
                await self._asgi_send({"type": "websocket.send", "text": text})

    async def _close(self, violation: Violation) -> None:
        """End the connection, by force where the other end does not read."""
        if self._closed:
            return
        self._closed = True
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._asgi_send({"type": "websocket.close", "code": violation.code, "reason": violation.reason})
        except TimeoutError:
            cut(self._connection.scope)
        except OSError:
            pass

    async def _guard(self) -> None:
        times = self._sockets.lifetimes
        try:
            async with asyncio.timeout(times.init):
                await self._initialised.wait()
        except TimeoutError:
            await self._close(Violation(4408, "Connection initialisation timeout"))
            return
        while (end := self._end()) is None:
            if self._pace.is_stuck(times.stuck):
                cut(self._connection.scope)
                return
            await asyncio.sleep(times.check)
        await self._close(end)

    def _end(self) -> Violation | None:
        """Why the connection has to end now."""
        times, now = self._sockets.lifetimes, asyncio.get_running_loop().time()
        if is_denied(self._sockets.keys, self._sockets.gate.caller_in(self._connection.scope)):
            return Violation(4401, "Unauthorized: the key is not taken any more")
        if now - self._opened_at > times.whole:
            return Violation(1001, "Connect again and go on from the last cursor")
        if not self._operations and now - self._busy_at > times.idle:
            return Violation(1001, "Idle")
        return None


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
