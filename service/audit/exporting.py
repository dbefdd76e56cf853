"""The log as a file: one event a line, the very bytes whose digest is its leaf."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import msgspec

from domain.audit.findings import Tampered, Tampering
from domain.audit.leaves import digest_bytes
from domain.events import Committed, Recorded, UnknownEventType, export_line, read_export_line
from domain.facts import Erased
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


def read_exported(path: Path) -> Iterator[tuple[Recorded, bytes]]:
    """The events of an exported log and the digest of each (32 bytes), in the order of its lines.

    Raises :class:`Tampered` for a line that is none.
    """
    with path.open("rb") as file:
        position = 0
        while line := file.readline(MAX_LINE):
            position += 1
            yield _event(line, position)


def _event(line: bytes, position: int) -> tuple[Recorded, bytes]:
    if not line.endswith(b"\n"):
        raise _not_an_event(position, "it breaks off")
    canonical = line[:-1]
    try:
        recorded = read_export_line(canonical)
    except UnknownEventType:
        raise
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _not_an_event(position, str(error)) from None
    event = Committed(0, recorded).at(position)
    if export_line(event) != canonical:
        raise _not_an_event(position, "it is not in canonical form")
    erased = isinstance(event.fact, Erased)
    return recorded, digest_bytes(event) if erased else sha256(canonical).digest()


def _not_an_event(position: int, why: str) -> Tampered:
    return Tampered(Tampering.NOT_AN_EVENT, f"line {position} is no event: {why}", position)
