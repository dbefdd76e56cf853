"""How the log is stored. Everything that the ``eventsourcing`` library is used for is in this module."""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, cast

import msgspec
from eventsourcing.application import Application
from eventsourcing.persistence import InfrastructureFactory, IntegrityError, Mapper, PersistenceError, StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteCursor, SQLiteDatastore, SQLiteFactory
from eventsourcing.utils import Environment

from domain.events import Recorded, decode_state, encode_state, type_of
from service.in_use import InUse

LOCK_TIMEOUT_S = 30


class Request(msgspec.Struct, frozen=True):
    """A request under an idempotency key, and the answer that it got. ``id`` is the ``cause`` of its events."""

    principal: str
    mutation: str
    key: str
    body_digest: str
    id: str
    answer: bytes


class LogUnusable(Exception):
    """The database of the log can't be read or written: the disk is full, or the file is damaged."""


class AlreadyRecorded(Exception):
    """Somebody else appended to one of these streams, or used this idempotency key, since we looked."""


@contextmanager
def _told() -> Iterator[None]:
    """What the database refuses, in words for who runs the index."""
    try:
        yield
    except PersistenceError as error:
        raise LogUnusable(f"the log can't be used: {error}") from error


_REQUESTS: Final = """CREATE TABLE IF NOT EXISTS requests (
  principal TEXT, mutation TEXT, key TEXT, body_digest TEXT, id TEXT, answer BLOB,
  PRIMARY KEY (principal, mutation, key)
) WITHOUT ROWID"""
_CHECKPOINTS: Final = """CREATE TABLE IF NOT EXISTS checkpoints (
  verifier TEXT PRIMARY KEY, size INTEGER NOT NULL, note TEXT NOT NULL
) WITHOUT ROWID"""
_REPLACE: Final = "UPDATE stored_events SET state = ? WHERE originator_id = ? AND originator_version = ?"


class _Mapper(Mapper[str]):
    """Plain event names and canonical state, instead of class paths and transcodings."""

    def to_stored_event(self, domain_event: Any) -> StoredEvent:
        return StoredEvent(
            originator_id=domain_event.originator_id,
            originator_version=domain_event.originator_version,
            topic=type_of(domain_event.fact),
            state=encode_state(domain_event),
        )

    def to_domain_event(self, stored_event: StoredEvent) -> Any:
        return decode_state(
            str(stored_event.originator_id),
            stored_event.originator_version,
            stored_event.topic,
            stored_event.state,
        )


class _Recorder(SQLiteApplicationRecorder):
    """Keeps requests in the transaction of their events, and checkpoints beside them."""

    def construct_create_table_statements(self) -> list[str]:
        return [*super().construct_create_table_statements(), _REQUESTS, _CHECKPOINTS]

    def _insert_events(
        self,
        c: SQLiteCursor,
        stored_events: Sequence[StoredEvent],
        *,
        request: Request | None = None,
        remains: Iterable[StoredEvent] = (),
        **kwargs: Any,
    ) -> Sequence[int] | None:
        if request is not None:
            # The unique key is taken first: a retry that races its first try waits here, then fails as a whole.
            c.execute("INSERT INTO requests VALUES (?,?,?,?,?,?)", msgspec.structs.astuple(request))
        for event in remains:
            # Else the payload would stay in the pages of the file, where its row had been.
            c.execute("PRAGMA secure_delete = ON")
            c.execute(_REPLACE, (event.state, event.originator_id, event.originator_version))
        return super()._insert_events(c, stored_events, **kwargs)


class _Factory(SQLiteFactory):
    application_recorder_class = _Recorder


class _Log(Application[str]):
    name = "kernelindex"

    def construct_factory(self, env: Environment) -> InfrastructureFactory[Any]:
        return _Factory(env)

    def construct_mapper(self) -> _Mapper:
        return _Mapper(transcoder=self.construct_transcoder())


class EventStore:
    """The tables of a log in one SQLite file: ``stored_events``, which is the library's, and ours beside it.

    Its methods block. They raise :class:`LogUnusable` where the file can't be used, or is closed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._use = InUse()
        with _told():
            self._application = _Log(
                {
                    "SQLITE_DBNAME": os.fspath(path),
                    "SQLITE_LOCK_TIMEOUT": str(LOCK_TIMEOUT_S),
                    "ORIGINATOR_ID_TYPE": "text",
                }
            )
            self._writer = cast("_Recorder", self._application.recorder).datastore
            # In the library's pool readers queue behind a writer that waits, so readers have a pool of their own.
            self._reader = SQLiteDatastore(os.fspath(path), lock_timeout=LOCK_TIMEOUT_S, originator_id_type="text")
            self._watcher = sqlite3.connect(path, isolation_level=None, check_same_thread=False)

    def put(self, events: Sequence[Recorded], request: Request | None, remains: Iterable[Recorded]) -> int:
        """Append all events and the request, or nothing. Answers the recorder id of the last event (0 for none).

        ``remains`` take the place of the events that they are left of, in the same transaction. Raises
        :class:`AlreadyRecorded` where a stream has moved on or the request's key was used.
        """
        kept = [self._application.mapper.to_stored_event(one) for one in remains]
        with self._at_work():
            try:
                if not events:
                    self._application.recorder.insert_events([], request=request)
                    return 0
                # The store, not save(): that one asks each object what it can do, for two thirds of the whole cost.
                last = self._application.events.put(events, request=request, remains=kept)[-1].notification.id
            except IntegrityError as error:
                raise AlreadyRecorded from error
            except PersistenceError as error:
                raise LogUnusable(f"nothing was recorded: {error}") from error
            if kept:
                self._begin_recent_writes_anew()
            return last

    def _begin_recent_writes_anew(self) -> None:
        """What was erased is still in the file of recent writes until then."""
        # The watcher may be looking meanwhile, in another thread: a connection that is at work can't do this.
        with closing(sqlite3.connect(self._path, isolation_level=None, timeout=LOCK_TIMEOUT_S)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """What a query finds, in one statement."""
        with self._at_work(), self._reader.transaction(commit=False) as c:
            c.execute(query, values)
            return [tuple(row) for row in c.fetchall()]

    def write(self, statement: str, *values: object) -> None:
        """Carry a statement out in a transaction of its own: on our tables only, events are :meth:`put`."""
        with self._at_work(), self._writer.transaction(commit=True) as c:
            c.execute(statement, values)

    def data_version(self) -> int:
        """Changes whenever another connection, of this process or another, has committed. Takes microseconds."""
        return int(self._watcher.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Close all connections, once nobody is at work with them."""
        if not self._use.finish(LOCK_TIMEOUT_S):
            # Somebody is stuck; the end of the process closes them.
            return
        self._application.close()
        self._reader.close()
        self._watcher.close()

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        with self._use.at_work() as is_open, _told():
            if not is_open:
                raise LogUnusable("the log is closed")
            yield
