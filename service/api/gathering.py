"""Look-ups of one operation, gathered: what is asked for at the same time is found together, and found once."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

Find = Callable[[list[str]], Awaitable[Mapping[str, Any]]]
"""Finds what there is under several keys."""


def _nothing(_key: str) -> None:
    """Nothing is known of any key."""


class Gathered:
    """What ``find`` finds under keys, and None under those for which it finds nothing. It is kept, mistakes are not.

    Those who load keys in the same turn of the event loop, or the next, have them looked up together. ``recall`` tells
    what is known of a key without looking; None is nothing.
    """

    def __init__(self, find: Find, recall: Callable[[str], Any] = _nothing) -> None:
        self._find = find
        self._recall = recall
        self._found: dict[str | None, Any] = {None: None}
        self._looking_up: dict[str, asyncio.Task[None]] = {}
        self._next: list[str] = []

    async def load(self, key: str) -> Any:
        """What there is under a key."""
        return (await self.load_many([key]))[0]

    async def load_many(self, keys: Sequence[str | None]) -> list[Any]:
        """What there is under several keys, in order. Under None there is nothing."""
        for task in {self._task_for(key) for key in self._missing(keys)}:
            # Who leaves must not take along the others, who wait for the same task.
            await asyncio.shield(task)
        return [self._found[key] for key in keys]

    async def load_now(self, keys: Sequence[str | None]) -> list[Any]:
        """The same without waiting for others, for who asks for all of them."""
        if missing := self._missing(keys):
            self._keep(missing, await self._find(missing))
        return [self._found[key] for key in keys]

    def _missing(self, keys: Sequence[str | None]) -> list[str]:
        """The keys that have to be looked up."""
        found, missing = self._found, []
        for key in dict.fromkeys(keys):
            if key is None or key in found:
                continue
            if (known := self._recall(key)) is None:
                missing.append(key)
            else:
                found[key] = known
        return missing

    def _task_for(self, key: str) -> asyncio.Task[None]:
        if key not in self._looking_up:
            self._next.append(key)
            # Until the task looks them up, others add to them.
            if len(self._next) == 1:
                self._task = asyncio.ensure_future(self._look_up(self._next))
                self._task.add_done_callback(_heed)
            self._looking_up[key] = self._task
        return self._looking_up[key]

    async def _look_up(self, keys: list[str]) -> None:
        # Whoever waits for what was found in this turn asks for more of it in the next.
        await asyncio.sleep(0)
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
