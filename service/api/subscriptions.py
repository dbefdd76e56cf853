"""The root fields that tell what happens. Each answers what is to be told and from where on; ``service/subscriptions``
tells it.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, Final

import strawberry

from domain.errors import ErrorCode, InvalidInput
from domain.manifests import Kind
from projections.happenings import Place
from service.api import cursors, resolving
from service.api.asked import Ask
from service.api.context import Context
from service.api.filters import RunFilter
from service.api.log_reads import EventFilter
from service.api.rerun_reads import RerunFilter, rerun_criteria
from service.api.scalars import Digest, LogCursor
from service.api.types.described import object_type
from service.api.types.messages import EventMessage, EvidenceMessage, RankingMessage, RerunMessage, RunMessage
from service.subscriptions import feeds
from service.subscriptions.feeds import Feed, Read

LOG_START: Final = "LOG_START"
After = Annotated[
    LogCursor | None,
    strawberry.argument(
        description="Tell what happened after this place, in order, and go on with what happens: the `cursor` of a"
        " message or of a stamp, or `LOG_START` for everything. Without it only what happens from now on is told."
    ),
]


def told(graphql_type: Any, description: str) -> Callable[[Callable[..., object]], Any]:
    """A field that tells messages of a union."""
    field: Callable[[Callable[..., object]], Any] = strawberry.subscription(
        description=f"{description} Each message has the cursor to go on from.", graphql_type=graphql_type
    )
    return field


@object_type(
    "What can be subscribed to, over graphql-transport-ws at /graphql or over SSE at /graphql/stream."
    " Messages come in the order of the log, each once."
)
class Subscription:
    @told(RunMessage, "Runs as they are recorded.")
    async def new_runs(self, info: Ask, after: After = None, filter: RunFilter | None = None) -> Feed:  # noqa: A002 the schema's name
        criteria = await resolving.run_criteria(info.context.snapshot, filter.given() if filter else {})
        return await _feed(feeds.new_runs(criteria), info.context, after)

    @told(RankingMessage, "Rankings, one or all, as ranks in them or ranked values become others.")
    async def ranking_changes(self, info: Ask, comparison_key: Digest | None = None, after: After = None) -> Feed:
        return await _feed(feeds.ranking_changes(comparison_key), info.context, after)

    @told(EvidenceMessage, "Runs, one or all, as they become more or less trusted, contested or not any more.")
    async def evidence_changes(self, info: Ask, run: strawberry.ID | None = None, after: After = None) -> Feed:
        snapshot = info.context.snapshot
        digest = None if run is None else await resolving.require_id(snapshot, run, (Kind.BENCHMARK_RUN,), "run")
        return await _feed(feeds.evidence_changes(digest), info.context, after)

    @told(RerunMessage, "Requests for reruns as they are made, started, given back and recorded.")
    async def rerun_requests(self, info: Ask, after: After = None, filter: RerunFilter | None = None) -> Feed:  # noqa: A002 the schema's name
        criteria = await rerun_criteria(info.context.snapshot, filter)
        return await _feed(feeds.rerun_changes(criteria), info.context, after)

    @told(EventMessage, "The log's events as they are recorded.")
    async def events(self, info: Ask, after: After = None, filter: EventFilter | None = None) -> Feed:  # noqa: A002 the schema's name
        criteria = await resolving.event_criteria(info.context.snapshot, filter.given() if filter else {})
        return await _feed(feeds.events_recorded(criteria), info.context, after)


async def _feed(read: Read, context: Context, after: str | None) -> Feed:
    path = "after" if context.last_event_id is None else "Last-Event-ID"
    after = after if context.last_event_id is None else context.last_event_id
    if after is None:
        return Feed(read, Place(context.index.follower.head.position))
    start = Place(0) if after == LOG_START else cursors.log_place(after, context.log_id, path)
    if start.position > context.index.follower.head.position:
        await _require_to_come(context, start.position, path)
    return Feed(read, start)


async def _require_to_come(context: Context, position: int, path: str) -> None:
    """Another host may have shown what this one is about to show; what the log does not hold is an error."""
    if position <= await asyncio.to_thread(context.index.log.length):
        with suppress(TimeoutError):
            await context.index.follower.reach(position, context.index.settings.min_position_wait_s)
    if position > (head := context.index.follower.head.position):
        raise InvalidInput.because(
            f"the log has not reached position {position}: this host is at {head}",
            code=ErrorCode.POSITION_IN_FUTURE,
            path=path,
            remedy="subscribe without it, or take one from a stamp",
        )
