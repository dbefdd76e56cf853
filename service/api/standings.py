"""Ranked groups, kept: a group is ranked once per change, whoever asks and however often."""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final

from projections import rankings
from projections.rankings import Group, Standing
from projections.views import Views, never

MAX_RUNS: Final = 200_000
"""Of ranked runs kept in memory; about 100 MB when full."""


class Standings:
    """Ranks groups at first read and keeps them, those read last, until too many runs are kept.

    A standing is a function of the group and the position of its last change, so that pair is its key: a later change
    makes it unreachable, nothing ever makes it wrong.
    """

    def __init__(self, views: Views, max_runs: int = MAX_RUNS) -> None:
        self._views = views
        self._max_runs = max_runs
        self._kept: OrderedDict[tuple[str, int], Standing] = OrderedDict()
        self._runs = 0

    async def of(self, keys: Iterable[str], position: int, given_up: Callable[[], bool] = never) -> dict[str, Standing]:
        """The standings of these groups as of a position; at most one statement finds what changed, one ranks it."""
        groups = self._views.peek(lambda db: rankings.groups(db, keys, position))
        missing = [group for group in groups.values() if _key(group) not in self._kept]
        found = {key: self._recalled(group) for key, group in groups.items() if _key(group) in self._kept}
        if missing:
            ranked = await self._views.read(lambda db: rankings.rank(db, missing, position), given_up)
            for standing in ranked.values():
                self._keep(standing)
            found |= ranked
        return found

    def _recalled(self, group: Group) -> Standing:
        self._kept.move_to_end(_key(group))
        return self._kept[_key(group)]

    def _keep(self, standing: Standing) -> None:
        key = _key(standing.group)
        if key not in self._kept:
            self._runs += len(standing.placed)
        self._kept[key] = standing
        while self._runs > self._max_runs and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._runs -= len(oldest.placed)


def _key(group: Group) -> tuple[str, int]:
    return group.comparison_key, group.since
