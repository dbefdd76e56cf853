"""What a subscriber hears: everything after its place, in the log's order, each once, whatever happens meanwhile."""

import asyncio
import random
import threading
from contextlib import AsyncExitStack
from typing import Any

import pytest

from domain.commands import Ingest
from domain.errors import RateLimited
from domain.principals import LOCAL, Principal
from projections import saves
from service.api import cursors
from service.app import Index, open_index
from service.auth import Caller
from service.settings import Settings
from service.subscriptions.hub import NotStarted
from tests.examples import bundle, run
from tests.service.api.asking import ask, ingest_all
from tests.service.subscriptions.listening import hub_of, listening

STAMP = "{ stamp { cursor position } }"


async def ingested(index: Index, first: int, last: int) -> list[int]:
    """Runs with these latencies, each a save of its own; answers the position of each."""
    await ingest_all(index, *(bundle(value) for value in range(first, last + 1)))
    return positions(index)[-(last + 1 - first) :]


async def ingested_at_once(index: Index, first: int, last: int) -> None:
    await index.ledger.handle([Ingest(bundle=bundle(value)) for value in range(first, last + 1)], LOCAL)


def positions(index: Index) -> list[int]:
    """The positions at which the log has runs."""
    query = "SELECT DISTINCT recorded_position FROM runs ORDER BY 1"
    return [row[0] for row in index.views.peek(lambda db: db.execute(query).fetchall())]


def heard(messages: list[Any]) -> list[int]:
    return [message["position"] for message in messages]


async def test_without_a_place_only_what_happens_from_now_on_is_told(index: Index) -> None:
    await ingested(index, 1, 3)
    async with listening(hub_of(index), index) as listener:
        assert (await listener.next())["__typename"] == "CaughtUp"
        later = await ingested(index, 4, 5)
        assert heard(await listener.take(2)) == later


async def test_from_the_start_of_the_log_everything_is_told_and_then_what_happens(index: Index) -> None:
    before = await ingested(index, 1, 120)
    async with listening(hub_of(index), index, after="LOG_START") as listener:
        assert heard(await listener.until("CaughtUp")) == before
        later = await ingested(index, 121, 122)
        assert heard(await listener.take(2)) == later


async def test_case_33_who_commits_later_is_told_later_and_nobody_is_passed_over(index: Index) -> None:
    """Given a host that has inserted and not committed, when two others write, then they wait: a place in the log is
    taken where it is committed, so that no reader goes past one that is still in flight."""
    before = await ingested(index, 1, 2)
    async with AsyncExitStack() as hosts, listening(hub_of(index), index) as listener:
        await listener.next()
        settings = Settings(data_dir=index.settings.data_dir)
        first, *others = [
            await hosts.enter_async_context(open_index(settings, follow=False, level=False)) for _ in range(3)
        ]
        inserted, released = hold(first)
        writes = [asyncio.create_task(recorded(first, 3))]
        await asyncio.to_thread(inserted.wait, 10)
        writes += [asyncio.create_task(recorded(host, value)) for value, host in enumerate(others, 4)]
        await index.follower.catch_up()
        assert positions(index) == before
        assert not any(write.done() for write in writes)

        released.set()
        await asyncio.gather(*writes)
        told = await listener.take(3)
        assert heard(told) == positions(index)[len(before) :]
        assert told[0]["run"]["digest"] == run(3).digest


def hold(host: Index) -> tuple[threading.Event, threading.Event]:
    """Let a host's next save wait between insert and commit; answers what tells of that, and what lets it go on."""
    inserted, released = threading.Event(), threading.Event()
    recorder: Any = host.log._store._application.recorder
    insert = recorder._insert_events

    def held(*args: Any, **kwargs: Any) -> Any:
        ids = insert(*args, **kwargs)
        inserted.set()
        released.wait(10)
        return ids

    recorder._insert_events = held
    return inserted, released


async def recorded(host: Index, value: int) -> None:
    await asyncio.to_thread(host.ledger.record, [Ingest(bundle=bundle(value))], LOCAL)


async def test_case_37_what_was_missed_comes_once_and_in_order(index: Index) -> None:
    """Cut after 4; 5 to 9 happen; 10 falls between the reading of the past and the present; then 11."""
    hub = hub_of(index)
    async with listening(hub, index, after="LOG_START") as listener:
        await ingested(index, 1, 4)
        last = (await listener.take(4))[-1]["cursor"]
    await ingested(index, 5, 9)
    async with listening(hub, index, after=last) as listener:
        first = await listener.take(3)
        await ingested(index, 10, 10)
        rest = await listener.take(3)
        await ingested(index, 11, 11)
        rest += await listener.take(1)
    assert heard(first + rest) == positions(index)[4:11]


