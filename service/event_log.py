"""The log: the only truth. Everything that the ``eventsourcing`` library is used for is in this module.

It knows recorder ids (the library's, in commit order, with gaps on some databases); positions (dense, ours) are given
by the follower, which numbers events as it reads them.
"""

import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import msgspec
from eventsourcing.application import Application
from eventsourcing.persistence import InfrastructureFactory, IntegrityError, Mapper, PersistenceError, StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteCursor, SQLiteDatastore, SQLiteFactory
from eventsourcing.utils import Environment

from domain.events import Committed, Event, Recorded, decode_state, encode_state, erased, type_of
from domain.facts import EventErased
from projections.model import json_list
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
_REQUEST: Final = "SELECT * FROM requests WHERE principal = ? AND mutation = ? AND key = ?"
_EVENTS: Final = "SELECT rowid, originator_id, originator_version, topic, state FROM stored_events"
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
    """Keeps requests in the transaction of their events, and answers queries over both."""

    def construct_create_table_statements(self) -> list[str]:
        return [*super().construct_create_table_statements(), _REQUESTS]

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

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """What a query over the log's tables finds, in one statement."""
        with self.datastore.transaction(commit=False) as c:
            c.execute(query, values)
            return [tuple(row) for row in c.fetchall()]


class _Factory(SQLiteFactory):
    application_recorder_class = _Recorder


class _Log(Application[str]):
    name = "kernelindex"

    def construct_factory(self, env: Environment) -> InfrastructureFactory[Any]:
        return _Factory(env)

    def construct_mapper(self) -> _Mapper:
        return _Mapper(transcoder=self.construct_transcoder())


class EventLog:
    """An append-only log in one SQLite file. Its methods block: call them off the event loop."""

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
            # In the library's pool readers queue behind a writer that waits, so readers have a pool of their own.
            self._reader = _Recorder(
                SQLiteDatastore(os.fspath(path), lock_timeout=LOCK_TIMEOUT_S, originator_id_type="text")
            )
            self._watcher = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._version = self._data_version()

    def append(self, events: Sequence[Recorded], request: Request | None = None) -> int:
        """Append all events and the request, or nothing. Answers the recorder id of the last event (0 for none).

        An ``EventErased`` takes the payload that it names with it, in the same transaction. Raises
        :class:`AlreadyRecorded` where a stream has moved on or the request's key was used.
        """
        with self._at_work():
            return self._append(events, request)

    def _append(self, events: Sequence[Recorded], request: Request | None) -> int:
        try:
            if not events:
                self._application.recorder.insert_events([], request=request)
                return 0
            remains = self._remains(events)
            # The store, not save(): that one asks each object what it can do, for two thirds of the whole cost.
            last = self._application.events.put(events, request=request, remains=remains)[-1].notification.id
        except IntegrityError as error:
            raise AlreadyRecorded from error
        except PersistenceError as error:
            raise LogUnusable(f"nothing was recorded: {error}") from error
        if remains:
            self._begin_recent_writes_anew()
        return last

    def _begin_recent_writes_anew(self) -> None:
        """What was erased is still in the file of recent writes until then."""
        # The watcher may be looking meanwhile, in another thread: a connection that is at work can't do this.
        with closing(sqlite3.connect(self._path, isolation_level=None, timeout=LOCK_TIMEOUT_S)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def at(self, position: int) -> Event | None:
        """The event at a position. Looks through the whole log: for rare questions."""
        found = self._events("ORDER BY rowid LIMIT 1 OFFSET ?", position - 1) if position > 0 else []
        return found[0].at(position) if found else None

    def erasures(self) -> int:
        """How many events have been erased: views that were made before the last one show what they must not."""
        return sum(isinstance(one.fact, EventErased) for one in self.load(["log"]).get("log", ()))

    def _remains(self, events: Iterable[Recorded]) -> list[StoredEvent]:
        """What is left of the events whose erasure is among these."""
        mapper = self._application.mapper
        named = (self.at(one.fact.position) for one in events if isinstance(one.fact, EventErased))
        return [mapper.to_stored_event(erased(event)) for event in named if event]

    def load(self, streams: Collection[str]) -> Mapping[str, list[Recorded]]:
        """The whole history of each of these streams that has any."""
        condition = "WHERE originator_id IN (SELECT value FROM json_each(?)) ORDER BY originator_id, originator_version"
        found = [one.recorded for one in self._events(condition, json_list(streams))]
        return {stream: list(history) for stream, history in groupby(found, key=lambda one: one.originator_id)}

    def read(self, after: int, limit: int) -> list[Committed]:
        """At most ``limit`` events with recorder ids above ``after``, in the order in which they were committed."""
        return self._events("WHERE rowid > ? ORDER BY rowid LIMIT ?", after, limit)

    def pick(self, recorder_ids: Collection[int]) -> dict[int, Committed]:
        """The events with these recorder ids, wherever they are in the log."""
        found = self._events("WHERE rowid IN (SELECT value FROM json_each(?))", json_list(recorder_ids))
        return {one.recorder_id: one for one in found}

    def request(self, principal: str, mutation: str, key: str) -> Request | None:
        """What was answered under this idempotency key."""
        found = self._rows(_REQUEST, principal, mutation, key)
        return Request(*found[0]) if found else None

    def latest(self) -> int:
        """The recorder id of the last committed event (0 for none)."""
        return int(self._rows("SELECT coalesce(max(rowid), 0) FROM stored_events")[0][0])

    def length(self) -> int:
        """How many events are committed: the position of the last one."""
        return int(self._rows("SELECT count(*) FROM stored_events")[0][0])

    def changed(self) -> bool:
        """Whether any connection, of this process or another, has committed since the last call. Takes microseconds."""
        before, self._version = self._version, self._data_version()
        return self._version != before

    def close(self) -> None:
        """Close all connections, once nobody is at work with them."""
        if not self._use.finish(LOCK_TIMEOUT_S):
            # Somebody is stuck; the end of the process closes them.
            return
        self._application.close()
        self._reader.datastore.close()
        self._watcher.close()

    def _events(self, condition: str, *values: object) -> list[Committed]:
        rows = self._rows(f"{_EVENTS} {condition}", *values)
        return [Committed(recorder_id, decode_state(*stored)) for recorder_id, *stored in rows]

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._at_work():
            return self._reader.rows(query, *values)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Work with the connections. Raises :class:`LogUnusable` where they are closed, or their file is damaged."""
        with self._use.at_work() as is_open, _told():
            if not is_open:
                raise LogUnusable("the log is closed")
            yield

    def _data_version(self) -> int:
        return int(self._watcher.execute("PRAGMA data_version").fetchone()[0])
