"""What one GraphQL operation has at hand: its snapshots, the moment of reading, who asks, and the way to write."""

from dataclasses import dataclass, field
from datetime import datetime

from domain.errors import ErrorCode, InvalidInput
from domain.events import timestamp
from domain.principals import Principal
from projections import saves
from projections.saves import Save
from service.api.fragments import Fragments
from service.api.snapshot import Snapshot
from service.api.standings import Standings
from service.app import Index
from service.auth import Caller


@dataclass(slots=True)
class Context:
    """Made for each operation. ``snapshot`` is taken when the operation starts, and again after it has written."""

    index: Index
    standings: Standings
    fragments: Fragments
    log_id: str
    accessed_at: datetime
    caller: Caller
    snapshot: Snapshot = field(init=False)
    given_up: bool = False
    last_event_id: str | None = None
    """The cursor of the last message that a subscriber got, in place of the ``after`` with which it once began."""
    styled: int = 0
    """How many citations were asked for in a style: each takes tens of milliseconds."""
    _earlier: dict[tuple[int, bool], Snapshot] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Take a snapshot of what the views show now."""
        self.snapshot = self._snapshot(self.index.follower.head, pinned=False)

    def start_over(self) -> None:
        """The operation is executed again, as if for the first time: of the same snapshot."""
        self.styled = 0
        self.snapshot.forget()
        self._earlier.clear()

    def give_up(self) -> None:
        """Nobody waits for the operation any more: what it still reads may end."""
        self.given_up = True

    @property
    def principal(self) -> Principal | None:
        """Who writes; None without a key."""
        return self.caller.principal

    async def snapshot_at(self, position: int) -> Snapshot:
        """The snapshot in which a paging began; one per operation, however many pages ask for it."""
        return self._kept(self.index.views.peek(lambda db: saves.save_at(db, position)), pinned=False)

    def pinned_at(self, position: int, path: str) -> Snapshot:
        """The snapshot as of a position that the reader names at ``path``. Raises ``POSITION_IN_FUTURE``."""
        if position > (head := self.snapshot.position):
            raise InvalidInput.because(
                f"the log has not reached position {position}: this host is at {head}",
                code=ErrorCode.POSITION_IN_FUTURE,
                path=path,
                remedy="take one from a stamp; X-KernelIndex-Min-Position waits for what another host has shown",
            )
        return self._kept(self.index.views.peek(lambda db: saves.save_at(db, position)), pinned=True)

    def pinned_known_at(self, instant: str, path: str) -> Snapshot:
        """The snapshot of what was known at an instant (in microseconds). Raises ``POSITION_IN_FUTURE``."""
        now = max(timestamp(self.accessed_at), self.snapshot.known_at)
        if instant > now:
            raise InvalidInput.because(
                f"{instant} has not come yet: it is {now}",
                code=ErrorCode.POSITION_IN_FUTURE,
                path=path,
                remedy="take an instant up to now",
            )
        save = self.index.views.peek(lambda db: saves.save_known_at(db, instant))
        # What others have written since this operation began is not part of any of its snapshots.
        return self.pinned_at(min(save.position, self.snapshot.position), path)

    def _kept(self, save: Save, *, pinned: bool) -> Snapshot:
        key = (save.position, pinned)
        if key not in self._earlier:
            self._earlier[key] = self._snapshot(save, pinned=pinned)
        return self._earlier[key]

    def _snapshot(self, save: Save, *, pinned: bool) -> Snapshot:
        return Snapshot(
            self.index.views,
            self.standings,
            self.fragments,
            save,
            self.log_id,
            self.index.settings.public_url,
            pinned=pinned,
            pinned_at=self.pinned_at,
            given_up=lambda: self.given_up,
        )
