"""The log as a file: one event a line, the very bytes whose digest is its leaf."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from domain.audit.findings import Tampered, Tampering
from domain.events import Committed, Recorded, UnknownEventType, export_line, read_export_line
from service.event_log import EventLog

BATCH = 1000
MAX_LINE = 64 * 1024 * 1024


def exported(log: EventLog, until: int | None = None) -> Iterator[bytes]:
    """The lines of the log, each with its line feed, up to a position or as far as the log reaches now."""
    position, last, end = 0, 0, log.latest()
    while last < end and (batch := log.read(last, BATCH)):
        for one in batch:
            if one.recorder_id > end or position == until:
                return
            position, last = position + 1, one.recorder_id
            yield export_line(one.at(position)) + b"\n"


def read_exported(path: Path) -> Iterator[Recorded]:
    """The events of an exported log, in the order of its lines. Raises :class:`Tampered` for a line that is none."""
    with path.open("rb") as file:
        position = 0
        while line := file.readline(MAX_LINE):
            position += 1
            yield _event(line, position)


def _event(line: bytes, position: int) -> Recorded:
    if not line.endswith(b"\n"):
        raise _not_an_event(position, "it breaks off")
    try:
        event = read_export_line(line[:-1])
    except UnknownEventType:
        raise
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _not_an_event(position, str(error)) from None
    if export_line(Committed(0, event).at(position)) != line[:-1]:
        raise _not_an_event(position, "it is not in canonical form")
    return event


def _not_an_event(position: int, why: str) -> Tampered:
    return Tampered(Tampering.NOT_AN_EVENT, f"line {position} is no event: {why}", position)
