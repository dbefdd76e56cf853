"""The ledger: one way to write, each request answered once, refusals that cost their neighbours nothing."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from domain.commands import Ingest, RegisterSource
from domain.errors import Conflict, ErrorCode
from domain.events import Recorded
from domain.outcomes import Ingested
from domain.principals import LOCAL, Principal, Scope
from service.app import Index
from service.event_log import EventLog
from service.event_store import AlreadyRecorded, Request
from service.ledger import Idempotency, Ledger, Refusal
from tests.examples import Clock, Ids, bundle, ingest, run

TERN: dict[str, Any] = {"sourceNative": {"source": "tern-board"}}

INGEST = frozenset({Scope.INGEST})


def events_of(index: Index) -> list[Recorded]:
    """Everything in the log but its opening."""
    return [one.recorded for one in index.log.read(0, 10_000) if one.recorded.originator_id != "log"]


async def test_a_command_is_seen_as_soon_as_it_is_answered(index: Index) -> None:
    answer = await index.ledger.handle([ingest()], LOCAL)
    assert answer.position == index.follower.head.position
    shown = index.views.peek(lambda db: db.execute("SELECT digest FROM runs").fetchall())
    assert shown == [(run().digest,)]


async def test_a_batch_is_one_save_and_says_so_in_each_event(index: Index) -> None:
    await index.ledger.handle([ingest(100, by="heron"), ingest(200, by="stork")], LOCAL)
    causes = [one.cause for one in events_of(index)]
    assert {cause.request for cause in causes} == {"id-3"}
    assert [cause.index for cause in causes] == list(range(1, len(causes) + 1))
    assert {cause.of for cause in causes} == {len(causes)}


async def test_recording_the_same_again_appends_nothing(index: Index) -> None:
    await index.ledger.handle([ingest()], LOCAL)
    before = events_of(index)
    answer = await index.ledger.handle([ingest()], LOCAL)
    assert isinstance(answer.results[0], Ingested)
    assert not answer.results[0].created
    assert len(events_of(index)) == len(before)


async def test_the_same_record_twice_in_one_batch_is_one_record(index: Index) -> None:
    answer = await index.ledger.handle([ingest(), ingest()], LOCAL)
    assert [result.created for result in answer.results if isinstance(result, Ingested)] == [True, False]
    assert [one.originator_id for one in events_of(index)].count(f"run/{run().digest}") == 1


async def test_a_refused_command_leaves_nothing_and_costs_its_neighbours_nothing(index: Index) -> None:
    stranger = Principal("stranger", scopes=INGEST)
    answer = await index.ledger.handle([ingest(1, by="a", **TERN), ingest(2, by="b")], stranger)
    refused, accepted = answer.results
    assert isinstance(refused, Refusal)
    assert refused.problems[0].code is ErrorCode.SOURCE_NOT_YOURS
    assert isinstance(accepted, Ingested)
    assert f"run/{run(1, by='a', **TERN).digest}" not in {one.originator_id for one in events_of(index)}
    assert f"run/{run(2, by='b').digest}" in {one.originator_id for one in events_of(index)}


class TestIdempotency:
    async def test_a_retry_gets_the_first_answer(self, index: Index) -> None:
        first = await index.ledger.handle([ingest()], LOCAL, Idempotency("ingestRun", "k", b"body"))
        again = await index.ledger.handle([ingest()], LOCAL, Idempotency("ingestRun", "k", b"body"))
        assert again == first

    async def test_the_key_with_another_body_is_a_conflict_and_writes_nothing(self, index: Index) -> None:
        await index.ledger.handle([ingest(8120)], LOCAL, Idempotency("ingestRun", "k", b"8120"))
        before = events_of(index)
        with pytest.raises(Conflict) as caught:
            await index.ledger.handle([ingest(8121)], LOCAL, Idempotency("ingestRun", "k", b"8121"))
        assert caught.value.problems[0].code is ErrorCode.IDEMPOTENCY_KEY_REUSED
        assert events_of(index) == before

    async def test_keys_of_different_principals_and_mutations_are_different(self, index: Index) -> None:
        other = Principal("other", scopes=INGEST, sources=None)
        await index.ledger.handle([ingest(1, by="a")], LOCAL, Idempotency("ingestRun", "k", b"1"))
        await index.ledger.handle([ingest(2, by="b")], other, Idempotency("ingestRun", "k", b"2"))
        await index.ledger.handle([ingest(3, by="c")], LOCAL, Idempotency("ingestRuns", "k", b"3"))
        assert index.views.peek(lambda db: db.execute("SELECT count(*) FROM runs").fetchone()) == (3,)

    async def test_a_refusal_does_not_use_the_key_up(self, index: Index) -> None:
        """Who mends the request may send it under the same key: nothing was recorded under it."""
        stranger = Principal("stranger", scopes=INGEST)
        await index.ledger.handle([ingest(**TERN)], stranger, Idempotency("ingestRun", "k", b"wrong"))
        answer = await index.ledger.handle([ingest()], stranger, Idempotency("ingestRun", "k", b"right"))
        assert isinstance(answer.results[0], Ingested)

    async def test_a_partly_refused_batch_is_replayed_with_its_refusals(self, index: Index) -> None:
        stranger = Principal("stranger", scopes=INGEST)
        batch: list[Ingest] = [ingest(1, by="a", **TERN), ingest(2, by="b")]
        first = await index.ledger.handle(batch, stranger, Idempotency("ingestRuns", "k", b"x"))
        again = await index.ledger.handle(batch, stranger, Idempotency("ingestRuns", "k", b"x"))
        assert again.results == first.results

    async def test_retries_that_race_are_answered_alike_and_recorded_once(self, index: Index) -> None:
        key = Idempotency("ingestRun", "k", b"body")
        answers = await asyncio.gather(*(index.ledger.handle([ingest()], LOCAL, key) for _ in range(8)))
        assert len({answer.results for answer in answers}) == 1
        assert [one.originator_id for one in events_of(index)].count(f"run/{run().digest}") == 1


async def test_writers_that_meet_all_succeed(index: Index) -> None:
    """They register the same manifests at the same moment; who comes second decides again."""
    commands = [ingest(100 + number, by=f"kernel-{number}") for number in range(12)]
    answers = await asyncio.gather(*(index.ledger.handle([command], LOCAL) for command in commands))
    assert all(isinstance(answer.results[0], Ingested) for answer in answers)
    streams = [one.originator_id for one in events_of(index)]
    assert len(streams) == len(set(streams))


class ForgetfulLog(EventLog):
    """A log whose first acknowledgement is lost after the save has gone through."""

    lost = False

    def append(self, events: Sequence[Recorded], request: Request | None = None) -> int:
        last = super().append(events, request)
        if events and events[0].originator_id != "log" and not self.lost:
            self.lost = True
            raise AlreadyRecorded
        return last


async def test_a_save_whose_acknowledgement_was_lost_is_known_for_ones_own(index: Index, tmp_path: Path) -> None:
    log = ForgetfulLog(tmp_path / "log.db")
    ledger = Ledger(log, index.follower, now=Clock(), new_id=Ids())
    answer = await ledger.handle([ingest()], LOCAL)
    log.close()
    assert isinstance(answer.results[0], Ingested)
    assert answer.results[0].created


class ContendedLog(EventLog):
    """A log in which others are always faster."""

    def append(self, events: Sequence[Recorded], request: Request | None = None) -> int:
        raise AlreadyRecorded


async def test_whoever_never_wins_is_told_to_try_again(index: Index, tmp_path: Path) -> None:
    log = ContendedLog(tmp_path / "log.db")
    ledger = Ledger(log, index.follower, now=Clock(), new_id=Ids())
    with pytest.raises(Conflict) as caught:
        await ledger.handle([RegisterSource(slug="tern", name="Tern", kind="leaderboard")], LOCAL)
    log.close()
    assert caught.value.problems[0].code is ErrorCode.CONCURRENT_CHANGE


async def test_a_preview_decides_and_appends_nothing(index: Index) -> None:
    before = events_of(index)
    [result] = await index.ledger.preview([Ingest(bundle=bundle())], LOCAL)
    assert isinstance(result, Ingested)
    assert result.created
    assert events_of(index) == before
