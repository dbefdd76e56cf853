"""The composition root: every part is made and joined here, and nowhere else."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from domain.commands import OpenLog
from domain.events import DamagedEvent
from domain.policies import ADOPTED_FIRST
from domain.principals import LOCAL
from domain.streams import LogState, fold
from projections import saves
from projections.views import Views, delete, path_in
from service.audit.proving import Checkpoints, Proving
from service.audit.relay import Relay
from service.audit.signer import Signer
from service.data_folder import alone
from service.event_log import EventLog
from service.event_store import LogUnusable
from service.follower import Follower
from service.keys import DailyLimits, KeyStore
from service.keys.database import KeyDatabase
from service.ledger import Ledger
from service.logs import Log
from service.rates import Rates
from service.settings import Settings

Clock = Callable[[], datetime]
NewId = Callable[[], str]

_logger = Log("app")


def utc_now() -> datetime:
    """The system's clock."""
    return datetime.now(UTC)


def random_id() -> str:
    """A fresh id that nobody can guess."""
    return token_hex(16)


@dataclass(frozen=True, slots=True)
class Index:
    """A running index: its log, the views of it, the way to write, who may, and how often."""

    settings: Settings
    log: EventLog
    views: Views
    follower: Follower
    ledger: Ledger
    proving: Proving
    keys: KeyStore
    rates: Rates
    daily: DailyLimits
    now: Clock
    new_id: NewId


def open_keys(settings: Settings) -> KeyDatabase:
    """Open the file of the keys, which needs nothing of the log."""
    secret = settings.key_secret
    return KeyDatabase(settings.data_dir, secret.reveal() if secret else None)


@asynccontextmanager
async def open_index(
    settings: Settings, *, now: Clock = utc_now, new_id: NewId = random_id, follow: bool = True, level: bool = True
) -> AsyncIterator[Index]:
    """Open the index in the data folder, making it where there is none yet, and bring its views level with the log.

    ``follow`` keeps them so, ``level`` is for who only writes and looks at none of them.
    """
    async with AsyncExitStack() as opened:
        database = open_keys(settings)
        opened.callback(database.close)
        with alone(settings.data_dir):
            log = EventLog(settings.data_dir / "log.db")
            opened.callback(log.close)
            views = await _views_of(log, settings.data_dir)
            opened.push_async_callback(views.close)
        follower = Follower(log, views)
        opened.push_async_callback(follower.stop)
        ledger = Ledger(log, follower, now=now, new_id=new_id)
        keys, daily, rates = KeyStore(database, now=now), DailyLimits(database, now=now), Rates(settings, now=now)
        ledger.record([OpenLog(log_id=new_id(), origin=settings.log_origin, policies=ADOPTED_FIRST)], LOCAL)
        proving = Proving(log, views, follower, _checkpoints(log, settings))
        index = Index(settings, log, views, follower, ledger, proving, keys, rates, daily, now, new_id)
        if level:
            await follower.catch_up()
        if follow:
            follower.start()
        yield index


def _checkpoints(log: EventLog, settings: Settings) -> Checkpoints:
    """The signer of this log, whose key is there from the first start on; or what passes on those of another host."""
    state = fold(log.load(["log"])["log"]).state
    origin = state.origin if isinstance(state, LogState) else settings.log_origin
    if settings.checkpoint_verifier:
        return Relay(settings.checkpoint_verifier, origin)
    given = settings.checkpoint_key
    signer = Signer(settings.data_dir, origin, given.reveal() if given else None)
    _ = signer.key
    return signer


async def _views_of(log: EventLog, folder: Path) -> Views:
    """The views in the folder, or new ones where those are broken or show another log (one restored from a copy)."""
    views = None
    erasures = await asyncio.to_thread(log.erasures)
    try:
        views = await Views.open(folder, erasures)
        if erasures:
            # Whoever erased may have been killed before it could.
            views.delete_older()
        if await asyncio.to_thread(_reflect, views, log):
            return views
        await views.discard()
    except sqlite3.DatabaseError as error:
        # Its subclasses speak of locks and full disks; by itself it says that the file is no sound database.
        if type(error) is not sqlite3.DatabaseError:
            raise
        delete(path_in(folder, erasures))
    except (DamagedEvent, LogUnusable):
        if views:
            await views.close()
        raise
    _logger.warning("views rebuilt", reason="they don't belong to this log, or were broken", folder=str(folder))
    return await Views.open(folder, erasures)


def _reflect(views: Views, log: EventLog) -> bool:
    """Whether the last save that the views show is one of this log."""
    head = views.peek(saves.head)
    if head == saves.NOTHING:
        return True
    found = log.read(head.recorder_id - 1, 1)
    return bool(
        found
        and found[0].recorder_id == head.recorder_id
        and found[0].recorded.cause.request == views.peek(saves.head_request)
    )
