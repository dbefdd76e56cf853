"""The hub: joins subscribers to the channel of their question, and executes each message once for all of them."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine, Hashable, Mapping
from contextlib import aclosing
from typing import Any, Final

import msgspec
from graphql import (
    ExecutionResult,
    Executor,
    GraphQLError,
    OperationDefinitionNode,
    create_source_event_stream,
    execute_subscription_event,
)
from strawberry import Schema

from domain.errors import ErrorCode, RateLimited
from domain.principals import Principal
from projections import saves
from projections.happenings import Happening
from projections.model import Doc
from projections.views import Views
from service.api import cursors
from service.api.context import Context
from service.api.execute import Api
from service.app import Index
from service.auth import Caller
from service.errors_out import execution_errors, foreseen, refused
from service.http.documents import Prepared
from service.kept import Kept
from service.subscriptions.channels import Bounds, Channel, Frame
from service.subscriptions.feeds import Feed
from service.subscriptions.questions import Question

KEPT_BYTES: Final = 16 * 1024 * 1024
ENTRY_BYTES: Final = 1_000
"""What a frame that is kept takes beside its payload, roughly."""

_SOMEBODY: Final = Principal(id="subscriber")


class NotStarted(Exception):
    """A subscription that can't begin, and why, as GraphQL errors that may leave."""

    def __init__(self, errors: list[GraphQLError]) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.formatted = execution_errors(errors)


class Hub:
    """All channels of this process."""

    def __init__(self, index: Index, schema: Schema, api: Api, bounds: Bounds | None = None) -> None:
        self._index = index
        self._schema = schema._schema  # noqa: SLF001 - Strawberry has no other way to it
        self._api = api
        self._bounds = bounds or Bounds()
        self._channels: dict[Hashable, Channel] = {}
        self._frames = _Frames(index.views)
        self._callers: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._callers.total()

    async def subscribe(
        self, prepared: Prepared, operation: OperationDefinitionNode, variables: Mapping[str, Any], context: Context
    ) -> AsyncGenerator[Frame]:
        """The frames of a subscription of a valid document. Raises :class:`NotStarted`.

        Going through them raises :class:`RateLimited` where the caller has too many at once, before the first one.
        """
        question = Question(prepared, operation, dict(variables))
        executor = self._executor(question, context)
        if isinstance(executor, list):
            raise NotStarted(executor)
        feed: Any = create_source_event_stream(executor)
        if executor.is_awaitable(feed):
            feed = await feed
        if isinstance(feed, ExecutionResult):
            raise NotStarted(feed.errors or [])
        return self._frames_of(question, feed, context.caller)

    async def _frames_of(self, question: Question, feed: Feed, caller: Caller) -> AsyncGenerator[Frame]:
        self._enter(caller)
        key = question.key(caller)
        channel = self._channels.get(key)
        if channel is None:
            channel = self._channels[key] = self._open(key, feed, question, caller)
        channel.subscribers += 1
        try:
            async with aclosing(channel.frames(feed.start)) as frames:
                async for frame in frames:
                    yield frame
        finally:
            self._callers[caller.voice] -= 1
            channel.subscribers -= 1
            if not channel.subscribers:
                channel.close()
                del self._channels[key]

    def _enter(self, caller: Caller) -> None:
        limit = self._index.settings.subscriptions_per_caller
        if self._callers[caller.voice] >= limit:
            raise RateLimited.because(
                f"more than {limit} subscriptions at once", remedy="end some, or ask for more in one of them"
            )
        self._callers[caller.voice] += 1

    def _open(self, key: Hashable, feed: Feed, question: Question, caller: Caller) -> Channel:
        # What is executed for many must not depend on who was the first of them.
        anyone = Caller(principal=_SOMEBODY if caller.has_key else None)

        async def render(happening: Happening) -> Frame:
            return await self._frames.get((key, happening.place, _notice(happening)), lambda: make(happening))

        async def make(happening: Happening) -> Frame:
            return await self._execute(happening, question, self._api.context(anyone))

        return Channel(feed.read, render, self._index.views, self._index.follower, self._bounds)

    async def _execute(self, happening: Happening, question: Question, context: Context) -> Frame:
        """Execute one message as of the end of its save."""
        place = happening.place
        save = self._index.views.peek(lambda db: saves.end_of(db, place.position))
        context.snapshot = await context.snapshot_at(save.position)
        cursor = cursors.log_cursor(context.log_id, *place)
        doc: Doc = {**happening.doc, "cursor": cursor, "position": place.position}
        seconds = self._index.settings.query_timeout_s
        try:
            async with asyncio.timeout(seconds):
                result = await self._result(context.snapshot.adopt(doc), question, context)
        except TimeoutError:
            context.give_up()
            late = refused(ErrorCode.QUERY_TIMEOUT, f"It took longer than {seconds:g} seconds", remedy="ask for less")
            result = ExecutionResult(None, [foreseen(late)])
        body: dict[str, Any] = {"errors": execution_errors(result.errors)} if result.errors else {}
        context.end()
        return Frame(place, cursor, msgspec.json.encode({**body, "data": result.data}).decode())

    async def _result(self, message: Doc, question: Question, context: Context) -> ExecutionResult:
        data = await self._api.data_of(*question, context, message)
        if data is not None:
            return ExecutionResult(data, None)
        context.start_over()
        # A new one for each message: an executor remembers the selections of all that came before.
        executor = self._executor(question, context)
        assert isinstance(executor, Executor), "it was built for the subscription itself"  # noqa: S101
        executed: Any = execute_subscription_event(executor.build_per_event_executor(message))
        result: ExecutionResult = await executed if executor.is_awaitable(executed) else executed
        return result

    def _executor(self, question: Question, context: Context) -> Executor[Any] | list[GraphQLError]:
        return Executor.build(
            self._schema,
            question.prepared.document,
            context_value=context,
            raw_variable_values=question.variables,
            operation_name=question.name,
        )


class _Frames:
    """What was rendered last, within a bound: whoever comes again after a short while is told the same bytes."""

    def __init__(self, views: Views, max_bytes: int = KEPT_BYTES) -> None:
        self._views = views
        self._generation = views.generation
        self._kept: Kept[Hashable, Frame] = Kept(max_bytes)
        self._making: dict[tuple[int, Hashable], asyncio.Task[Frame]] = {}

    async def get(self, key: Hashable, make: Callable[[], Coroutine[Any, Any, Frame]]) -> Frame:
        """The frame under a key, made by the first who asks."""
        generation = self._views.generation
        if self._generation != generation:
            self._generation = generation
            # What was erased must not even lie in memory.
            self._kept.clear()
        if frame := self._kept.get(key):
            return frame
        making = generation, key
        task = self._making.get(making)
        if task is None:
            task = self._making[making] = asyncio.create_task(make())
            task.add_done_callback(lambda made: self._made(generation, key, made))
        # Who leaves must not take along the others, who wait for the same frame.
        return await asyncio.shield(task)

    def _made(self, generation: int, key: Hashable, task: asyncio.Task[Frame]) -> None:
        del self._making[generation, key]
        if not task.cancelled() and not task.exception() and generation == self._generation == self._views.generation:
            frame = task.result()
            self._kept.keep(key, frame, ENTRY_BYTES + len(frame.payload))


def _notice(happening: Happening) -> object:
    return happening.doc["@type"], happening.doc.get("count")
