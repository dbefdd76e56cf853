"""What each subscription tells, from the past and live alike, and how it goes on inside a save."""

import pytest

from domain.bundles import Bundle, bundle_of
from domain.commands import (
    AbandonRerun,
    ApproveRunner,
    Command,
    Ingest,
    OpenDispute,
    RequestRerun,
    ResolveDispute,
    RetractRun,
    StartRerun,
)
from domain.facts import DisputeOutcome
from domain.principals import LOCAL
from service.app import Index
from service.ledger import Refusal
from tests.examples import (
    ENVIRONMENT,
    FINCH,
    OPERATION,
    PROJECT,
    PROTOCOL,
    PUBLIC_KEY,
    START,
    WORKLOAD,
    bundle,
    implementation,
    manifest,
    run,
)
from tests.service.api.asking import ingest_all, run_of
from tests.service.subscriptions.listening import NEW_RUNS, hub_of, listening

RANKINGS = """subscription ($after: LogCursor, $key: Digest) { rankingChanges(after: $after, comparisonKey: $key) {
  __typename ... on LogMessage { cursor position }
  ... on RankingChange { comparisonKey leaderChanged previousLeader { digest } ranking { size leader { digest } } } } }"""
EVIDENCE = """subscription ($after: LogCursor, $run: ID) { evidenceChanges(after: $after, run: $run) {
  __typename ... on LogMessage { cursor position }
  ... on EvidenceChange { run { digest evidence { contested } } before { contested } after { contested level } } } }"""
RERUNS = """subscription ($after: LogCursor, $filter: RerunFilter) { rerunRequests(after: $after, filter: $filter) {
  __typename ... on LogMessage { cursor position } ... on RerunChange { rerun { rerunId state } } } }"""


async def done(index: Index, *commands: Command) -> None:
    """Commands as one save, none of them refused."""
    answer = await index.ledger.handle(commands, FINCH if isinstance(commands[0], StartRerun | AbandonRerun) else LOCAL)
    assert not [one for one in answer.results if isinstance(one, Refusal)], answer.results


def disputed(value: int, name: str = "d-1") -> OpenDispute:
    return OpenDispute(dispute=name, run=run_of(value).digest, blocking=False, reason="too good", issue=None)


async def test_a_ranking_is_told_of_when_its_ranks_change(index: Index) -> None:
    await ingest_all(index, bundle(300), bundle(200))
    async with listening(hub_of(index), index, RANKINGS, after="LOG_START") as listener:
        first, second = await listener.until("CaughtUp")
        await ingest_all(index, bundle(250))
        (third,) = await listener.take(1)
        await done(index, RetractRun(run=run_of(200).digest, reason="wrong stream"))
        (fourth,) = await listener.take(1)
    assert [one["ranking"]["size"] for one in (first, second, third, fourth)] == [1, 2, 3, 2]
    assert [one["leaderChanged"] for one in (first, second, third, fourth)] == [True, True, False, True]
    assert first["previousLeader"] is None
    assert second["previousLeader"]["digest"] == run_of(300).digest
    assert fourth["ranking"]["leader"]["digest"] == run_of(250).digest


async def test_a_ranking_of_which_nothing_but_words_changed_is_not_told_of(index: Index) -> None:
    await ingest_all(index, bundle(300))
    async with listening(hub_of(index), index, RANKINGS) as listener:
        await listener.next()
        await done(index, disputed(300))
        await ingest_all(index, bundle(100))
        (only,) = await listener.take(1)
    assert only["ranking"]["size"] == 2


async def test_a_group_that_is_empty_again_has_no_ranking(index: Index) -> None:
    await ingest_all(index, bundle(300))
    await done(index, RetractRun(run=run_of(300).digest, reason="wrong stream"))
    async with listening(hub_of(index), index, RANKINGS, after="LOG_START") as listener:
        _, last = await listener.until("CaughtUp")
    assert last["ranking"] is None
    assert last["previousLeader"]["digest"] == run_of(300).digest


def under_version(version: str) -> Bundle:
    """A run under a protocol of this version of the harness, which makes a group of its own."""
    spec = {**PROTOCOL.spec, "harness": {"name": "tern-eval", "version": version}}
    protocol = manifest("BenchmarkProtocol", spec)
    measured = run(8120, protocolDigest=protocol.digest)
    return bundle_of(PROJECT, OPERATION, WORKLOAD, implementation(), protocol, ENVIRONMENT, measured)


@pytest.mark.parametrize("stop", [1, 2, 3, 4])
async def test_groups_that_change_in_one_save_come_one_by_one(index: Index, stop: int) -> None:
    await done(index, *(Ingest(bundle=under_version(f"0.{number}")) for number in range(4)))
    hub = hub_of(index)
    async with listening(hub, index, RANKINGS, after="LOG_START") as listener:
        first = await listener.take(stop)
    async with listening(hub, index, RANKINGS, after=first[-1]["cursor"]) as listener:
        told = first + await listener.until("CaughtUp")
    keys = [one["comparisonKey"] for one in told]
    assert len(keys) == 4
    assert keys == sorted(set(keys))
    assert len({one["position"] for one in told}) == 1


