"""What one GraphQL operation has at hand: its snapshot, the moment of reading, who asks, and the way to write."""

from dataclasses import dataclass, field
from datetime import datetime

from domain.principals import Principal
from projections import saves
from projections.saves import Save
from service.api.snapshot import Snapshot
from service.api.standings import Standings
from service.app import Index
from service.auth import Caller


@dataclass(slots=True)
class Context:
    """Made for each operation. ``snapshot`` is taken when the operation starts, and again after it has written."""

    index: Index
    standings: Standings
    log_id: str
    accessed_at: datetime
    caller: Caller
    snapshot: Snapshot = field(init=False)
    given_up: bool = False
    _pinned: dict[int, Snapshot] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Take a snapshot of what the views show now."""
        self.snapshot = self._snapshot(self.index.follower.head)

    def give_up(self) -> None:
        """Nobody waits for the operation any more: what it still reads may end."""
        self.given_up = True

    @property
    def principal(self) -> Principal | None:
        """Who writes; None without a key."""
        return self.caller.principal

    async def snapshot_at(self, position: int) -> Snapshot:
        """The snapshot as of an earlier position; one per operation, however many pages ask for it."""
        if position not in self._pinned:
            save = self.index.views.peek(lambda db: saves.save_at(db, position))
            self._pinned[position] = self._snapshot(save)
        return self._pinned[position]

    def _snapshot(self, save: Save) -> Snapshot:
        index = self.index
        return Snapshot(
            index.views,
            self.standings,
            save,
            self.log_id,
            index.settings.public_url,
            given_up=lambda: self.given_up,
        )
