"""Ranked groups, kept: a group is ranked once per change, whoever asks and however often."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final

from projections import rankings
from projections.rankings import Group, Standing
from projections.views import Views, never

MAX_RUNS: Final = 50_000
"""Of ranked runs kept in memory; about 25 MB when full. One group may be larger."""


_Key = tuple[int, str, int]


class Standings:
    """Ranks groups at first read and keeps them, those read last, until too many runs are kept.

    A standing is a function of the group and the position of its last change, in views of one generation: these are its
    key. A later change or an erasure makes it unreachable, nothing ever makes it wrong.
    """

    def __init__(self, views: Views, max_runs: int = MAX_RUNS) -> None:
        self._views = views
        self._max_runs = max_runs
        self._kept: OrderedDict[_Key, Standing] = OrderedDict()
        self._runs = 0

    async def of(
        self, groups: Mapping[str, Group], position: int, given_up: Callable[[], bool] = never
    ) -> dict[str, Standing]:
        """The standings of groups as of a position; at most one statement ranks all that have changed."""
        known = {key: self.recall(group) for key, group in groups.items()}
        found = {key: standing for key, standing in known.items() if standing}
        if missing := [groups[key] for key, standing in known.items() if standing is None]:
            ranked = await self._views.read(lambda db: rankings.rank(db, missing, position), given_up)
            for standing in ranked.values():
                self._keep(standing)
            found |= ranked
        return found

    def recall(self, group: Group) -> Standing | None:
        """The standing of a group, where it is kept."""
        key = self._key(group)
        if standing := self._kept.get(key):
            self._kept.move_to_end(key)
        return standing

    def _keep(self, standing: Standing) -> None:
        key = self._key(standing.group)
        if key not in self._kept:
            self._runs += len(standing.placed)
        self._kept[key] = standing
        while self._runs > self._max_runs and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._runs -= len(oldest.placed)

    def _key(self, group: Group) -> _Key:
        return self._views.generation, group.comparison_key, group.since
