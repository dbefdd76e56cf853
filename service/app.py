"""The composition root: every part is made and joined here, and nowhere else."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from domain.commands import OpenLog
from domain.policies import ADOPTED_FIRST
from domain.principals import LOCAL
from projections.views import Views
from service.data_folder import alone
from service.event_log import EventLog
from service.follower import Follower
from service.keys import DailyLimits, KeyStore
from service.keys.database import KeyDatabase
from service.ledger import Ledger
from service.rates import Rates
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
    """A running index: its log, the views of it, the way to write, who may, and how often."""

    settings: Settings
    log: EventLog
    views: Views
    follower: Follower
    ledger: Ledger
    keys: KeyStore
    rates: Rates
    daily: DailyLimits
    now: Clock
    new_id: NewId


def open_keys(settings: Settings) -> KeyDatabase:
    """Open the file of the keys, which needs nothing of the log."""
    secret = settings.key_secret
    return KeyDatabase(settings.data_dir, secret.get_secret_value() if secret else None)


@asynccontextmanager
async def open_index(
    settings: Settings, *, now: Clock = utc_now, new_id: NewId = random_id, follow: bool = True, level: bool = True
) -> AsyncIterator[Index]:
    """Open the index in the data folder, making it where there is none yet, and bring its views level with the log.

    ``follow`` keeps them so, ``level`` is for who only writes and looks at none of them.
    """
    database = open_keys(settings)
    with alone(settings.data_dir):
        log = EventLog(settings.data_dir / "log.db")
        views = await Views.open(settings.data_dir)
    follower = Follower(log, views)
    ledger = Ledger(log, follower, now=now, new_id=new_id)
    keys, daily, rates = KeyStore(database, now=now), DailyLimits(database, now=now), Rates(settings, now=now)
    index = Index(settings, log, views, follower, ledger, keys, rates, daily, now, new_id)
    try:
        ledger.record([OpenLog(log_id=new_id(), origin=settings.log_origin, policies=ADOPTED_FIRST)], LOCAL)
        if level:
            await follower.catch_up()
        if follow:
            follower.start()
        yield index
    finally:
        database.close()
        await follower.stop()
        await views.close()
        log.close()
