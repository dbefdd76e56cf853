"""An index and a harness for the loop of a runner, and a killer that strikes between any two of its steps."""

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from domain.errors import Conflict, ErrorCode, KernelIndexError
from domain.manifests import Manifest
from service.runner.harness import Beat, HarnessFailed, Measured, Task
from service.runner.spool import Entry, Result, Spool
from service.runner.work import Request, Standing, Unreachable
from service.signatures import PrivateKey, generate, public_bytes
from tests import examples

LOG = "log-1"
OPERATOR = "kite"
HARDWARE = "NVIDIA B200 SXM"
KEY: PrivateKey = generate()
STANDING = Standing(
    log_id=LOG,
    principal=OPERATOR,
    operator=OPERATOR,
    hardware=HARDWARE,
    public_key=base64.b64encode(public_bytes(KEY)).decode(),
)
Step = Callable[[str], None]


def quiet(_step: str) -> None:
    """Nothing happens between the steps."""


class Killed(BaseException):
    """The runner is gone; nothing in it may handle this."""


@dataclass
class Killer:
    """Kills at the step of this number, from 1, once; ``steps`` lists those that were taken."""

    at: int = 0
    steps: list[str] = field(default_factory=list)

    def __call__(self, step: str) -> None:
        self.steps.append(step)
        if len(self.steps) == self.at:
            raise Killed(step)


def remeasured(claim: Manifest, ns: int = 8200) -> Manifest:
    """What an honest harness prints for the claim."""
    spec = claim.spec | {"observedAt": "2026-09-02T12:00:00Z", "timing": examples.run(ns).spec["timing"]}
    return examples.manifest("BenchmarkRun", spec, name="rerun")


@dataclass
class FakeIndex:
    """An index with requests. ``log`` is what became of them, each thing once, as its events would say."""

    step: Step = quiet
    standing_: Standing = STANDING
    requests: dict[str, Request] = field(default_factory=dict)
    claims: dict[str, Manifest] = field(default_factory=dict)
    holders: dict[str, str] = field(default_factory=dict)
    recorded: dict[str, Result] = field(default_factory=dict)
    log: list[tuple[str, str]] = field(default_factory=list)
    registered: set[str] = field(default_factory=set)
    incomplete: set[str] = field(default_factory=set)
    reachable: bool = True
    refuses: KernelIndexError | None = None

    def ask_for(self, rerun: str, *, party: str = "heron", hardware: str = HARDWARE) -> Manifest:
        """Request a rerun of a claim of its own. Answers the claim."""
        claim = examples.run(8000 + len(self.requests))
        self.claims[claim.digest] = claim
        self.requests[rerun] = Request(rerun=rerun, run=claim.digest, parties=frozenset({party}), hardware=hardware)
        return claim

    def standing(self) -> Standing:
        return self.standing_

    def open_requests(self, hardware: str) -> Iterator[Request]:
        # A coarse filter, as that of the slugs of an index: the runner has to look itself.
        for rerun, request in list(self.requests.items()):
            if rerun not in self.recorded and rerun not in self.holders:
                yield request

    def manifests(self, run: str) -> Mapping[str, msgspec.Raw] | None:
        if run in self.incomplete:
            return None
        names = ("implementation", "workload", "operation", "protocol", "environment")
        return {"run": msgspec.Raw(self.claims[run].canonical), **dict.fromkeys(names, msgspec.Raw(b"{}"))}

    def is_registered(self, digest: str) -> bool:
        return digest in self.registered

    def start(self, rerun: str) -> float:
        self.step("start")
        self._require_free(rerun)
        if rerun not in self.holders:
            self.log.append(("started", rerun))
        self.holders[rerun] = "us"
        self.step("started")
        return 60.0

    def renew(self, rerun: str) -> float:
        if not self.reachable:
            raise Unreachable("nobody there")
        self._require_free(rerun)
        self.log.append(("renewed", rerun))
        return 60.0

    def record(self, result: Result) -> str:
        self.step("record")
        if self.refuses:
            raise self.refuses
        known = self.recorded.get(result.rerun)
        if known is None or known.digest != result.digest:
            self._require_free(result.rerun)
            self.log.append(("recorded", result.rerun))
            self.recorded[result.rerun] = result
            self.holders.pop(result.rerun, None)
        self.step("recorded")
        return "CONFIRMED"

    def abandon(self, rerun: str, reason: str, *, patient: bool = True) -> None:
        self.step("abandon")
        if not self.reachable:
            assert not patient
            raise Unreachable("nobody there")
        self._require_free(rerun)
        if self.holders.pop(rerun, None):
            self.log.append((f"abandoned: {reason}", rerun))
        self.step("abandoned")

    def _require_free(self, rerun: str) -> None:
        if rerun in self.recorded or self.holders.get(rerun, "us") != "us":
            raise Conflict.because("another runner has it", code=ErrorCode.RERUN_TAKEN)


@dataclass
class FakeHarness:
    """Measures what the index claims, the slower the more often it has done so; ``prints`` may say otherwise."""

    index: FakeIndex
    step: Step = quiet
    beats: int = 0
    prints: Callable[[Task, Manifest], Measured] | None = None
    tasks: list[Task] = field(default_factory=list)

    def measure(self, task: Task, *, every_s: float, beat: Beat) -> Measured:
        self.step("measure")
        self.tasks.append(task)
        for _ in range(self.beats):
            beat()
        claim = self.index.claims[task.run]
        measured = self.prints(task, claim) if self.prints else Measured(remeasured(claim, 8200 + len(self.tasks)))
        self.step("measured")
        return measured


def failing(reason: str) -> Callable[[Task, Manifest], Measured]:
    """A harness that gives nothing."""

    def prints(_task: Task, _claim: Manifest) -> Measured:
        raise HarnessFailed(reason)

    return prints


class SteppedSpool(Spool):
    """A real spool, whose every change is a step."""

    def __init__(self, key: Path, step: Step = quiet) -> None:
        super().__init__(key)
        self._step = step

    def put(self, entry: Entry) -> None:
        self._step("put")
        super().put(entry)
        self._step("kept")

    def clear(self) -> None:
        self._step("clear")
        super().clear()
        self._step("cleared")
