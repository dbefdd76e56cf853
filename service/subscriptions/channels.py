"""A channel: everything that one question is answered with, read and rendered once for all who ask it.

Its pump follows the views and keeps the last frames. A subscriber reads them from there; one that begins further back
is read the same frames through the same function until it has come to where they are kept. So memory is that of the
channels, however many subscribers there are and however slowly they read: who had come to the present and has fallen
behind what is kept is told so, and has to begin again from its last cursor.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Final, NamedTuple

import msgspec

from projections import saves
from projections.happenings import Happening, Place, Stretch
from projections.views import Views
from service.follower import Follower
from service.subscriptions.feeds import Found, Read

PAGE: Final = 50
SPAN: Final = 20_000  # positions that one statement looks through


class Frame(NamedTuple):
    """A message as every subscriber of a channel gets it; ``payload`` is the JSON text of an execution result."""

    place: Place
    cursor: str
    payload: str


class Page(NamedTuple):
    """Frames in order, and how far the log was looked through for them."""

    frames: Sequence[Frame]
    until: Place


Render = Callable[[Happening], Awaitable[Frame]]


class Bounds(msgspec.Struct, frozen=True):
    """``frames`` and ``chars`` bound what a channel keeps; a cursor that moves is told of every ``quiet_s`` seconds."""

    frames: int = 256
    chars: int = 2 * 1024 * 1024
    quiet_s: float = 2.0


class Channel:
    """One question. What happens after it is opened is kept; what was before is read for whoever asks for it."""

    def __init__(self, read: Read, render: Render, views: Views, follower: Follower, bounds: Bounds) -> None:
        self.subscribers = 0
        self._read = read
        self._render = render
        self._views = views
        self._generation = views.generation
        self._follower = follower
        self._bounds = bounds
        self._kept: deque[Frame] = deque()
        self._chars = 0
        self._count = 0  # of all frames that were ever kept
        self._floor = self._reached = Place(follower.head.position)  # whatever happened between them is kept
        self._moved = asyncio.Event()
        self._told_at = asyncio.get_running_loop().time()
        self._failure: Exception | None = None
        self._pump = asyncio.create_task(self._run(), name="channel")

    def close(self) -> None:
        """Stop following: nobody subscribes any more."""
        self._pump.cancel()

    async def frames(self, place: Place) -> AsyncGenerator[Frame]:
        """Everything after a place, for ever. Ends with ``Lagged`` where the subscriber is too slow.

        Raises what stopped the follower.
        """
        caught_up, now = False, Place(self._follower.head.position)
        while True:
            # Whatever was there when it began comes before ``CaughtUp``, kept already or not.
            while place < (kept := max(self._floor, now)):
                page = await self._page(place, kept)
                for frame in page.frames:
                    yield frame
                place = page.until
                if not page.frames and place < kept:
                    yield await self._notice("Progress", place)
            seen = self._count - self._number_after(place)
            while (index := seen - self._count + len(self._kept)) >= 0:
                if index < len(self._kept):
                    frame, seen = self._kept[index], seen + 1
                    if frame.place > place:
                        place = frame.place
                        yield frame
                elif caught_up:
                    await self._news()
                else:
                    caught_up, place = True, max(place, self._reached)
                    yield await self._notice("CaughtUp", place)
            if caught_up:
                yield await self._notice("Lagged", place, count=self._count - seen)
                return

    def _number_after(self, place: Place) -> int:
        return sum(frame.place > place for frame in self._kept)

    async def _news(self) -> None:
        if self._failure is None:
            await self._moved.wait()
        if self._failure:
            raise self._failure

    async def _run(self) -> None:
        try:
            while True:
                has_advanced = await self._has_advanced()
                self._forget_erased()
                if has_advanced:
                    page = await self._page(self._reached, Place(self._follower.head.position))
                else:
                    page = Page([await self._notice("Progress", self._reached)], self._reached)
                # What older views show is read again in the new ones.
                if self._generation == self._views.generation:
                    self._keep(page)
        except Exception as failure:  # noqa: BLE001 whoever subscribes is told, and the log has it from there
            self._failure = failure
            self._moved.set()

    def _forget_erased(self) -> None:
        """Drop what older views showed. Whoever had not heard it all is told to begin again."""
        if self._generation != self._views.generation:
            self._generation = self._views.generation
            self._kept.clear()
            self._chars = 0
            self._floor = self._reached

    async def _has_advanced(self) -> bool:
        """Wait for the follower; False where it is time to tell of a cursor that has moved without a message."""
        due = None
        if self._reached > (self._kept[-1].place if self._kept else self._floor):
            due = self._told_at + self._bounds.quiet_s
            if asyncio.get_running_loop().time() >= due:
                return False
        try:
            async with asyncio.timeout_at(due):
                await self._follower.beyond(self._reached.position)
        except TimeoutError:
            return False
        return True

    async def _page(self, after: Place, until: Place) -> Page:
        """What happened between two places, from its beginning: the one way to read, of old and of new."""
        end, found = await self._views.read(lambda db: _read(db, self._read, after, until))
        frames = [await self._render(one) for one in found.happenings if one.place <= until]
        return Page(frames, min(found.until or Place(end), until))

    def _keep(self, page: Page) -> None:
        self._reached = page.until
        if not page.frames:
            return
        self._kept.extend(page.frames)
        self._count += len(page.frames)
        self._chars += sum(len(frame.payload) for frame in page.frames)
        while len(self._kept) > self._bounds.frames or (self._chars > self._bounds.chars and len(self._kept) > 1):
            oldest = self._kept.popleft()
            self._chars -= len(oldest.payload)
            self._floor = oldest.place
        self._told_at = asyncio.get_running_loop().time()
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    async def _notice(self, kind: str, place: Place, **more: int) -> Frame:
        return await self._render(Happening(place, {"@type": kind, **more}))


def _read(db: sqlite3.Connection, read: Read, after: Place, until: Place) -> tuple[int, Found]:
    """What happened, and up to which position: a long way is gone in steps that end where saves do."""
    end = until.position
    if end - after.position > SPAN:
        step = saves.save_at(db, after.position + SPAN)
        end = (step if step.position > after.position else saves.end_of(db, after.position + SPAN)).position
    return end, read(db, Stretch(after, end, PAGE))
