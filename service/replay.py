"""Replay: fresh views of a log as it stood at a moment, made by the same path as those that are served."""

from datetime import datetime
from pathlib import Path

import msgspec

from domain.errors import Conflict, ErrorCode, InvalidInput
from domain.events import Committed, timestamp
from projections import saves
from projections.digests import rows_that_hold, view_digests
from projections.saves import Save
from projections.views import Views, path_in
from service.event_log import EventLog
from service.follower import Follower


class Moment(msgspec.Struct, frozen=True):
    """Up to where: a position, or an instant in microseconds as the log writes them."""

    position: int | None = None
    instant: str | None = None

    def precedes(self, position: int, event: Committed) -> bool:
        """Whether the event at this position came later; then whatever follows it was known later too."""
        if self.position is not None:
            return position > self.position
        return self.instant is not None and event.recorded.recorded_at > self.instant


class Table(msgspec.Struct, frozen=True):
    """A table of the views: how many of its rows hold, and the digest of all of them."""

    rows: int
    digest: str


class Replayed(msgspec.Struct, frozen=True):
    """What views show after a replay, and the file in which they are."""

    log_id: str
    head: Save
    tables: dict[str, Table]
    path: Path


def read_moment(text: str) -> Moment:
    """The moment that a position, or an instant with its offset from UTC, names."""
    if text.isascii() and text.isdigit():
        return Moment(position=int(text))
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        raise InvalidInput.because(
            f"{text[:100]!r} is neither a position nor an instant",
            code=ErrorCode.INVALID_ARGUMENT,
            path="--until",
            remedy="write a position as 120, an instant as 2026-08-01T12:00:00Z",
        )
    return Moment(instant=timestamp(instant))


async def replay(log: EventLog, folder: Path, until: Moment, now: datetime) -> Replayed:
    """Make views in this folder that show the log up to a moment, a position inside a save rounded down.

    Raises :class:`InvalidInput` with ``POSITION_IN_FUTURE``, and :class:`Conflict` where the folder has views already.
    """
    _refuse_future(log, until, now)
    generation = log.erasures()
    _make(folder, generation)
    views = await Views.open(folder, generation)
    try:
        head = await Follower(log, views, beyond=until.precedes).catch_up()
        rows, digests = await views.read(rows_that_hold), await views.read(view_digests)
        tables = {name: Table(rows[name], digests[name]) for name in digests}
        replayed = Replayed(views.peek(saves.log_id), head, tables, views.path)
    except BaseException:
        await views.discard()
        raise
    await views.close()
    return replayed


def _make(folder: Path, generation: int) -> None:
    if path_in(folder, generation).exists():
        raise Conflict.because(
            f"{folder} has views already", path="--output", remedy="name a new folder: a replay makes fresh ones"
        )
    folder.mkdir(parents=True, exist_ok=True)


def _refuse_future(log: EventLog, until: Moment, now: datetime) -> None:
    if until.position is not None and until.position > (length := log.length()):
        problem = f"the log has not reached position {until.position}: it is at {length}"
    elif until.instant is not None and until.instant > timestamp(now):
        problem = f"{until.instant} has not come yet"
    else:
        return
    raise InvalidInput.because(
        problem, code=ErrorCode.POSITION_IN_FUTURE, path="--until", remedy="name a moment up to now"
    )
