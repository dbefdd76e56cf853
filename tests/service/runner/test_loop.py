"""The loop of a runner: which requests it takes, what becomes of each, and what a kill or a bad day changes."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from domain.commands.rerun_results import statement
from domain.errors import Conflict, ErrorCode, Forbidden, InvalidInput, KernelIndexError
from domain.manifests import Manifest
from service.runner.harness import Measured, Task
from service.runner.loop import Runner
from service.runner.spool import Result, Spool, Taken
from service.runner.stopping import Stop, Stopped
from service.signatures import generate, public_bytes, verify
from tests import examples
from tests.service.runner.fakes import (
    HARDWARE,
    KEY,
    LOG,
    OPERATOR,
    FakeHarness,
    FakeIndex,
    Killed,
    Killer,
    SteppedSpool,
    failing,
    remeasured,
)


@pytest.fixture
def stop() -> Iterator[Stop]:
    with Stop() as flag:
        yield flag


@pytest.fixture
def index() -> FakeIndex:
    return FakeIndex()


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return SteppedSpool(tmp_path / "key")


@pytest.fixture
def harness(index: FakeIndex) -> FakeHarness:
    return FakeHarness(index)


Work = Callable[[], None]


@pytest.fixture
def work(index: FakeIndex, harness: FakeHarness, spool: Spool, stop: Stop) -> Work:
    """Run a new runner until one request is done with."""
    return lambda: Runner(index, harness, spool, KEY, stop).run(poll_s=0.01, once=True)


def results(index: FakeIndex) -> list[tuple[str, str]]:
    """What became of the requests, but for renewals."""
    return [entry for entry in index.log if entry[0] != "renewed"]


def test_a_request_is_started_measured_signed_and_recorded(index: FakeIndex, spool: Spool, work: Work) -> None:
    claim = index.ask_for("r1")
    work()
    assert results(index) == [("started", "r1"), ("recorded", "r1")]
    result = index.recorded["r1"]
    message = statement(log_id=LOG, rerun="r1", run=claim.digest, manifest_digest=result.digest)
    assert verify(public_bytes(KEY), message, base64.b64decode(result.signature))
    assert spool.entry() is None


def test_the_harness_gets_the_request_with_its_manifests(index: FakeIndex, harness: FakeHarness, work: Work) -> None:
    claim = index.ask_for("r1")
    work()
    given = msgspec.json.decode(msgspec.json.encode(harness.tasks[0]))
    assert (given["rerun"], given["run"], given["logId"]) == ("r1", claim.digest, LOG)
    assert given["manifests"]["run"] == msgspec.json.decode(claim.canonical)
    assert set(given["manifests"]) == {"run", "implementation", "workload", "operation", "protocol", "environment"}


def test_own_claims_other_hardware_and_what_is_unresolved_are_left_to_others(index: FakeIndex, work: Work) -> None:
    index.ask_for("own", party=OPERATOR)
    index.ask_for("elsewhere", hardware="NVIDIA H200")
    index.incomplete.add(index.ask_for("unresolved").digest)
    index.ask_for("fits")
    work()
    assert results(index) == [("started", "fits"), ("recorded", "fits")]


@pytest.mark.parametrize(
    ("reason", "logged"),
    [
        ("the harness ended with status 3", "the harness ended with status 3"),
        ("x" * 9000, "x" * 500),
        ("status 'pa\u202essed\x00'\n", "status 'pa?ssed?'?"),
    ],
)
def test_a_request_that_the_harness_fails_at_is_given_back_with_the_reason_and_not_tried_again(
    reason: str, logged: str, index: FakeIndex, spool: Spool, stop: Stop
) -> None:
    index.ask_for("r1")
    harness = FakeHarness(index, prints=failing(reason))
    runner = Runner(index, harness, spool, KEY, stop)
    runner.run(poll_s=0.01, once=True)
    index.ask_for("r2")
    runner.run(poll_s=0.01, once=True)
    assert [task.rerun for task in harness.tasks] == ["r1", "r2"]
    assert results(index) == [
        ("started", "r1"),
        (f"abandoned: {logged}", "r1"),
        ("started", "r2"),
        (f"abandoned: {logged}", "r2"),
    ]
    assert spool.entry() is None


def claim_itself(_task: Task, claim: Manifest) -> Measured:
    return Measured(claim)


def other_case(_task: Task, claim: Manifest) -> Measured:
    spec = remeasured(claim).spec | {"workloadDigest": "sha256:" + "7" * 64}
    return Measured(examples.manifest("BenchmarkRun", spec))


def other_environment(_task: Task, claim: Manifest) -> Measured:
    return Measured(remeasured(claim), examples.manifest("ExecutionEnvironment", here("24.10")))


def unknown_environment(_task: Task, claim: Manifest) -> Measured:
    spec = remeasured(claim).spec | {"environmentDigest": "sha256:" + "7" * 64}
    return Measured(examples.manifest("BenchmarkRun", spec))


def here(system: str) -> dict[str, object]:
    hardware = {"vendor": "nvidia", "product": HARDWARE, "architecture": "sm_100"}
    return {"hardware": hardware, "software": {"operatingSystem": system}}


@pytest.mark.parametrize(
    ("prints", "said"),
    [
        (claim_itself, "the claim itself"),
        (other_case, "another case: workloadDigest"),
        (other_environment, "names the environment"),
        (unknown_environment, "which nobody has registered"),
    ],
)
def test_what_the_index_could_make_nothing_of_is_not_sent(
    prints: Callable[[Task, Manifest], Measured], said: str, index: FakeIndex, harness: FakeHarness, work: Work
) -> None:
    index.ask_for("r1")
    harness.prints = prints
    work()
    assert not index.recorded
    assert said in index.log[-1][0]


def test_a_new_environment_goes_with_the_result_and_a_registered_one_need_not(
    index: FakeIndex, harness: FakeHarness, work: Work
) -> None:
    new = examples.manifest("ExecutionEnvironment", here("24.10"))

    def prints(task: Task, claim: Manifest) -> Measured:
        spec = remeasured(claim).spec | {"environmentDigest": new.digest}
        return Measured(examples.manifest("BenchmarkRun", spec), None if index.registered else new)

    harness.prints = prints
    index.ask_for("r1")
    work()
    index.registered.add(new.digest)
    index.ask_for("r2")
    work()
    assert index.recorded["r1"].environment == new.canonical.decode()
    assert index.recorded["r2"].environment is None


def test_the_lease_is_renewed_while_the_harness_works(index: FakeIndex, harness: FakeHarness, work: Work) -> None:
    index.ask_for("r1")
    harness.beats = 2
    work()
    assert index.log == [("started", "r1"), ("renewed", "r1"), ("renewed", "r1"), ("recorded", "r1")]


def test_a_lease_that_can_not_be_renewed_does_not_stop_the_harness(
    index: FakeIndex, harness: FakeHarness, work: Work
) -> None:
    index.ask_for("r1")
    index.reachable = False
    harness.beats = 3
    work()
    assert index.log == [("started", "r1"), ("recorded", "r1")]


def test_a_request_that_another_runner_has_taken_is_forgotten(
    index: FakeIndex, harness: FakeHarness, spool: Spool, work: Work
) -> None:
    index.ask_for("r1")

    def prints(task: Task, claim: Manifest) -> Measured:
        if task.rerun == "r1":
            index.holders["r1"] = "them"
            index.ask_for("r2")
        return Measured(remeasured(claim))

    harness.prints = prints
    work()
    assert results(index) == [("started", "r1"), ("started", "r2"), ("recorded", "r2")]
    assert spool.entry() is None


@pytest.mark.parametrize(
    "refusal",
    [
        InvalidInput.because("it has no future", path="input.manifest"),
        KernelIndexError.because("it has no future", code=ErrorCode.BODY_TOO_LARGE),
    ],
)
def test_a_result_that_the_index_refuses_is_given_back_with_its_reason(
    refusal: KernelIndexError, index: FakeIndex, spool: Spool, work: Work
) -> None:
    index.refuses = refusal
    index.ask_for("r1")
    work()
    assert index.log[-1] == ("abandoned: the index refused the result: it has no future", "r1")
    assert spool.entry() is None


def test_a_result_is_kept_where_the_runner_is_refused(index: FakeIndex, spool: Spool, work: Work) -> None:
    index.refuses = Forbidden.because("it is suspended", code=ErrorCode.RUNNER_SUSPENDED)
    index.ask_for("r1")
    with pytest.raises(Forbidden):
        work()
    assert isinstance(spool.entry(), Result)


def test_nothing_is_begun_under_another_key_operator_or_after_a_suspension(index: FakeIndex, work: Work) -> None:
    index.ask_for("r1")
    known = index.standing_
    other = base64.b64encode(public_bytes(generate())).decode()
    for change in ({"public_key": other}, {"operator": "somebody"}, {"suspended": True}):
        index.standing_ = msgspec.structs.replace(known, **change)
        with pytest.raises(Forbidden):
            work()
    assert index.log == []


def test_work_kept_for_another_log_is_not_brought_to_this_one(index: FakeIndex, spool: Spool, work: Work) -> None:
    kept = Taken(log_id="another", rerun="r1", run=index.ask_for("r1").digest)
    spool.put(kept)
    with pytest.raises(Conflict, match="holds work for the log another"):
        work()
    assert (spool.entry(), index.log) == (kept, [])


def test_stopped_while_measuring_it_gives_the_request_back(
    index: FakeIndex, harness: FakeHarness, spool: Spool, work: Work
) -> None:
    def prints(_task: Task, _claim: Manifest) -> Measured:
        raise Stopped

    index.ask_for("r1")
    harness.prints = prints
    work()
    assert index.log == [("started", "r1"), ("abandoned: the runner was stopped", "r1")]
    assert spool.entry() is None


def test_stopped_while_the_index_is_away_it_goes_on_in_its_next_life(
    index: FakeIndex, harness: FakeHarness, spool: Spool, work: Work
) -> None:
    def prints(_task: Task, _claim: Manifest) -> Measured:
        index.reachable = False
        raise Stopped

    index.ask_for("r1")
    harness.prints = prints
    work()
    index.reachable, harness.prints = True, None
    work()
    assert index.log == [("started", "r1"), ("recorded", "r1")]


def test_a_runner_that_is_told_to_stop_takes_no_other_request(index: FakeIndex, spool: Spool, stop: Stop) -> None:
    harness = FakeHarness(index, step=lambda _: stop.set())
    for rerun in ("r1", "r2"):
        index.ask_for(rerun)
    Runner(index, harness, spool, KEY, stop).run(poll_s=60)
    assert results(index) == [("started", "r1"), ("recorded", "r1")]


def life(index: FakeIndex, folder: Path, killer: Killer) -> None:
    """A life of a runner, which the killer may end."""
    index.step = killer
    with Stop() as stop:
        Runner(index, FakeHarness(index, step=killer), SteppedSpool(folder / "key", killer), KEY, stop).run(
            poll_s=0.01, once=True
        )


STEPS = 12


@pytest.mark.parametrize("at", range(1, STEPS + 1))
def test_killed_at_any_step_the_next_life_finishes_what_was_begun_once(at: int, tmp_path: Path) -> None:
    index, killer = FakeIndex(), Killer(at)
    index.ask_for("r1")
    with pytest.raises(Killed):
        life(index, tmp_path, killer)
    if killer.steps[-1] == "cleared":
        index.ask_for("r2")  # all was done; else the next life would wait for something to do
    life(index, tmp_path, Killer())
    assert results(index)[:2] == [("started", "r1"), ("recorded", "r1")]
    assert SteppedSpool(tmp_path / "key").entry() is None


def test_the_steps_at_which_it_is_killed_are_all_that_there_are(tmp_path: Path) -> None:
    index, killer = FakeIndex(), Killer()
    index.ask_for("r1")
    life(index, tmp_path, killer)
    assert len(killer.steps) == STEPS


@pytest.mark.parametrize("at", range(1, 10))
def test_killed_at_any_step_of_a_failure_the_request_is_not_kept_from_others(at: int, tmp_path: Path) -> None:
    index, killer = FakeIndex(), Killer(at)
    index.ask_for("r1")

    def one_life(killer: Killer) -> None:
        index.step = killer
        harness = FakeHarness(index, step=killer, prints=failing("no such kernel"))
        with Stop() as stop:
            Runner(index, harness, SteppedSpool(tmp_path / "key", killer), KEY, stop).run(poll_s=0.01, once=True)

    with pytest.raises(Killed):
        one_life(killer)
    one_life(Killer())
    assert index.log[-1] == ("abandoned: no such kernel", "r1")
    assert not index.holders
