"""The follower: whole saves, in order, each once, whoever wrote them; it stops rather than guess."""

import asyncio
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from domain.errors import Conflict, ErrorCode
from domain.events import Cause, Committed, Recorded, UnknownEventType
from domain.facts import AliasClaimed, PolicyAdopted
from domain.principals import LOCAL
from projections import saves
from projections.saves import UnknownPolicy
from projections.views import Views
from service import follower as module
from service.app import Index, open_index
from service.event_log import EventLog
from service.follower import Follower
from service.settings import Settings
from tests.examples import Clock, Ids, ingest, recorded


def claims(*aliases: str, request: str = "r1") -> list[Recorded]:
    """A save of alias claims."""
    return recorded(*(AliasClaimed(alias=alias, target="x") for alias in aliases), request=request)


def shown(views: Views) -> list[str]:
    """The aliases that the views show, in the order of their positions."""
    rows = views.peek(lambda db: db.execute("SELECT alias FROM aliases ORDER BY from_position").fetchall())
    return [alias for (alias,) in rows]


async def test_positions_are_dense_and_end_with_saves(index: Index) -> None:
    index.log.append(claims("a", "b", request="r1"))
    index.log.append(claims("c", request="r2"))
    await index.follower.wait_for(index.log.latest())
    ends = index.views.peek(lambda db: db.execute("SELECT position, request FROM saves ORDER BY position").fetchall())
    opening = ends[0][0]
    assert ends[1:] == [(opening + 2, "r1"), (opening + 3, "r2")]


async def test_a_position_inside_a_save_rounds_down_to_the_end_of_the_one_before(index: Index) -> None:
    index.log.append(claims("a", "b", "c"))
    end = await index.follower.wait_for(index.log.latest())
    inside = index.views.peek(lambda db: saves.save_at(db, end - 1))
    assert inside.position == end - 3


async def test_half_a_save_is_not_shown(tmp_path: Path) -> None:
    """A log restored from a bad copy may end inside a save: its tail waits."""
    log, views = EventLog(tmp_path / "log.db"), await Views.open(tmp_path)
    log.append(claims("a"))
    half = AliasClaimed(alias="half", target="x")
    log.append([Recorded(half.stream, 1, "2026-09-01T12:00:00.000000Z", "local", Cause("r2", 1, 2), half)])
    follower = Follower(log, views)
    await follower.catch_up()
    assert shown(views) == ["a"]
    await views.close()
    log.close()


@pytest.mark.parametrize("batch", [1, 2, 7, 1000])
async def test_saves_longer_than_a_batch_are_applied_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(module, "BATCH", batch)
    log, views = EventLog(tmp_path / "log.db"), await Views.open(tmp_path)
    names = [f"a{number:02}" for number in range(30)]
    log.append(claims(*names[:25], request="r1"))
    log.append(claims(*names[25:], request="r2"))
    follower = Follower(log, views)
    await follower.catch_up()
    assert shown(views) == names
    await views.close()
    log.close()


async def test_what_another_process_writes_is_shown_without_being_told(index: Index, tmp_path: Path) -> None:
    other = EventLog(tmp_path / "log.db")
    other.append(claims("theirs"))
    other.close()
    async with asyncio.timeout(5):
        while shown(index.views) != ["theirs"]:
            await asyncio.sleep(0.005)


async def test_two_followers_of_one_file_apply_each_event_once(tmp_path: Path) -> None:
    log, one, two = EventLog(tmp_path / "log.db"), await Views.open(tmp_path), await Views.open(tmp_path)
    followers = [Follower(log, one), Follower(log, two)]
    for number in range(40):
        log.append(claims(f"a{number:02}", request=f"r{number}"))
        await asyncio.gather(*(follower.catch_up() for follower in followers))
    assert shown(one) == [f"a{number:02}" for number in range(40)]
    assert followers[0].head == followers[1].head
    for views in (one, two):
        await views.close()
    log.close()


