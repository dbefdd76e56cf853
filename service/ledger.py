"""The ledger: the one way to write. Load, decide, append, wait; then read.

Authorisation is part of deciding, so that no way in can forget it. A request under an idempotency key is answered once:
the same key and body replays that answer, another body is a conflict.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

import msgspec

from domain.commands import Command
from domain.errors import Conflict, ErrorCode, KernelIndexError, Problem, error_of
from domain.events import Cause, Recorded, timestamp
from domain.facts import Fact
from domain.identity import digest_of
from domain.outcomes import Outcome
from domain.principals import Principal
from domain.streams import EMPTY, Stream, World, fold
from service.event_log import EventLog
from service.event_store import AlreadyRecorded, Request
from service.follower import Follower

ATTEMPTS: Final = 10
MAX_KEY_LENGTH: Final = 128


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """Why one command of a batch was not carried out. ``family`` is the name of the error's class."""

    family: str
    problems: tuple[Problem, ...]

    @classmethod
    def of(cls, error: KernelIndexError) -> "Refusal":
        """The stored form of an error."""
        return cls(type(error).__name__, error.problems)

    def error(self) -> KernelIndexError:
        """The error again."""
        return error_of(self.family, self.problems)


class Idempotency(msgspec.Struct, frozen=True):
    """The name under which a request is answered once."""

    mutation: str
    key: str
    body: bytes


Result = Outcome | Refusal


class Answer(msgspec.Struct, frozen=True):
    """What became of each command, in order, and the position at which all of it can be seen."""

    results: tuple[Result, ...]
    position: int


_RESULTS: Final = msgspec.json.Decoder(tuple[Result, ...])


class Ledger:
    """Decides commands against the log and appends what follows from them, each batch as one save."""

    def __init__(
        self, log: EventLog, follower: Follower, *, now: Callable[[], datetime], new_id: Callable[[], str]
    ) -> None:
        self._log = log
        self._follower = follower
        self._now = now
        self._new_id = new_id

    async def preview(self, commands: Sequence[Command], principal: Principal) -> tuple[Result, ...]:
        """What would become of commands, without appending anything."""
        _, results, _ = await asyncio.to_thread(self._decide, commands, principal)
        return results

    async def answered(self, idempotency: Idempotency, principal: Principal) -> Answer | None:
        """The first answer to a request that was carried out before, None for a new one.

        For callers who do more than :meth:`handle`, which looks for itself. Raises :class:`Conflict` as that does.
        """
        self._require_following()
        if known := await asyncio.to_thread(self._replay, idempotency, principal):
            results, recorder_id = known
            return Answer(results, await self._follower.wait_for(recorder_id))
        return None

    async def handle(
        self, commands: Sequence[Command], principal: Principal, idempotency: Idempotency | None = None
    ) -> Answer:
        """Carry out commands as one save, each with its own result, and wait until the views show it.

        Raises :class:`Conflict` where the idempotency key was used for another body, or where others kept changing the
        same streams.
        """
        self._require_following()
        results, recorder_id = await asyncio.to_thread(self.record, commands, principal, idempotency)
        return Answer(results, await self._follower.wait_for(recorder_id))

    def _require_following(self) -> None:
        """What can't be shown must not be taken: the answer could never be given."""
        if self._follower.failure:
            raise Conflict.because(
                f"this host has stopped following the log: {self._follower.failure}",
                code=ErrorCode.VIEWS_BEHIND,
                remedy="write through a host of the log's own release",
            )

    def record(
        self, commands: Sequence[Command], principal: Principal, idempotency: Idempotency | None = None
    ) -> tuple[tuple[Result, ...], int]:
        """The blocking part of :meth:`handle`: the results, and the last recorder id of the save (0 for none)."""
        request_id = self._new_id()
        for _ in range(ATTEMPTS):
            if idempotency and (known := self._replay(idempotency, principal)):
                return known
            facts, results, versions = self._decide(commands, principal)
            events = self._recorded(facts, versions, principal, request_id)
            request = self._request(idempotency, principal, results, request_id)
            try:
                return results, self._log.append(events, request) if events or request else 0
            except AlreadyRecorded:
                # Either somebody was faster, or this very save went through and its acknowledgement was lost.
                if events and self._is_ours(events[0], request_id):
                    return results, self._log.latest()
        raise Conflict.because(
            "others kept changing the same records", code=ErrorCode.CONCURRENT_CHANGE, remedy="try again"
        )

    def _decide(
        self, commands: Sequence[Command], principal: Principal
    ) -> tuple[list[Fact], tuple[Result, ...], dict[str, int]]:
        loaded = self._load(commands, principal)
        world, facts, results = World(loaded), list[Fact](), list[Result]()
        for command in commands:
            try:
                decision = command.decide(world, principal)
            except KernelIndexError as error:
                results.append(Refusal.of(error))
            else:
                world.apply(decision.facts, principal.id)
                facts += decision.facts
                results.append(decision.outcome)
        return facts, tuple(results), {name: stream.version for name, stream in loaded.items()}

    def _load(self, commands: Sequence[Command], principal: Principal) -> dict[str, Stream]:
        """The streams that the commands ask to see, and those that these lead to."""
        loaded: dict[str, Stream] = {}
        # Runs without a source of their own belong to their principal, which must not be named like somebody's source.
        asked = {f"source/{principal.id}"}.union(*(command.reads() for command in commands))
        while asked:
            loaded |= dict.fromkeys(asked, EMPTY)
            loaded |= {name: fold(events) for name, events in self._log.load(asked).items()}
            world = World(loaded)
            asked = set[str]().union(*(command.reads_next(world) for command in commands)) - loaded.keys()
        return loaded

    def _recorded(
        self, facts: Sequence[Fact], versions: dict[str, int], principal: Principal, request_id: str
    ) -> list[Recorded]:
        recorded_at = timestamp(self._now())
        events = []
        for index, fact in enumerate(facts, 1):
            stream = fact.stream
            versions[stream] = version = versions.get(stream, 0) + 1
            cause = Cause(request_id, index, len(facts))
            events.append(Recorded(stream, version, recorded_at, principal.id, cause, fact))
        return events

    def _request(
        self, idempotency: Idempotency | None, principal: Principal, results: tuple[Result, ...], request_id: str
    ) -> Request | None:
        if idempotency is None or all(isinstance(result, Refusal) for result in results):
            return None
        return Request(
            principal=principal.id,
            mutation=idempotency.mutation,
            key=idempotency.key,
            body_digest=digest_of(idempotency.body),
            id=request_id,
            answer=msgspec.json.encode(results),
        )

    def _replay(self, idempotency: Idempotency, principal: Principal) -> tuple[tuple[Result, ...], int] | None:
        known = self._log.request(principal.id, idempotency.mutation, idempotency.key)
        if known is None:
            return None
        if known.body_digest != digest_of(idempotency.body):
            raise Conflict.because(
                "this idempotency key was used for another request",
                code=ErrorCode.IDEMPOTENCY_KEY_REUSED,
                path="idempotencyKey",
                remedy="use a new key for a new request; repeat the same body to get the first answer again",
            )
        return _RESULTS.decode(known.answer), self._log.latest()

    def _is_ours(self, event: Recorded, request_id: str) -> bool:
        history = self._log.load([event.originator_id]).get(event.originator_id, [])
        return any(one.cause.request == request_id for one in history)
