"""What one GraphQL operation has at hand: its snapshots, the moment of reading, who asks, and the way to write."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from domain.errors import ErrorCode, InvalidInput
from domain.events import Event, timestamp
from domain.principals import Principal
from projections import saves
from projections.saves import Save
from service.api.recall import Recall
from service.api.snapshot import Snapshot
from service.api.standings import Standings
from service.app import Index
from service.auth import Caller


class EventsRead(Protocol):
    """What reads events of the log."""

    async def load(self, rows: Sequence[tuple[int, int]]) -> list[Event]:
        """The events of these positions and recorder ids."""

    async def events(self, positions: Sequence[int]) -> list[Event]:
        """The events at these positions."""


class Context:
    """Made for each operation. ``snapshot`` is taken when the operation starts, and again after it has written.

    What a query answers follows from its text, its snapshot and the UTC day. Whoever looks at more, at the time, at
    who asks or at the index itself, makes the answer ``momentary``: it is given once.
    """

    __slots__ = (
        "_caller", "_earlier", "_index", "_recall", "_standings",
        "given_up", "last_event_id", "log_id", "momentary", "read_at", "snapshot", "styled",
    )  # fmt: skip

    def __init__(
        self,
        index: Index,
        standings: Standings,
        recall: Recall,
        *,
        log_id: str,
        read_at: datetime,
        caller: Caller,
    ) -> None:
        self._index = index
        self._standings = standings
        self._recall = recall
        self._caller = caller
        self.log_id = log_id
        self.read_at = read_at
        """When the operation began, for what is told of each answer anew."""
        self.momentary = False
        self.given_up = False
        self.last_event_id: str | None = None
        """The cursor of the last message that a subscriber got, in place of the ``after`` with which it once began."""
        self.styled = 0
        """How many citations were asked for in a style: each takes tens of milliseconds."""
        self._earlier: dict[tuple[int, bool], Snapshot] = {}
        self.refresh()

    @property
    def index(self) -> Index:
        """The index, with all that changes from one moment to the next."""
        self.momentary = True
        return self._index

    @property
    def accessed_at(self) -> datetime:
        """When the operation began."""
        self.momentary = True
        return self.read_at

    @property
    def caller(self) -> Caller:
        """Who asks, and from where."""
        self.momentary = True
        return self._caller

    @property
    def principal(self) -> Principal | None:
        """Who writes; None without a key."""
        return self.caller.principal

    @property
    def is_known(self) -> bool:
        """Whether somebody is known to ask, whoever it is."""
        return self._caller.principal is not None

    @property
    def today(self) -> str:
        """The UTC day on which the operation began."""
        return timestamp(self.read_at)[: len("2026-08-01")]

    @property
    def events(self) -> EventsRead:
        """Reads events by their positions: what is at one stays there."""
        return self._index.proving

    @property
    def is_public(self) -> bool:
        """Whether others can follow the permalinks of this index."""
        return self._index.settings.is_public

    def refresh(self) -> None:
        """Take a snapshot of what the views show now."""
        self.snapshot = self._snapshot(self._index.follower.head, pinned=False)

    def start_over(self) -> None:
        """The operation is executed again, as if for the first time: of the same snapshot."""
        self.styled = 0
        self._recall = Recall(0)
        self.end()

    def end(self) -> None:
        """Let go of all that was read.

        Documents and the snapshot that holds them refer to each other: only a search for garbage would free them.
        """
        self.snapshot.forget()
        self._earlier.clear()

    def give_up(self) -> None:
        """Nobody waits for the operation any more: what it still reads may end."""
        self.given_up = True

    async def snapshot_at(self, position: int) -> Snapshot:
        """The snapshot in which a paging began; one per operation, however many pages ask for it."""
        return self._kept(self._index.views.peek(lambda db: saves.save_at(db, position)), pinned=False)

    def pinned_at(self, position: int, path: str) -> Snapshot:
        """The snapshot as of a position that the reader names at ``path``. Raises ``POSITION_IN_FUTURE``."""
        if position > (head := self.snapshot.position):
            raise InvalidInput.because(
                f"the log has not reached position {position}: this host is at {head}",
                code=ErrorCode.POSITION_IN_FUTURE,
                path=path,
                remedy="take one from a stamp; X-KernelIndex-Min-Position waits for what another host has shown",
            )
        return self._kept(self._index.views.peek(lambda db: saves.save_at(db, position)), pinned=True)

    def pinned_known_at(self, instant: str, path: str) -> Snapshot:
        """The snapshot of what was known at an instant (in microseconds). Raises ``POSITION_IN_FUTURE``."""
        now = max(timestamp(self.read_at), self.snapshot.known_at)
        if instant > now:
            raise InvalidInput.because(
                f"{instant} has not come yet: it is {now}",
                code=ErrorCode.POSITION_IN_FUTURE,
                path=path,
                remedy="take an instant up to now",
            )
        save = self._index.views.peek(lambda db: saves.save_known_at(db, instant))
        # What others have written since this operation began is not part of any of its snapshots.
        return self.pinned_at(min(save.position, self.snapshot.position), path)

    def _kept(self, save: Save, *, pinned: bool) -> Snapshot:
        key = (save.position, pinned)
        if key not in self._earlier:
            self._earlier[key] = self._snapshot(save, pinned=pinned)
        return self._earlier[key]

    def _snapshot(self, save: Save, *, pinned: bool) -> Snapshot:
        return Snapshot(
            self._index.views,
            self._standings,
            self._recall,
            save,
            self.log_id,
            self._index.settings.public_url,
            pinned=pinned,
            pinned_at=self.pinned_at,
            given_up=lambda: self.given_up,
        )
