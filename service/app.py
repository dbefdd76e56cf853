"""The composition root: every part is made and joined here, and nowhere else."""

import fcntl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from domain.commands import OpenLog
from domain.policies import ADOPTED_FIRST
from domain.principals import LOCAL
from projections.views import Views
from service.event_log import EventLog
from service.follower import Follower
from service.ledger import Ledger
from service.settings import Settings

Clock = Callable[[], datetime]
NewId = Callable[[], str]


def utc_now() -> datetime:
    """The system's clock."""
    return datetime.now(UTC)


def random_id() -> str:
    """A fresh id that nobody can guess."""
    return uuid4().hex


@dataclass(frozen=True, slots=True)
class Index:
    """A running index: its log, the views of it, and the way to write."""

    settings: Settings
    log: EventLog
    views: Views
    follower: Follower
    ledger: Ledger
    now: Clock
    new_id: NewId


@asynccontextmanager
async def open_index(
    settings: Settings, *, now: Clock = utc_now, new_id: NewId = random_id, follow: bool = True
) -> AsyncIterator[Index]:
    """Open the index in the data folder, making it where there is none yet, and bring its views level with the log."""
    with _alone(settings.data_dir):
        log = EventLog(settings.data_dir / "log.db")
        views = await Views.open(settings.data_dir)
    follower = Follower(log, views)
    ledger = Ledger(log, follower, now=now, new_id=new_id)
    index = Index(settings, log, views, follower, ledger, now, new_id)
    try:
        ledger.record([OpenLog(log_id=new_id(), origin=settings.log_origin, policies=ADOPTED_FIRST)], LOCAL)
        await follower.catch_up()
        if follow:
            follower.start()
        yield index
    finally:
        await follower.stop()
        await views.close()
        log.close()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the data folder's lock: SQLite can't have two processes make the same file at the same moment."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
