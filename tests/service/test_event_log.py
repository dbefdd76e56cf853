"""The log: whole saves or nothing, one winner per version, requests with their events, whoever else writes."""

import multiprocessing
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from domain.events import Recorded
from domain.facts import AliasClaimed
from service.event_log import EventLog
from service.event_store import AlreadyRecorded, Request
from tests.examples import FACTS, recorded

REQUEST = Request("local", "ingest", "key-1", f"sha256:{'0' * 64}", "r1", b"[]")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    """An empty log."""
    opened = EventLog(tmp_path / "log.db")
    yield opened
    opened.close()


def claims(*aliases: str, request: str = "r1") -> list[Recorded]:
    """A save of alias claims."""
    return recorded(*(AliasClaimed(alias=alias, target="x") for alias in aliases), request=request)


def read_all(log: EventLog) -> list[Recorded]:
    """Everything that the log holds, in its order."""
    return [one.recorded for one in log.read(0, 10_000)]


def test_what_was_appended_is_read_back_in_order(log: EventLog) -> None:
    events = recorded(*FACTS)
    last = log.append(events)
    assert [type(one.fact).__name__ for one in read_all(log)] == [type(fact).__name__ for fact in FACTS]
    assert log.latest() == last
    assert log.read(last, 10) == []


def test_streams_are_loaded_with_their_own_history_only(log: EventLog) -> None:
    log.append(claims("a", "b"))
    loaded = log.load(["alias/a", "alias/never"])
    assert [one.originator_id for one in loaded["alias/a"]] == ["alias/a"]
    assert "alias/never" not in loaded


def test_the_stored_form_names_events_plainly(log: EventLog, tmp_path: Path) -> None:
    """The file outlives this program: any SQLite and any JSON reader must do."""
    log.append(claims("a"))
    with sqlite3.connect(tmp_path / "log.db") as db:
        [row] = db.execute("SELECT originator_id, originator_version, topic, state FROM stored_events").fetchall()
    assert row[:3] == ("alias/a", 1, "AliasClaimed")
    assert row[3].startswith(b'{"actor":"local","cause":{"index":1,"of":1,"request":"r1"},"data":{"alias":"a",')


def test_a_save_that_meets_another_one_leaves_nothing_of_itself(log: EventLog) -> None:
    log.append(claims("a"))
    with pytest.raises(AlreadyRecorded):
        log.append(claims("b", "a"))
    assert [one.originator_id for one in read_all(log)] == ["alias/a"]


def test_a_request_stands_or_falls_with_its_events(log: EventLog) -> None:
    log.append(claims("a"))
    with pytest.raises(AlreadyRecorded):
        log.append(claims("b", "a"), REQUEST)
    assert log.request("local", "ingest", "key-1") is None
    log.append(claims("b"), REQUEST)
    assert log.request("local", "ingest", "key-1") == REQUEST


def test_a_key_is_used_once(log: EventLog) -> None:
    log.append(claims("a"), REQUEST)
    with pytest.raises(AlreadyRecorded):
        log.append(claims("b"), REQUEST)
    assert [one.originator_id for one in read_all(log)] == ["alias/a"]


def test_a_request_without_events_is_kept_too(log: EventLog) -> None:
    assert log.append([], REQUEST) == 0
    assert log.request("local", "ingest", "key-1") == REQUEST


def test_writes_of_others_are_noticed(log: EventLog, tmp_path: Path) -> None:
    assert not log.changed()
    other = EventLog(tmp_path / "log.db")
    other.append(claims("a"))
    other.close()
    assert log.changed()
    assert not log.changed()


def _append_many(path: Path, name: str, saves: int) -> None:
    log = EventLog(path)
    for number in range(saves):
        log.append(claims(*(f"{name}-{number}-{index}" for index in range(3)), request=f"{name}-{number}"))
    log.close()


def test_processes_that_write_at_once_lose_nothing_and_split_no_save(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    EventLog(path).close()
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append_many, args=(path, name, 40)) for name in ("one", "two", "three")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    log = EventLog(path)
    events = read_all(log)
    log.close()
    assert len(events) == 3 * 40 * 3
    saves = [events[index : index + 3] for index in range(0, len(events), 3)]
    assert all(len({event.cause.request for event in save}) == 1 for save in saves)
    assert all([event.cause.index for event in save] == [1, 2, 3] for save in saves)
