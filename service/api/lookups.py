"""How a snapshot finds things by their keys: what another operation has found, without looking; the rest at once."""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Final

from projections import rankings
from projections.model import Doc, Text, document_texts
from projections.rankings import Group, Standing
from projections.views import Views
from service.api.recall import Recall
from service.api.standings import Standings

ON_LOOP: Final = 128
"""Up to so many point look-ups are quicker on the event loop than a hop to the reader's thread."""

ROW_BYTES: Final = 500
"""What a row that is kept takes beside its text, roughly."""

KEYS: Final[Mapping[str, str]] = {
    "rankings": "comparison_key",
    "hardware": "slug",
    "sources": "slug",
    "runners": "runner",
    "reruns": "rerun",
    "attestations": "attestation",
    "issues": "issue",
}
"""What documents of a table are found by, where that is not a digest."""

Query = Callable[[sqlite3.Connection, list[str]], Mapping[str, Any]]


class Reading:
    """The views as one snapshot reads them: as of a position, in one generation, for as long as somebody waits."""

    __slots__ = ("generation", "given_up", "position", "recall", "views")

    def __init__(self, views: Views, recall: Recall, position: int, given_up: Callable[[], bool]) -> None:
        self.views = views
        self.recall = recall
        self.position = position
        self.given_up = given_up
        # Taken before anything is read: views that are made anew meanwhile show no more than these, only less.
        self.generation = views.generation

    async def look_up(self, query: Query, keys: list[str], on_loop: int = ON_LOOP) -> Mapping[str, Any]:
        """What a query finds under keys: in the reader's thread where they are many."""
        if len(keys) <= on_loop:
            return self.views.peek(lambda db: query(db, keys))
        return await self.views.read(lambda db: query(db, keys), self.given_up)


class _Rows:
    """Rows of one kind by their keys. Each is kept for other operations that read as of the same position."""

    def __init__(self, reading: Reading, name: str) -> None:
        self._reading = reading
        self._place = (reading.generation, reading.position, name)

    def _known(self, key: str) -> Any:
        return self._reading.recall.get((self._place, key))

    async def _rows(self, query: Query, keys: list[str], size_of: Callable[[Any], int]) -> Mapping[str, Any]:
        found = await self._reading.look_up(query, keys)
        for key, row in found.items():
            self._reading.recall.keep(self._reading.generation, (self._place, key), row, size_of(row))
        return found


class Documents(_Rows):
    """The documents of a table. ``stored`` makes one from its table, its key and its row."""

    def __init__(self, reading: Reading, table: str, stored: Callable[[str, str, Text], Doc]) -> None:
        super().__init__(reading, table)
        self._table = table
        self._stored = stored

    def recall(self, key: str) -> Doc | None:
        """A document whose row is known."""
        row: Text | None = self._known(key)
        return None if row is None else self._stored(self._table, key, row)

    async def find(self, keys: list[str]) -> Mapping[str, Doc]:
        """The documents that there are under these keys."""
        rows = await self._rows(self._texts, keys, lambda row: ROW_BYTES + len(row.text))
        return {key: self._stored(self._table, key, row) for key, row in rows.items()}

    def _texts(self, db: sqlite3.Connection, keys: list[str]) -> Mapping[str, Text]:
        return document_texts(db, self._table, KEYS.get(self._table, "digest"), keys, self._reading.position)


class Ranked(_Rows):
    """Groups, ranked, by their comparison keys."""

    def __init__(self, reading: Reading, standings: Standings) -> None:
        super().__init__(reading, "groups")
        self._standings = standings

    def recall(self, key: str) -> Standing | None:
        """A group that is known, and that somebody has ranked."""
        group: Group | None = self._known(key)
        return None if group is None else self._standings.recall(group)

    async def find(self, keys: list[str]) -> Mapping[str, Standing]:
        """The groups under these keys in which anything is ranked."""
        reading = self._reading
        groups = await self._rows(self._groups, keys, lambda _: ROW_BYTES)
        return await self._standings.of(groups, reading.position, reading.given_up)

    def _groups(self, db: sqlite3.Connection, keys: list[str]) -> Mapping[str, Group]:
        return rankings.groups(db, keys, self._reading.position)
