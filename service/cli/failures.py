"""What a failure says to the person at the terminal."""

import sqlite3

from domain.errors import KernelIndexError
from domain.events import DamagedEvent, UnknownEventType
from projections.saves import UnknownPolicy
from service.event_store import LogUnusable


def lines_of(error: Exception) -> list[str]:
    """One line for each problem, or none for an error that nobody foresaw."""
    match error:
        case KernelIndexError():
            return [f"error: {problem}" for problem in error.problems]
        case DamagedEvent() | LogUnusable() | UnknownEventType() | UnknownPolicy():
            return [f"error: {error}"]
        case sqlite3.Error():
            return [f"error: the data folder can't be used: {error}"]
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            return [f"error: {where}{error.strerror or error}"]
        case _:
            return []
