"""Logs on standard error, through the standard library's ``logging``.

A server writes one JSON object a line, with the id of the request and without the values of variables; a command writes
a line for people.
"""

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from itertools import islice
from traceback import walk_tb
from typing import Any, Final

NAME: Final = "kernelindex"
MAX_FRAMES: Final = 50  # of each failure, the innermost
MAX_CAUSES: Final = 10

_request_id: ContextVar[str] = ContextVar("request_id", default="")


class Log:
    """Where a module tells what happened: an event in a few words, and what it was about as fields."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(f"{NAME}.{name}")

    def debug(self, event: str, **fields: Any) -> None:
        """What matters to whoever mends this program."""
        self._tell(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: Any) -> None:
        """What went as it should."""
        self._tell(logging.INFO, event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        """What an operator should know."""
        self._tell(logging.WARNING, event, fields)

    def error(self, event: str, *, failure: BaseException | None = None, **fields: Any) -> None:
        """What an operator must look at, with the failure that it came from."""
        self._tell(logging.ERROR, event, fields, failure)

    def exception(self, event: str, **fields: Any) -> None:
        """The same, with the failure that is handled where this is called."""
        self._tell(logging.ERROR, event, fields, sys.exception())

    def _tell(self, level: int, event: str, fields: Mapping[str, Any], failure: BaseException | None = None) -> None:
        if self._logger.isEnabledFor(level):
            told = {"request_id": found, **fields} if (found := _request_id.get()) else fields
            # The event is not a template: it may hold a percent sign.
            self._logger.log(level, "%s", event, exc_info=failure, extra={"fields": told}, stacklevel=3)


@contextmanager
def logged_under(request_id: str) -> Iterator[None]:
    """Whatever is logged within is logged with the id of this request."""
    token = _request_id.set(request_id)
    try:
        yield
    finally:
        _request_id.reset(token)


def request_id() -> str:
    """The id of the request at hand, empty outside of one."""
    return _request_id.get()


def configure_logs() -> None:
    """Set up the logs of a server."""
    _write(_Json(), logging.INFO)


def quiet_logs() -> None:
    """Set up the logs of a command: off standard output, where results are, and quiet but for warnings."""
    _write(_Words(), logging.WARNING)


def _write(form: logging.Formatter, level: int) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(form)
    logger = logging.getLogger(NAME)
    logger.handlers = [handler]
    logger.setLevel(level)


def fields_of(record: logging.LogRecord) -> Mapping[str, Any]:
    """What a record of ours is about; nothing of one by others."""
    fields: Mapping[str, Any] = getattr(record, "fields", {})
    return fields


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            **fields_of(record),
            "level": record.levelname.lower(),
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z"),
            "event": record.getMessage(),
        }
        if record.exc_info and record.exc_info[1]:
            line["exception"] = list(islice(_told(record.exc_info[1]), MAX_CAUSES))
        return json.dumps(line, default=str)


class _Words(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        about = "".join(f" {name}={value!r}" for name, value in fields_of(record).items())
        told = f"{record.levelname.lower()}: {record.getMessage()}{about}"
        return f"{told}\n{self.formatException(record.exc_info)}" if record.exc_info else told


def _told(failure: BaseException | None) -> Iterator[dict[str, Any]]:
    """A failure and what led to it. No values of variables: a frame's may hold a key."""
    while failure is not None:
        frames = [
            {"filename": frame.f_code.co_filename, "lineno": line, "name": frame.f_code.co_name}
            for frame, line in walk_tb(failure.__traceback__)
        ]
        yield {"exc_type": type(failure).__name__, "exc_value": str(failure), "frames": frames[-MAX_FRAMES:]}
        failure = failure.__cause__ or (None if failure.__suppress_context__ else failure.__context__)
