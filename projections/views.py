"""The views: one SQLite file that holds all read models, and the position that they reflect.

It is written in whole saves, each with the position in the same transaction. It can be thrown away: the log has
everything. Several processes may write it; whoever comes second finds the work done.
"""

import asyncio
import re
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Self, TypeVar

import aiosqlite

from domain.events import Committed, Event
from projections import saves
from projections.registry import ABSORBERS, CONCLUSIONS, HANDLERS, READ_MODELS, fingerprint
from projections.saves import Save

BUSY_TIMEOUT_S: Final = 30
STEPS: Final = 50_000  # of SQLite's virtual machine, about a millisecond, after which a query looks up from its work
SHORT_STEPS: Final = 25_000  # half a millisecond: the event loop may wait so long
T = TypeVar("T")


def never() -> bool:
    """Whoever asks waits for the answer."""
    return False


class Abandoned(asyncio.CancelledError):
    """Nobody waits for the answer of this query any more."""


class _Connection(aiosqlite.Connection):
    """An aiosqlite connection that can do a piece of work in its thread at once: a hop per statement costs 0.1 ms."""

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        result: T = await self._execute(work, self._conn)  # type: ignore[no-untyped-call]
        return result


class Views:
    """Read models in a file. ``write`` and ``read`` work in threads; ``peek`` is for look-ups of microseconds."""

    def __init__(
        self, path: Path, generation: int, writer: _Connection, reader: _Connection, peeker: sqlite3.Connection
    ) -> None:
        self.path = path
        self.generation = generation
        self._writer = writer
        self._reader = reader
        self._peeker = peeker
        self._opened = _identity(path)

    @classmethod
    async def open(cls, folder: Path, generation: int = 0) -> Self:
        """Open the views in this folder, empty ones where this release's are not there yet.

        ``generation`` is the number of erasures that the log knows: views of an earlier one show what is erased.
        """
        path = path_in(folder, generation)
        writer = _Connection(lambda: open_writer(path), iter_chunk_size=64)
        await writer
        reader = _Connection(lambda: _connect(path), iter_chunk_size=64)
        await reader
        return cls(path, generation, writer, reader, _connect(path))

    async def beside(self, generation: int) -> Self:
        """Views of another generation, in the same folder."""
        return await self.open(self.path.parent, generation)

    async def become(self, other: Self) -> None:
        """Show what ``other`` shows from now on, whoever holds these views; delete all views of before."""
        before = (self._writer, self._reader, self._peeker)
        self.path, self.generation, self._opened = other.path, other.generation, other._opened
        self._writer, self._reader, self._peeker = other._writer, other._reader, other._peeker
        before[2].close()
        await before[1].close()
        await before[0].close()
        self.delete_older()

    def delete_older(self) -> None:
        """Delete all other views in the folder, of other releases too: they show what was erased since they were made.

        Views of a later generation, which another process is making, are left.
        """
        later = re.compile(rf"views-{fingerprint()}-([0-9]+)\.db")
        for path in self.path.parent.glob("views-*.db"):
            found = later.fullmatch(path.name)
            if path != self.path and not (found and int(found[1]) > self.generation):
                delete(path)

    def replaced(self) -> bool:
        """Whether another file was put in the place of the one that is open here. Takes microseconds."""
        try:
            return _identity(self.path) != self._opened
        except FileNotFoundError:
            return False

    async def discard(self) -> None:
        """Close them and delete their file: they show another log, or can't be read."""
        await self.close()
        delete(self.path)

    async def apply(self, after: Save, committed: Sequence[Committed]) -> Save:
        """Apply whole saves that follow ``after``. Answers where the views stand then.

        Where another process was faster, nothing is applied and the answer is where that one has come.
        """
        return await self._writer.run(lambda db: apply(db, after, committed))

    async def read(self, query: Callable[[sqlite3.Connection], T], given_up: Callable[[], bool] = never) -> T:
        """Run a query that only reads: here and now if it is a short one, else in the reader's thread.

        Which it is shows when it runs: what takes more than a moment is broken off and begun again in the thread. (A
        hop to a thread and back takes longer than most queries, more so while the event loop is busy.)

        Raises :class:`Abandoned` once ``given_up()``, which that thread asks every now and then: an answer that nobody
        waits for any more must not keep others waiting.
        """
        self._peeker.set_progress_handler(lambda: 1, SHORT_STEPS)
        try:
            return query(self._peeker)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
        finally:
            self._peeker.set_progress_handler(None, 0)
        return await self._reader.run(lambda db: _run(db, query, given_up))

    def peek(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query here and now: only for point look-ups."""
        return query(self._peeker)

    async def close(self) -> None:
        """Close all connections."""
        self._peeker.close()
        await self._reader.close()
        await self._writer.close()


def _run(db: sqlite3.Connection, query: Callable[[sqlite3.Connection], T], given_up: Callable[[], bool]) -> T:
    if given_up():
        raise Abandoned
    db.set_progress_handler(lambda: int(given_up()), STEPS)
    try:
        return query(db)
    except sqlite3.OperationalError:
        if given_up():
            raise Abandoned from None
        raise
    finally:
        db.set_progress_handler(None, 0)


def path_in(folder: Path, generation: int = 0) -> Path:
    """The file of this release's views in a folder."""
    return folder / f"views-{fingerprint()}{f'-{generation}' if generation else ''}.db"


def delete(path: Path) -> None:
    """Delete views with all their files. Whoever has them open keeps them until they are closed."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def replace(path: Path, target: Path) -> None:
    """Put closed views in the place of others. Whoever has those open keeps them until they are closed."""
    db = _connect(path, writes=True)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    # The side files of the old ones first: they must not be taken for those of the new.
    delete(target)
    path.rename(target)


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that reads the views in this file."""
    return _connect(path)


def open_writer(path: Path) -> sqlite3.Connection:
    """A connection that may write views to this file, empty ones where there are none: for :func:`apply`."""
    db = _connect(path, writes=True)
    db.execute("BEGIN IMMEDIATE")
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'saves'").fetchone():
        for model in READ_MODELS:
            for statement in model.ddl.split(";"):
                db.execute(statement)
    db.execute("COMMIT")
    return db


def apply(db: sqlite3.Connection, after: Save, committed: Sequence[Committed]) -> Save:
    """Apply whole saves in one transaction."""
    db.execute("BEGIN IMMEDIATE")
    try:
        head = saves.head(db)
        if head != after:
            db.execute("ROLLBACK")
            return head
        concluded, save = head.position, list[tuple[Event, int]]()
        for position, one in enumerate(committed, head.position + 1):
            event = one.at(position)
            save.append((event, one.recorder_id))
            for handle in HANDLERS.get(type(event.fact), ()):
                handle(db, event, event.fact)
            if event.cause.ends_save:
                saves.record_save(db, event, one.recorder_id)
                for conclude in CONCLUSIONS:
                    conclude(db, concluded, position)
                for absorb in ABSORBERS:
                    absorb(db, save)
                concluded, save = position, []
        head = saves.head(db)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return head


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def _connect(path: Path, *, writes: bool = False) -> sqlite3.Connection:
    mode = "rwc" if writes else "ro"
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=BUSY_TIMEOUT_S,
        cached_statements=512,
    )
    if writes:
        # The log can rebuild whatever a power cut takes from here, so commits need not wait for the disk.
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        # A rebuild writes every page of an index many times; with these it writes it to disk less often.
        db.execute("PRAGMA cache_size = -16384")
        db.execute("PRAGMA wal_autocheckpoint = 4000")
    else:
        db.execute("PRAGMA query_only = ON")
        # What is asked for most is found without asking the system for it.
        db.execute("PRAGMA cache_size = -8192")
    return db
