"""What a runner asks of an index, in the words of its loop."""

from collections.abc import Iterator, Mapping
from typing import Protocol

import msgspec

from service.runner.harness import Beat, Measured, Task
from service.runner.spool import Result


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Who the runner is to the index: whose key it uses, and how the runner was approved. ``log_id`` is the log's."""

    log_id: str
    principal: str
    operator: str
    hardware: str
    public_key: str
    suspended: bool = False


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request that may be started.

    ``parties`` are who sent the claim in and who produced it: their own reruns don't count. ``hardware`` is the product
    that it was measured on, where that is known.
    """

    rerun: str
    run: str
    parties: frozenset[str]
    hardware: str | None


class Index(Protocol):
    """An index. Each call is retried until it is answered, but where it says otherwise.

    All raise a :class:`~domain.errors.KernelIndexError` for what the index refuses, and
    :class:`~service.runner.stopping.Stopped`.
    """

    def standing(self) -> Standing:
        """How the index knows the runner."""

    def open_requests(self, hardware: str) -> Iterator[Request]:
        """Requests for this product that nobody is at work on, oldest first; last those whose lease ran out."""

    def manifests(self, run: str) -> Mapping[str, msgspec.Raw] | None:
        """The manifests of a run and of all that it refers to; None where one of them is not registered."""

    def is_registered(self, digest: str) -> bool:
        """Whether a manifest of this digest is registered."""

    def start(self, rerun: str) -> float:
        """Start a request, or go on with it. Answers for how many seconds the runner has it."""

    def renew(self, rerun: str) -> float:
        """Keep a request for longer, as :meth:`start`. Tried once: raises :class:`Unreachable` where that fails."""

    def record(self, result: Result) -> str:
        """Record a result, once however often this is called. Answers its outcome."""

    def abandon(self, rerun: str, reason: str, *, patient: bool = True) -> None:
        """Give a request back. Tried once where not ``patient``: raises :class:`Unreachable` where that fails."""


class Measuring(Protocol):
    """What measures: a :class:`~service.runner.harness.Harness`."""

    def measure(self, task: Task, *, every_s: float, beat: Beat) -> Measured:
        """Measure, calling ``beat`` first after ``every_s`` seconds. Raises as the harness does."""


class Unreachable(Exception):
    """The index did not answer this time."""
