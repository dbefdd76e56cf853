"""What is logged meanwhile, as a test can look at it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from service.logs import NAME, fields_of


@contextmanager
def logged() -> Iterator[list[dict[str, Any]]]:
    """The fields of each event of ours, with its ``event``, its ``level`` and the ``failure`` that it came from."""
    lines: list[dict[str, Any]] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            failure = record.exc_info[1] if record.exc_info else None
            about = {"event": record.getMessage(), "level": record.levelname.lower(), "failure": failure}
            lines.append({**fields_of(record), **about})

    logger, keeping = logging.getLogger(NAME), Keeping()
    before = logger.level
    logger.addHandler(keeping)
    logger.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        logger.setLevel(before)
        logger.removeHandler(keeping)
