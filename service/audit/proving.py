"""What an index proves of its log: signed checkpoints, and proofs under them that can be checked without it."""

import asyncio
from collections.abc import Sequence
from typing import Final, Protocol

from domain.audit.notes import Checkpoint, Note, VerifierKey
from domain.audit.proofs import TlogProof
from domain.errors import Conflict, ErrorCode, InvalidInput
from domain.events import Event, canonical_event, event_digest
from domain.facts import Erased
from projections import events, tree
from projections.views import Views
from service.audit.signer import RootAt, refused_as_shorter
from service.event_log import EventLog
from service.follower import Follower

REACH_S: Final = 5.0


class Checkpoints(Protocol):
    """Where checkpoints come from: the signer, or what passes on those of the signer elsewhere."""

    @property
    def verifier(self) -> VerifierKey:
        """The key to check them by."""

    def signed_at(self, size: int) -> Note | None:
        """The newest one, if it is known at once that it is of this size."""

    def newest(self, size: int, root_at: RootAt, published: str | None) -> Note:
        """The newest one for who knows ``size`` events; ``published`` is the longest in the log's database."""


class Proving:
    """The proofs of one index, under the signer's checkpoints."""

    def __init__(self, log: EventLog, views: Views, follower: Follower, checkpoints: Checkpoints) -> None:
        self._log = log
        self._views = views
        self._follower = follower
        self._checkpoints = checkpoints

    @property
    def verifier(self) -> VerifierKey:
        """The key that checkpoints are checked by."""
        return self._checkpoints.verifier

    async def checkpoint(self) -> Note:
        """The newest checkpoint; where this host signs, it covers all that the index shows when it is asked.

        Raises ``Conflict`` where the log is not what was signed.
        """
        head = self._follower.head
        note = self._checkpoints.signed_at(head.position) or await self._newest(head.position)
        promised = Checkpoint.of(note)
        if promised.size > head.position and await asyncio.to_thread(self._log.latest) == head.recorder_id:
            raise refused_as_shorter(promised, head.position)
        return note

    async def _newest(self, size: int) -> Note:
        """What the signer has to say of ``size`` events; the log's other hosts are let know."""
        key = str(self.verifier)
        published = await asyncio.to_thread(self._log.checkpoint, key)
        note = await self._views.read(
            lambda db: self._checkpoints.newest(size, lambda first: tree.root(db, first), published)
        )
        if str(note) != published:
            await asyncio.to_thread(self._log.publish, key, Checkpoint.of(note).size, str(note))
        return note

    async def tlog_proof(self, position: int) -> TlogProof:
        """The proof under the newest checkpoint that the event at a position is in the log. The event is with it."""
        (proof,) = await self.tlog_proofs([position])
        return proof

    async def tlog_proofs(self, positions: Sequence[int]) -> list[TlogProof]:
        """The proofs of several events under one checkpoint, in order."""
        for position in positions:
            require_position(position, self._follower.head.position)
        note = await self.checkpoint()
        size = Checkpoint.of(note).size
        _require_covered(max(positions), size)
        # Another process may have signed what these views are about to show.
        await self._follower.reach(size, REACH_S)
        paths = await self._views.read(lambda db: tree.inclusions(db, positions, size))
        found = await self.events(positions)
        return [
            TlogProof(event.position - 1, tuple(hashes), note, proven_text(event))
            for event, hashes in zip(found, paths, strict=True)
        ]

    async def consistency(self, earlier: int, later: int) -> list[bytes]:
        """The proof that the log up to one position begins as it does up to another."""
        return await self._views.read(lambda db: tree.consistency(db, earlier, later))

    async def events(self, positions: Sequence[int]) -> list[Event]:
        """The events at these positions, from the log."""
        ids = await self._views.read(lambda db: events.recorder_ids(db, positions))
        return await self.load([(position, ids[position]) for position in positions])

    async def load(self, rows: Sequence[tuple[int, int]]) -> list[Event]:
        """The events of these positions and recorder ids, from the log in one read."""
        found = await asyncio.to_thread(self._log.pick, [recorder_id for _, recorder_id in rows])
        return [found[recorder_id].at(position) for position, recorder_id in rows]


def proven_text(event: Event) -> bytes:
    """What a proof carries of an event: its canonical bytes, or where it was erased the text of its digest."""
    return event_digest(event).encode() if isinstance(event.fact, Erased) else canonical_event(event)


def _require_covered(position: int, size: int) -> None:
    if position > size:
        raise Conflict.because(
            f"the newest checkpoint covers {size} events, not yet position {position}",
            code=ErrorCode.VIEWS_BEHIND,
            path="position",
            remedy="ask again later, or the host that signs",
        )


def require_position(position: int, head: int, path: str = "position") -> None:
    """Raise :class:`InvalidInput` unless the log has an event there."""
    if not 1 <= position <= head:
        raise InvalidInput.because(
            f"the log has no position {position}",
            code=ErrorCode.INVALID_ARGUMENT,
            path=path,
            remedy=f"the first position is 1, the last one is {head}",
        )