async def test_time_never_runs_backwards(tmp_path: Path) -> None:
    """A writer's clock may be wrong; what was known at a position is never earlier than before it."""
    log, views = EventLog(tmp_path / "log.db"), await Views.open(tmp_path)
    moments = ["2026-09-01T12:00:05.000000Z", "2026-09-01T12:00:01.000000Z", "2026-09-01T12:00:09.000000Z"]
    for number, moment in enumerate(moments):
        fact = AliasClaimed(alias=str(number), target="x")
        log.append([Recorded(fact.stream, 1, moment, "local", Cause(f"r{number}", 1, 1), fact)])
    await Follower(log, views).catch_up()
    known = views.peek(lambda db: [saves.save_at(db, position).known_at for position in (1, 2, 3)])
    assert known == [moments[0], moments[0], moments[2]]
    await views.close()
    log.close()


async def test_it_stops_at_a_policy_that_this_release_does_not_know(tmp_path: Path) -> None:
    async with open_index(Settings(data_dir=tmp_path), now=Clock(), new_id=Ids()) as index:
        fact = PolicyAdopted(name="ranking", version="ranking-v99")
        version = len(index.log.load(["log"])["log"]) + 1
        cause = Cause("r", 1, 1)
        index.log.append([Recorded("log", version, "2026-09-01T12:00:00.000000Z", "local", cause, fact)])
        with pytest.raises(UnknownPolicy, match="ranking-v99"):
            await index.follower.wait_for(index.log.latest())
        assert index.follower.failure


async def test_it_stops_at_an_event_that_this_release_does_not_know(index: Index) -> None:

    with sqlite3.connect(index.settings.data_dir / "log.db") as db:
        db.execute("INSERT INTO stored_events VALUES ('run/x', 1, 'RunTeleported', ?)", (b"{}",))
    with pytest.raises(UnknownEventType, match="RunTeleported"):
        await index.follower.wait_for(index.log.latest())


async def test_who_waits_is_told_when_it_has_stopped(index: Index) -> None:
    index.follower.failure = UnknownEventType("RunTeleported")
    with pytest.raises(UnknownEventType):
        await index.follower.wait_for(index.log.latest() + 1)


async def test_a_host_that_has_stopped_takes_no_writes(index: Index) -> None:
    """It could not show them, nor know what they follow from."""
    before = index.log.latest()
    index.follower.failure = UnknownEventType("RunTeleported")
    with pytest.raises(Conflict) as caught:
        await index.ledger.handle([ingest()], LOCAL)
    assert caught.value.problems[0].code is ErrorCode.VIEWS_BEHIND
    assert index.log.latest() == before


async def test_trouble_that_passes_loses_nothing(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk fails the follower for a while; what was written meanwhile is shown when there is room again."""
    monkeypatch.setattr(module, "RETRY_S", 0.01)
    healthy, failures = index.views.apply, iter(range(3))

    async def full(*given: Any) -> Any:
        if next(failures, None) is not None:
            raise sqlite3.OperationalError("database or disk is full")
        return await healthy(*given)

    monkeypatch.setattr(index.views, "apply", full)
    await index.ledger.handle([ingest()], LOCAL)
    assert index.views.peek(lambda db: db.execute("SELECT count(*) FROM runs").fetchone()) == (1,)
    async with asyncio.timeout(5):
        while index.follower.trouble:
            await asyncio.sleep(0.005)


async def test_two_who_bring_the_views_level_at_once_apply_everything_once(tmp_path: Path) -> None:
    """Given one that has read what it will apply, when another comes and would be done before it."""
    log, views = EventLog(tmp_path / "log.db"), await Views.open(tmp_path)
    log.append(claims("a", request="r1"))
    has_read, go_on = threading.Event(), threading.Event()

    class Held(EventLog):
        def read(self, after: int, limit: int) -> list[Committed]:
            found = super().read(after, limit)
            if not has_read.is_set():
                has_read.set()
                go_on.wait(10)
            return found

    held = Held(tmp_path / "log.db")
    follower = Follower(held, views)
    first = asyncio.create_task(follower.catch_up())
    await asyncio.to_thread(has_read.wait, 10)
    second = asyncio.create_task(follower.catch_up())
    await asyncio.wait([second], timeout=0.2)
    go_on.set()
    assert await first == await second == views.peek(saves.head)
    assert shown(views) == ["a"]
    await views.close()
    held.close()
    log.close()
