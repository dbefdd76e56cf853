"""The data folder: held by one process at a time while files are made in it, and private files."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from domain.errors import NotFound

PRIVATE: Final = 0o600


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the data folder's lock: SQLite can't have two processes make the same file at the same moment."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def write_whole(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a file aside and rename it: after a crash there is the old text or the new one, never half of it."""
    unfinished = path.with_name(path.name + ".new")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def require_log(folder: Path) -> Path:
    """The log in the data folder. Raises :class:`NotFound` where there is none: looking makes no index."""
    path = folder / "log.db"
    if not path.exists():
        raise NotFound.because(
            f"there is no index in {folder}",
            remedy="import something first, or name its folder in KERNELINDEX_DATA_DIR",
        )
    return path


def make_private(path: Path) -> None:
    """Make an empty file that only its owner can read, unless there is one. SQLite's side files take its mode."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, PRIVATE))
