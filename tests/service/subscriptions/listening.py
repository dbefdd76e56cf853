"""Subscribing in process, as tests do it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from service.api.execute import Api
from service.api.schema import DOCUMENTS, built_schema
from service.app import Index
from service.auth import Caller
from service.subscriptions.channels import Bounds, Frame
from service.subscriptions.hub import Hub

schema = built_schema()

WAIT_S = 10
ANYBODY = Caller()
NEW_RUNS = """subscription ($after: LogCursor, $filter: RunFilter) { newRuns(after: $after, filter: $filter) {
  __typename ... on LogMessage { cursor position } ... on NewRun { run { digest ranking { rank } } }
  ... on Lagged { count } } }"""


class Listener:
    """A subscriber that hears one message at a time."""

    def __init__(self, frames: AsyncGenerator[Frame]) -> None:
        self._frames = frames

    async def frame(self) -> Frame:
        """The next frame; raises ``StopAsyncIteration`` at the end."""
        return await asyncio.wait_for(anext(self._frames), WAIT_S)

    async def next(self) -> Any:
        """The next message."""
        response = msgspec.json.decode((await self.frame()).payload)
        assert "errors" not in response, response["errors"]
        (message,) = response["data"].values()
        return message

    async def until(self, kind: str) -> list[Any]:
        """The messages up to the first of a type, which is left out."""
        heard = []
        while (message := await self.next())["__typename"] != kind:
            heard.append(message)
        return heard

    async def take(self, count: int) -> list[Any]:
        """So many messages that are about something."""
        heard: list[Any] = []
        while len(heard) < count:
            message = await self.next()
            if message["__typename"] not in ("Progress", "CaughtUp"):
                heard.append(message)
        return heard


def hub_of(index: Index, **bounds: Any) -> Hub:
    """A hub over an index."""
    return Hub(index, schema, Api(index), Bounds(**bounds))


@asynccontextmanager
async def listening(
    hub: Hub,
    index: Index,
    query: str = NEW_RUNS,
    *,
    caller: Caller = ANYBODY,
    last_event_id: str | None = None,
    **variables: Any,
) -> AsyncIterator[Listener]:
    """A subscriber, until the context ends."""
    prepared = DOCUMENTS.prepare(schema, query)
    context = Api(index).context(caller)
    context.last_event_id = last_event_id
    frames = await hub.subscribe(prepared, prepared.operation(None), variables, context)
    try:
        yield Listener(frames)
    finally:
        await frames.aclose()
