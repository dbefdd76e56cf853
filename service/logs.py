"""Logs: one JSON object a line on standard error, with the id of the request, without the values of variables."""

import logging
import sys

import structlog
from structlog.processors import ExceptionRenderer, JSONRenderer, TimeStamper, add_log_level
from structlog.tracebacks import ExceptionDictTransformer


def configure_logs() -> None:
    """Set up the logs of a server."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            add_log_level,
            TimeStamper(fmt="iso", utc=True),
            # A frame's variables may hold a key.
            ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
            JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
