"""The file ``keys.db``, and the server's secret under which everything in it is hashed."""

import hmac
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from domain.errors import InvalidInput
from service.data_folder import PRIVATE, alone, make_private

BUSY_TIMEOUT_S: Final = 10
SECRET_BYTES: Final = 32

_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS keys (
      id TEXT PRIMARY KEY, principal TEXT NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL, sources TEXT,
      created_at TEXT NOT NULL, expires_at TEXT, revoked_at TEXT, mac BLOB NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS uses (
      day TEXT NOT NULL, limited TEXT NOT NULL, voice BLOB NOT NULL, request BLOB NOT NULL,
      PRIMARY KEY (day, limited, voice, request)
    ) WITHOUT ROWID""",
)


class KeyDatabase:
    """Hashes under the server's secret, and the file that holds them. It blocks, but for :meth:`look`.

    ``look`` reads on a connection of its own: microseconds, and it sees what any process has committed.
    """

    def __init__(self, folder: Path, secret: str | None = None) -> None:
        self._path = folder / "keys.db"
        with alone(folder):
            self._secret = secret.encode() if secret is not None else _kept_secret(folder / "keys.secret")
            make_private(self._path)
            self._prepare()
        self._reader = self._connect("ro")

    def mac(self, *parts: str) -> bytes:
        """The HMAC-SHA-256 of these texts, of which none may hold a line feed."""
        return hmac.digest(self._secret, "\n".join(parts).encode(), "sha256")

    def look(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a point look-up."""
        return self._reader.execute(query, values).fetchall()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction that nobody else writes beside; undone where the block raises."""
        db = self._connect("rw")
        try:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
        finally:
            db.close()

    def close(self) -> None:
        """Close the connection that reads."""
        self._reader.close()

    def _prepare(self) -> None:
        db = self._connect("rw")
        db.execute("PRAGMA journal_mode = WAL")
        db.close()
        check = self.mac("this is the secret of keys.db")
        with self.write() as db:
            for statement in _TABLES:
                db.execute(statement)
            db.execute("INSERT OR IGNORE INTO about VALUES ('secret', ?)", (check,))
            (known,) = db.execute("SELECT value FROM about WHERE name = 'secret'").fetchone()
        if not hmac.compare_digest(known, check):
            # Else every key would be unknown, and nobody could tell why.
            raise InvalidInput.because(
                "keys.db was made under another secret",
                remedy="give that secret back (KERNELINDEX_KEY_SECRET, or the file keys.secret), or move keys.db away"
                " and make new keys",
            )

    def _connect(self, mode: str) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self._path.absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_TIMEOUT_S,
        )


def _kept_secret(path: Path) -> bytes:
    """The secret in the file, made on first use. The data folder is held meanwhile, so nobody makes another."""
    if not path.exists():
        # Written aside and renamed: a crash must not leave half a secret that later keys are hashed under.
        unfinished = path.with_suffix(".new")
        descriptor = os.open(unfinished, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, PRIVATE)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(path)
    return path.read_text(encoding="ascii").strip().encode()
