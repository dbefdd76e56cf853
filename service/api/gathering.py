"""Look-ups of one operation, gathered: what is asked for at the same time is found together, and found once."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

Find = Callable[[list[str]], Awaitable[Mapping[str, Any]]]
"""Finds what there is under several keys."""


class Gathered:
    """What ``find`` finds under keys, and None under those for which it finds nothing. It is kept, mistakes are not.

    Those who :meth:`load` a key in the same turn of the event loop have it looked up together.
    """

    def __init__(self, find: Find) -> None:
        self._find = find
        self._found: dict[str | None, Any] = {None: None}
        self._looking_up: dict[str, asyncio.Task[None]] = {}
        self._next: list[str] = []

    async def load(self, key: str) -> Any:
        """What there is under a key."""
        if key not in self._found:
            if key not in self._looking_up:
                self._next.append(key)
                # The task begins in the next turn of the loop: until then, others add to it.
                if len(self._next) == 1:
                    self._task = asyncio.ensure_future(self._look_up(self._next))
                    self._task.add_done_callback(_heed)
                self._looking_up[key] = self._task
            # Who leaves must not take along the others, who wait for the same task.
            await asyncio.shield(self._looking_up[key])
        return self._found[key]

    async def load_many(self, keys: Sequence[str | None]) -> Sequence[Any]:
        """What there is under several keys, in order, without waiting for others. Under None there is nothing."""
        if missing := [key for key in dict.fromkeys(keys) if key is not None and key not in self._found]:
            self._keep(missing, await self._find(missing))
        return [self._found[key] for key in keys]

    async def _look_up(self, keys: list[str]) -> None:
        self._next = []
        try:
            self._keep(keys, await self._find(keys))
        finally:
            for key in keys:
                del self._looking_up[key]

    def _keep(self, keys: Sequence[str], found: Mapping[str, Any]) -> None:
        for key in keys:
            # Documents compare by identity: the first one found stays.
            self._found.setdefault(key, found.get(key))


def _heed(task: asyncio.Task[None]) -> None:
    """Take note of how it ended, where nobody waits for it any more: else the loop complains."""
    if not task.cancelled():
        task.exception()
