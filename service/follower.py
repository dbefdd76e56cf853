"""The follower carries events from the log into the views, and wakes who waits for them.

Live, catch-up and replay are one path: read what follows the views' own position, apply whole saves, again.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from domain.errors import Conflict, ErrorCode
from domain.events import Committed, DamagedEvent, UnknownEventType
from domain.facts import EventErased
from projections import saves
from projections.saves import Save, UnknownPolicy
from projections.views import Views
from service.event_log import EventLog
from service.logs import Log

BATCH = 4000
POLL_S = 0.01
RETRY_S = 1.0
WAIT_S = 30.0

_logger = Log("follower")


class Follower:
    """Keeps views level with a log.

    ``head`` is the save that they reflect; ``failure`` says why it has stopped for good, ``trouble`` why it is trying
    again. Of a log that is not to be followed to its end, ``beyond`` tells the events at which to stop, given position
    and event.
    """

    def __init__(self, log: EventLog, views: Views, *, beyond: Callable[[int, Committed], bool] | None = None) -> None:
        self.log = log
        self.views = views
        self.head: Save = saves.NOTHING
        self.failure: Exception | None = None
        self.trouble: Exception | None = None
        self._beyond = beyond
        self._catching_up = asyncio.Lock()
        self._advanced = asyncio.Condition()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def catch_up(self) -> Save:
        """Apply everything that the log holds now; first take up views that were put in the place of these.

        One after the other: what follows one head must never be applied to another.
        """
        async with self._catching_up:
            return await self._catch_up()

    async def _catch_up(self) -> Save:
        if self.views.replaced():
            other = await self.views.beside(self.views.generation)
            await Follower(self.log, other).catch_up()
            await self.views.become(other)
        self.head = await self.views.read(saves.head)
        while batch := await self._next_saves(self.head):
            if any(isinstance(one.recorded.fact, EventErased) for one in batch) and await self._forget():
                continue
            self.head = await self.views.apply(self.head, batch)
        async with self._advanced:
            self._advanced.notify_all()
        return self.head

    async def _forget(self) -> bool:
        """Make the views anew, without what has been erased since they were begun, and show those from then on.

        The old ones are shown meanwhile. False where the views know of all erasures.
        """
        generation = await asyncio.to_thread(self.log.erasures)
        if generation <= self.views.generation:
            return False
        beside = await self.views.beside(generation)
        try:
            head = await beside.read(saves.head)
            while batch := await self._next_saves(head):
                head = await beside.apply(head, batch)
        except BaseException:
            await beside.close()
            raise
        await self.views.become(beside)
        self.head = head
        _logger.info("views made anew without erased events", generation=generation, position=head.position)
        return True

    def start(self) -> None:
        """Go on following until :meth:`stop`."""
        self._task = asyncio.create_task(self._follow(), name="follower")

    async def stop(self) -> None:
        """Stop following; what was begun is finished or rolled back."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def wait_for(self, recorder_id: int) -> int:
        """Wait until the views reflect the save that this recorder id belongs to, and answer its position.

        Raises what has stopped the follower, or :class:`Conflict` with ``VIEWS_BEHIND`` where it takes too long.
        """
        self._wake.set()
        try:
            async with asyncio.timeout(WAIT_S), self._advanced:
                await self._advanced.wait_for(lambda: self.head.recorder_id >= recorder_id or self.failure)
        except TimeoutError:
            raise Conflict.because(
                "it is recorded, but can't be shown yet",
                code=ErrorCode.VIEWS_BEHIND,
                remedy="ask again later; a retry under the same idempotency key is safe",
            ) from None
        if self.failure:
            raise self.failure
        return self.views.peek(lambda db: saves.position_of(db, recorder_id)) or self.head.position

    async def reach(self, position: int, timeout_s: float) -> None:
        """Wait until the views reflect this position. Raises ``TimeoutError`` where that takes too long."""
        async with asyncio.timeout(timeout_s), self._advanced:
            await self._advanced.wait_for(lambda: self.head.position >= position or self.failure)

    async def beyond(self, position: int) -> Save:
        """Wait, for as long as it takes, until the views reflect a later position.

        Raises :class:`Conflict` with ``VIEWS_BEHIND`` once that can't come any more.
        """
        async with self._advanced:
            await self._advanced.wait_for(lambda: self.head.position > position or self.failure)
        if self.failure:
            raise Conflict.because(
                f"this host has stopped following the log: {self.failure}",
                code=ErrorCode.VIEWS_BEHIND,
                remedy="ask a host of the log's own release",
            )
        return self.head

    async def _follow(self) -> None:
        while True:
            try:
                await self.catch_up()
            except (DamagedEvent, UnknownEventType, UnknownPolicy) as failure:
                # Going on would show answers that nobody can know to be right.
                await self._fail(failure)
                return
            except Exception as trouble:
                # A full disk or a long lock may pass; the views are as they were.
                _logger.exception("follower failed, will try again", position=self.head.position)
                self.trouble = trouble
                await asyncio.sleep(RETRY_S)
            else:
                self.trouble = None
                await self._sleep()

    async def _sleep(self) -> None:
        """Until this process writes, or another has: SQLite tells no one, so its data version is polled."""
        while not self._wake.is_set() and not self.log.changed() and not self.views.replaced():
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_S):
                    await self._wake.wait()
        self._wake.clear()

    async def _fail(self, failure: Exception) -> None:
        _logger.error("follower stopped", reason=str(failure), position=self.head.position)
        self.failure = failure
        async with self._advanced:
            self._advanced.notify_all()

    async def _next_saves(self, head: Save) -> Sequence[Committed]:
        """The next events behind a head, cut at the end of a save: a save is one moment."""
        limit = BATCH
        while True:
            found = await asyncio.to_thread(self.log.read, head.recorder_id, limit)
            end = wanted = self._wanted(head, found)
            while end and not found[end - 1].recorded.cause.ends_save:
                end -= 1
            if end or wanted < limit:
                return found[:end]
            limit *= 4

    def _wanted(self, head: Save, found: Sequence[Committed]) -> int:
        """How many of the events behind a head there are to follow."""
        if self._beyond is None:
            return len(found)
        placed = enumerate(found, head.position + 1)
        return next(
            (number for number, (position, one) in enumerate(placed) if self._beyond(position, one)), len(found)
        )