async def test_nothing_falls_between_a_query_and_a_subscription_from_its_stamp(index: Index) -> None:
    await ingested(index, 1, 2)
    cursor = (await ask(index, STAMP))["stamp"]["cursor"]
    between = await ingested(index, 3, 4)
    async with listening(hub_of(index), index, after=cursor) as listener:
        assert heard(await listener.until("CaughtUp")) == between


@pytest.mark.parametrize("stop", range(1, 8))
async def test_a_subscriber_that_left_inside_a_save_is_told_the_rest_of_it(index: Index, stop: int) -> None:
    hub = hub_of(index)
    await ingested_at_once(index, 1, 7)
    async with listening(hub, index, after="LOG_START") as listener:
        first = await listener.take(stop)
    async with listening(hub, index, after=first[-1]["cursor"]) as listener:
        rest = await listener.until("CaughtUp")
    assert heard(first + rest) == positions(index)
    assert len(positions(index)) == 7


async def test_a_message_is_read_as_of_the_end_of_its_save(index: Index) -> None:
    """Each run was the fastest when it came; by now the first one is the last."""
    await ingest_all(index, *(bundle(value) for value in (300, 200, 100)))
    async with listening(hub_of(index), index, after="LOG_START") as listener:
        assert [one["run"]["ranking"]["rank"] for one in await listener.until("CaughtUp")] == [1, 1, 1]


async def test_the_cursor_of_a_filter_that_matches_nothing_moves(index: Index) -> None:
    async with listening(hub_of(index, quiet_s=0.05), index, filter={"status": "TIMEOUT"}) as listener:
        opening = await listener.next()
        await ingested(index, 1, 3)
        moved = await listener.next()
        while moved["position"] < index.follower.head.position:
            moved = await listener.next()
    assert moved["__typename"] == "Progress"
    assert opening["position"] < moved["position"]
    later = await ingested(index, 4, 4)
    async with listening(hub_of(index), index, after=moved["cursor"]) as listener:
        assert heard(await listener.until("CaughtUp")) == later


async def test_a_filter_is_asked_of_the_run_as_it_was_recorded(index: Index) -> None:
    await ingest_all(index, bundle(1), bundle(2, status="timeout"), bundle(3))
    async with listening(hub_of(index), index, after="LOG_START", filter={"status": "TIMEOUT"}) as listener:
        (only,) = await listener.until("CaughtUp")
    assert only["position"] == positions(index)[1]