async def test_only_the_group_that_was_asked_for_is_told_of(index: Index) -> None:
    await ingest_all(index, bundle(300))
    key = f"sha256:{'0' * 64}"
    async with listening(hub_of(index), index, RANKINGS, after="LOG_START", key=key) as listener:
        assert await listener.until("CaughtUp") == []


async def test_evidence_is_told_of_when_it_becomes_contested_and_when_it_is_not_any_more(index: Index) -> None:
    await ingest_all(index, bundle(300), bundle(200))
    async with listening(hub_of(index), index, EVIDENCE, after="LOG_START") as listener:
        assert await listener.until("CaughtUp") == []
        await done(index, disputed(300))
        (opened,) = await listener.take(1)
        claim = run_of(300).digest
        await done(
            index, ResolveDispute(run=claim, dispute="d-1", outcome=DisputeOutcome.DISMISSED, reason="it was throttled")
        )
        (closed,) = await listener.take(1)
    assert (opened["before"]["contested"], opened["after"]["contested"]) == (False, True)
    assert (closed["before"]["contested"], closed["after"]["contested"]) == (True, False)
    assert opened["run"] == {"digest": claim, "evidence": {"contested": True}}
    assert opened["after"]["level"] == "REPORTED"


@pytest.mark.parametrize("stop", [1, 2, 3, 4])
async def test_runs_whose_evidence_changes_in_one_save_come_one_by_one(index: Index, stop: int) -> None:
    values = (400, 300, 200, 100)
    await ingest_all(index, *map(bundle, values))
    await done(index, *(disputed(value, f"d-{value}") for value in values))
    hub = hub_of(index)
    async with listening(hub, index, EVIDENCE, after="LOG_START") as listener:
        first = await listener.take(stop)
    async with listening(hub, index, EVIDENCE, after=first[-1]["cursor"]) as listener:
        rest = await listener.until("CaughtUp")
    told = [one["run"]["digest"] for one in first + rest]
    assert told == sorted(run_of(value).digest for value in values)
    assert len({one["position"] for one in first + rest}) == 1


async def test_what_comes_and_goes_within_a_save_was_never_shown(index: Index) -> None:
    await ingest_all(index, bundle(300))
    claim = run_of(300).digest
    await done(
        index,
        disputed(300),
        ResolveDispute(run=claim, dispute="d-1", outcome=DisputeOutcome.DISMISSED, reason="it was throttled"),
    )
    async with listening(hub_of(index), index, EVIDENCE, after="LOG_START", run=claim[7:23]) as listener:
        assert await listener.until("CaughtUp") == []


async def test_a_rerun_is_told_of_at_each_step(index: Index) -> None:
    await ingest_all(index, bundle(300))
    runner = ApproveRunner(runner="r-1", operator="finch", host="h", hardware="NVIDIA B200", public_key=PUBLIC_KEY)
    await done(index, runner)
    async with (
        listening(hub_of(index), index, RERUNS) as every,
        listening(hub_of(index), index, RERUNS, filter={"state": "OPEN", "hardware": "NVIDIA B200"}) as open_ones,
    ):
        await every.next()
        await open_ones.next()
        await done(index, RequestRerun(rerun="rerun-1", run=run_of(300).digest, note="please"))
        await done(index, StartRerun(rerun="rerun-1", runner="r-1", now=START, lease_s=3600))
        await done(index, AbandonRerun(rerun="rerun-1", runner="r-1", reason="the machine is needed"))
        told = await every.take(3)
        waiting = await open_ones.take(2)
    assert [one["rerun"]["state"] for one in told] == ["OPEN", "STARTED", "OPEN"]
    assert [one["position"] for one in waiting] == [told[0]["position"], told[2]["position"]]


async def test_a_place_inside_a_save_is_taken_by_every_subscription(index: Index) -> None:
    """A cursor of `newRuns` is one of the log: other subscriptions take it too, and tell the whole of its save."""
    await done(index, Ingest(bundle=bundle(300)), Ingest(bundle=bundle(200)))
    hub = hub_of(index)
    async with listening(hub, index, NEW_RUNS, after="LOG_START") as listener:
        first, _ = await listener.until("CaughtUp")
    async with listening(hub, index, RANKINGS, after=first["cursor"]) as listener:
        (change,) = await listener.until("CaughtUp")
    assert change["ranking"]["size"] == 2


async def test_events_are_told_as_the_log_has_them(index: Index) -> None:
    query = """subscription ($after: LogCursor, $filter: EventFilter) { events(after: $after, filter: $filter) {
      __typename ... on LogMessage { cursor position } ... on EventRecorded { event { position type stream } } } }"""
    await ingest_all(index, bundle(300))
    hub = hub_of(index)
    async with (
        listening(hub, index, query, after="LOG_START") as every,
        listening(hub, index, query, after="LOG_START", filter={"types": ["RunIngested"]}) as some,
    ):
        told, runs = await every.until("CaughtUp"), await some.until("CaughtUp")
        await ingest_all(index, bundle(200))
        later, later_runs = await every.take(1), await some.take(1)
    logged = [one.at(place) for place, one in enumerate(index.log.read(0, 1000), 1)]
    assert [one["event"]["type"] for one in told + later] == [one.type for one in logged]
    assert [one["position"] for one in told + later] == [one.position for one in logged]
    assert [one["event"]["stream"] for one in runs + later_runs] == [
        one.stream for one in logged if one.type == "RunIngested"
    ]
