"""A runner at a real index over HTTP, killed before and after each of the things that it does there."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from domain.commands import ApproveRunner, RequestRerun
from domain.facts import Fact, RerunAbandoned, RerunRecorded, RerunRequested, RerunStarted
from domain.principals import LOCAL, Principal, Scope
from service.app import open_index
from service.event_log import EventLog
from service.keys import KeyStore
from service.keys.database import KeyDatabase
from service.runner import key_file
from service.runner.client import GraphQLIndex
from service.runner.harness import Beat, HarnessFailed, Measured, Task
from service.runner.loop import Runner
from service.runner.spool import Result
from service.runner.stopping import Stop
from service.settings import Settings
from service.web import create_app
from tests import examples
from tests.service.http.serving import serving
from tests.service.runner.fakes import KEY, OPERATOR, Killed, Killer, Step, SteppedSpool, quiet, remeasured

CLAIM = examples.run()
PRODUCT = examples.ENVIRONMENT.spec["hardware"]["product"]
SUBMITTER = Principal(id="heron", scopes=frozenset({Scope.INGEST, Scope.ATTEST}))
STEPS = 12


class Stepped(GraphQLIndex):
    """The index, whose every change is a step before it is asked for and one when it is answered."""

    def __init__(self, *given: Any, step: Step, **named: Any) -> None:
        super().__init__(*given, **named)
        self.step = step

    def start(self, rerun: str) -> float:
        self.step("start")
        lease_s = super().start(rerun)
        self.step("started")
        return lease_s

    def record(self, result: Result) -> str:
        self.step("record")
        outcome = super().record(result)
        self.step("recorded")
        return outcome

    def abandon(self, rerun: str, reason: str, *, patient: bool = True) -> None:
        self.step("abandon")
        super().abandon(rerun, reason, patient=patient)
        self.step("abandoned")


class Harness:
    """Measures the claim, each time a little slower, or fails; renews the lease while it works."""

    def __init__(self, step: Step, *, fails: bool) -> None:
        self._step = step
        self._fails = fails

    def measure(self, task: Task, *, every_s: float, beat: Beat) -> Measured:
        self._step("measure")
        assert {name: kind_of(text) for name, text in task.manifests.items()} == KINDS
        beat()
        if self._fails:
            raise HarnessFailed("no such kernel")
        self._step("measured")
        return Measured(remeasured(CLAIM, 8200 + datetime.now(UTC).microsecond % 100))


KINDS = {
    "run": "BenchmarkRun",
    "implementation": "ImplementationRevision",
    "workload": "WorkloadCase",
    "operation": "OperationSpec",
    "protocol": "BenchmarkProtocol",
    "environment": "ExecutionEnvironment",
}


def kind_of(manifest: msgspec.Raw) -> str:
    """The kind that a manifest states."""
    return str(msgspec.json.decode(manifest, type=Mapping[str, Any])["kind"])


class Site:
    """A served index with a request, and the lives of a runner there."""

    def __init__(self, folder: Path, url: str, api_key: str) -> None:
        self.folder = folder
        self.url = url
        self.api_key = api_key

    def life(self, step: Step = quiet, *, fails: bool = False) -> None:
        """One life of the runner, until one request is done with or it is killed."""
        with Stop() as stop, Stepped(self.url, self.api_key, runner="kite-1", stop=stop, step=step) as index:
            spool = SteppedSpool(self.folder / "key", step)
            Runner(index, Harness(step, fails=fails), spool, KEY, stop).run(poll_s=0.01, once=True)

    def facts(self, rerun: str) -> list[Fact]:
        """What the log says of a request."""
        log = EventLog(self.folder / "log.db")
        try:
            return [event.fact for event in log.load([f"rerun/{rerun}"])[f"rerun/{rerun}"]]
        finally:
            log.close()


@pytest.fixture
async def seeded(tmp_path: Path) -> str:
    """An index in the folder with an approved runner, a claim and a request. Gives the API key of the operator."""
    settings = Settings(data_dir=tmp_path)
    async with open_index(settings, follow=False) as index:
        index.ledger.record([examples.ingest(), RequestRerun(rerun="r1", run=CLAIM.digest)], SUBMITTER)
        public = key_file.public_text(KEY)
        approval = ApproveRunner(runner="kite-1", operator=OPERATOR, host="h", hardware=PRODUCT, public_key=public)
        index.ledger.record([approval], LOCAL)
    database = KeyDatabase(tmp_path)
    try:
        store = KeyStore(database, now=lambda: datetime.now(UTC))
        return store.create(principal=OPERATOR, name="kite-1", scopes={Scope.RERUN})[1]
    finally:
        database.close()


@pytest.fixture
def site(seeded: str, tmp_path: Path) -> Iterator[Site]:
    with serving(create_app(Settings(data_dir=tmp_path)), lifespan=True) as url:
        yield Site(tmp_path, url, seeded)


@pytest.mark.parametrize("at", range(1, STEPS))
def test_killed_at_any_step_it_is_recorded_once(at: int, site: Site) -> None:
    killer = Killer(at)
    with pytest.raises(Killed):
        site.life(killer)
    site.life()
    kinds = [type(fact) for fact in site.facts("r1")]
    assert kinds[0] is RerunRequested
    assert set(kinds[1:-1]) == {RerunStarted}
    assert kinds[-1] is RerunRecorded
    assert SteppedSpool(site.folder / "key").entry() is None


def test_the_steps_at_which_it_is_killed_are_all_but_the_last(site: Site) -> None:
    killer = Killer()
    site.life(killer)
    assert len(killer.steps) == STEPS
    assert killer.steps[-1] == "cleared"


def test_what_the_harness_fails_at_is_open_again_with_the_reason(site: Site) -> None:
    site.life(fails=True)
    last = site.facts("r1")[-1]
    assert isinstance(last, RerunAbandoned)
    assert (last.runner, last.reason) == ("kite-1", "no such kernel")
    site.life()
    assert isinstance(site.facts("r1")[-1], RerunRecorded)


def test_what_is_registered_is_told_from_what_is_not(site: Site) -> None:
    with Stop() as stop, GraphQLIndex(site.url, None, runner="kite-1", stop=stop) as index:
        assert index.is_registered(examples.ENVIRONMENT.digest)
        assert not index.is_registered("sha256:" + "7" * 64)
        assert index.manifests("sha256:" + "7" * 64) is None
