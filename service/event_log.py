"""The log: the only truth.

It knows recorder ids (the library's, in commit order, with gaps on some databases); positions (dense, ours) are given
by the follower, which numbers events as it reads them.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from domain.events import Committed, Event, Recorded, decode_state, erased
from domain.facts import EventErased
from projections.model import json_list
from service.event_store import EventStore, Request

_EVENTS: Final = "SELECT rowid, originator_id, originator_version, topic, state FROM stored_events"
_REQUEST: Final = "SELECT * FROM requests WHERE principal = ? AND mutation = ? AND key = ?"
_PUBLISH: Final = """INSERT INTO checkpoints VALUES (?, ?, ?) ON CONFLICT (verifier)
  DO UPDATE SET size = excluded.size, note = excluded.note WHERE excluded.size > size"""


class EventLog:
    """An append-only log in one SQLite file. Its methods block: call them off the event loop."""

    def __init__(self, path: Path) -> None:
        self._store = EventStore(path)
        self._version = self._store.data_version()

    def append(self, events: Sequence[Recorded], request: Request | None = None) -> int:
        """Append all events and the request, or nothing. Answers the recorder id of the last event (0 for none).

        An ``EventErased`` takes the payload that it names with it, in the same transaction. Raises
        :class:`AlreadyRecorded` where a stream has moved on or the request's key was used.
        """
        named = [self.at(one.fact.position) for one in events if isinstance(one.fact, EventErased)]
        return self._store.put(events, request, [erased(event) for event in named if event])

    def at(self, position: int) -> Event | None:
        """The event at a position. Looks through the whole log: for rare questions."""
        found = self._events("ORDER BY rowid LIMIT 1 OFFSET ?", position - 1) if position > 0 else []
        return found[0].at(position) if found else None

    def erasures(self) -> int:
        """How many events have been erased: views that were made before the last one show what they must not."""
        return sum(isinstance(one.fact, EventErased) for one in self.load(["log"]).get("log", ()))

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
        found = self._store.rows(_REQUEST, principal, mutation, key)
        return Request(*found[0]) if found else None

    def latest(self) -> int:
        """The recorder id of the last committed event (0 for none)."""
        return int(self._store.rows("SELECT coalesce(max(rowid), 0) FROM stored_events")[0][0])

    def length(self) -> int:
        """How many events are committed: the position of the last one."""
        return int(self._store.rows("SELECT count(*) FROM stored_events")[0][0])

    def checkpoint(self, verifier: str) -> str | None:
        """The longest checkpoint that was given out under this verifier key."""
        found = self._store.rows("SELECT note FROM checkpoints WHERE verifier = ?", verifier)
        return str(found[0][0]) if found else None

    def publish(self, verifier: str, size: int, note: str) -> None:
        """Give out a checkpoint over ``size`` events, for the other hosts of this log; a longer one stays."""
        self._store.write(_PUBLISH, verifier, size, note)

    def changed(self) -> bool:
        """Whether any connection, of this process or another, has committed since the last call. Takes microseconds."""
        before, self._version = self._version, self._store.data_version()
        return self._version != before

    def close(self) -> None:
        """Close all connections, once nobody is at work with them."""
        self._store.close()

    def _events(self, condition: str, *values: object) -> list[Committed]:
        rows = self._store.rows(f"{_EVENTS} {condition}", *values)
        return [Committed(recorder_id, decode_state(*stored)) for recorder_id, *stored in rows]
