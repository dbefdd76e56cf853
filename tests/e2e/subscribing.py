"""Subscribers that come and go at random, over both transports, and what each of them heard."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Any

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidHandshake, WebSocketException
from websockets.typing import Subprotocol

QUERIES = {
    "all": "subscription ($after: LogCursor) { newRuns(after: $after) { %s } }",
    "timeouts": "subscription ($after: LogCursor) { newRuns(after: $after, filter: {status: TIMEOUT}) { %s } }",
    "events": 'subscription ($after: LogCursor) { events(after: $after, filter: {types: ["RunIngested"]}) { %s } }',
}
FIELDS = "__typename ... on LogMessage { cursor position }"
LOST = (OSError, WebSocketException, InvalidHandshake, httpx.HTTPError, TimeoutError, EOFError)
LONGEST_S = 1.5
PROTOCOL = Subprotocol("graphql-transport-ws")
ABOUT = ("NewRun", "EventRecorded")


async def over_socket(url: str, query: str, after: str) -> AsyncGenerator[Any]:
    """The messages of a subscription over a WebSocket, until the connection is lost."""
    address = url.replace("http", "ws") + "/graphql"
    # Who leaves does not wait for the end of what is still on its way.
    async with connect(address, subprotocols=[PROTOCOL], compression=None, close_timeout=0.1) as socket:
        await socket.send('{"type":"connection_init"}')
        await socket.recv()
        payload = {"query": query, "variables": {"after": after}}
        await socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
        async for text in socket:
            message = json.loads(text)
            if message["type"] == "complete":
                return
            assert message["type"] == "next", message
            (told,) = message["payload"]["data"].values()
            yield told


async def over_sse(url: str, query: str, after: str) -> AsyncGenerator[Any]:
    """The same over server-sent events, where the place to go on from is the header that browsers send."""
    headers = {"Accept": "text/event-stream", "Last-Event-ID": after}
    async with (
        httpx.AsyncClient(base_url=url, timeout=30) as client,
        client.stream("POST", "/graphql/stream", json={"query": query}, headers=headers) as answer,
    ):
        async for line in answer.aiter_lines():
            if line.startswith('data: {"data"'):
                (told,) = json.loads(line.removeprefix("data: "))["data"].values()
                yield told


class Subscriber:
    """One that disconnects at random and goes on from its last cursor. ``heard`` are positions."""

    def __init__(self, url: str, number: int) -> None:
        self.kind = list(QUERIES)[number % len(QUERIES)]
        self.heard: list[int] = []
        self.connections = 0
        self._url = url
        self._tell = over_sse if number % 5 == 0 else over_socket
        self._chance = random.Random(number)
        self._after = "LOG_START"

    async def run(self, is_done: Callable[["Subscriber"], bool]) -> None:
        """Listen until everything was heard; one that hears too much or something else never ends."""
        while not is_done(self):
            self.connections += 1
            with suppress(*LOST):
                await self._listen(self._chance.random() * LONGEST_S, is_done)
            await asyncio.sleep(self._chance.random() * 0.1)

    async def _listen(self, seconds: float, is_done: Callable[["Subscriber"], bool]) -> None:
        messages = self._tell(self._url, QUERIES[self.kind] % FIELDS, self._after)
        async with aclosing(messages), asyncio.timeout(seconds):
            async for told in messages:
                self._after = told["cursor"]
                if told["__typename"] in ABOUT:
                    self.heard.append(told["position"])
                if told["__typename"] == "Lagged" or is_done(self):
                    return