async def test_one_execution_serves_all_who_ask_the_same(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = hub_of(index)
    executed: list[str] = []
    execute = hub._execute

    async def counting(happening: Any, *arguments: Any) -> Any:
        executed.append(happening.doc["@type"])
        return await execute(happening, *arguments)

    monkeypatch.setattr(hub, "_execute", counting)
    (first,) = await ingested(index, 1, 1)
    cursor = cursors.log_cursor(await log_id(index), first)
    async with listening(hub, index) as one, listening(hub, index) as two, listening(hub, index, after=cursor) as three:
        for listener in (one, two, three):
            assert (await listener.next())["__typename"] == "CaughtUp"
        await ingested(index, 2, 3)
        frames = [[await listener.frame() for _ in range(2)] for listener in (one, two, three)]
    assert executed == ["CaughtUp", "NewRun", "NewRun"]
    assert frames[0][0].payload is frames[1][0].payload is frames[2][0].payload


async def log_id(index: Index) -> str:
    return str(index.views.peek(saves.log_id))


async def test_other_variables_or_a_key_make_another_question(index: Index) -> None:
    hub = hub_of(index)
    keyed = Caller(principal=Principal(id="heron"))
    async with (
        listening(hub, index) as one,
        listening(hub, index, filter={"status": "PASSED"}) as two,
        listening(hub, index, caller=keyed) as three,
    ):
        for listener in (one, two, three):
            await listener.next()
        assert len(hub._channels) == 3
    assert not hub._channels
    assert not len(hub)


async def test_a_slow_subscriber_is_told_where_to_go_on_and_then_no_more(index: Index) -> None:
    hub = hub_of(index, frames=5)
    async with listening(hub, index) as slow, listening(hub, index) as quick:
        await slow.next()
        await quick.next()
        await ingested(index, 1, 2)
        first = await slow.take(2)
        await quick.take(2)
        for value in range(3, 11):
            await ingested(index, value, value)
            await quick.take(1)
        lagged = await slow.next()
        with pytest.raises(StopAsyncIteration):
            await slow.frame()
    assert lagged == {"__typename": "Lagged", "cursor": first[-1]["cursor"], "position": heard(first)[-1], "count": 8}
    async with listening(hub, index, after=lagged["cursor"]) as again:
        assert heard(first + await again.until("CaughtUp")) == positions(index)


async def test_who_reads_the_past_slowly_is_not_lagged(index: Index) -> None:
    hub = hub_of(index, frames=3)
    await ingested(index, 1, 4)
    async with listening(hub, index, after="LOG_START") as listener:
        first = await listener.take(1)
        await ingested(index, 5, 20)
        rest = await listener.take(19)
    assert heard(first + rest) == positions(index)


async def test_a_channel_keeps_no_more_than_its_bounds(index: Index) -> None:
    hub = hub_of(index, frames=10, chars=1_000)
    async with listening(hub, index) as listener:
        await listener.next()
        await ingested(index, 1, 20)
        (channel,) = hub._channels.values()
        while channel._reached.position < index.follower.head.position:
            await asyncio.sleep(0.01)
        assert sum(len(frame.payload) for frame in channel._kept) == channel._chars <= 1_000


@pytest.mark.parametrize(
    ("after", "code"),
    [
        ("nonsense", "INVALID_CURSOR"),
        ("", "INVALID_CURSOR"),
        (cursors.log_cursor("another log", 1), "INVALID_CURSOR"),
        (cursors.log_cursor("id-1", 99), "POSITION_IN_FUTURE"),
        (cursors.log_cursor("id-1", 2**53 - 1), "POSITION_IN_FUTURE"),
    ],
)
async def test_a_place_that_is_none_of_this_log_is_an_error_before_the_first_message(
    index: Index, after: str, code: str
) -> None:
    assert await log_id(index) == "id-1"
    with pytest.raises(NotStarted) as refused:
        async with listening(hub_of(index), index, after=after):
            pass
    assert refused.value.formatted[0]["extensions"]["code"] == code


async def test_a_filter_that_names_nothing_is_an_error_before_the_first_message(index: Index) -> None:
    with pytest.raises(NotStarted) as refused:
        async with listening(hub_of(index), index, filter={"operation": "no-such-operation"}):
            pass
    assert refused.value.formatted[0]["extensions"]["code"] == "NOT_FOUND"


async def test_the_last_event_id_counts_and_not_the_place_of_the_beginning(index: Index) -> None:
    first, second = await ingested(index, 1, 2)
    cursor = cursors.log_cursor(await log_id(index), first)
    async with listening(hub_of(index), index, after="LOG_START", last_event_id=cursor) as listener:
        assert heard(await listener.until("CaughtUp")) == [second]


async def test_a_caller_has_so_many_subscriptions_at_once(index: Index) -> None:
    hub = hub_of(index)
    limit = index.settings.subscriptions_per_caller
    hub._callers[Caller(address="192.0.2.1").voice] = limit
    async with listening(hub, index, caller=Caller(address="192.0.2.1")) as listener:
        with pytest.raises(RateLimited):
            await listener.frame()
    async with listening(hub, index, caller=Caller(address="192.0.2.2")) as listener:
        assert (await listener.next())["__typename"] == "CaughtUp"


async def test_when_the_follower_stops_subscribers_are_told(index: Index) -> None:
    async with listening(hub_of(index), index) as listener:
        await listener.next()
        await index.follower._fail(RuntimeError("newer release"))
        with pytest.raises(Exception, match="stopped following"):
            await listener.frame()


@pytest.mark.parametrize("seed", range(4))
async def test_subscribers_that_come_and_go_at_random_hear_each_position_once(index: Index, seed: int) -> None:
    """Saves of one to five runs, a channel that keeps little, subscribers that leave in the middle of anything."""
    chance = random.Random(seed)
    hub, done = hub_of(index, frames=4), asyncio.Event()

    async def write() -> None:
        value = 1
        while value < 80:
            size = chance.randint(1, 5)
            await ingested_at_once(index, value, value + size - 1)
            value += size
        done.set()

    async def subscribe() -> list[int]:
        told, after = list[int](), "LOG_START"
        while not done.is_set() or told != positions(index):
            async with listening(hub, index, after=after) as listener:
                for _ in range(chance.randint(1, 12)):
                    if done.is_set() and told == positions(index):
                        break
                    message = await listener.next()
                    after = message["cursor"]
                    if message["__typename"] == "NewRun":
                        told.append(message["position"])
                    elif message["__typename"] == "Lagged":
                        break
        return told

    _, *all_told = await asyncio.wait_for(asyncio.gather(write(), *(subscribe() for _ in range(6))), 60)
    assert all(told == positions(index) for told in all_told)
