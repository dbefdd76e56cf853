"""What one voice may do so often a day: a principal by its id, somebody without a key by the address.

Uses are counted in ``keys.db``, so that they outlive a restart and every process of this host counts together. Voices
and requests are hashed with the day, and days that are over are deleted: no address is written down, and none can be
followed from one day to the next.
"""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from math import ceil
from typing import Final

import msgspec

from domain.errors import RateLimited
from service.keys.database import KeyDatabase


class DailyLimit(msgspec.Struct, frozen=True):
    """How many of something one voice may do in a UTC day; ``what`` is the plural in messages."""

    what: str
    most: int


ATTESTATIONS: Final = DailyLimit("attestations", 20)
ISSUES: Final = DailyLimit("issues", 5)


class Use(msgspec.Struct, frozen=True):
    """One use of a limit. ``fresh`` is false where a request under this idempotency key had taken it before."""

    limit: DailyLimit
    day: str
    voice: bytes
    request: bytes
    fresh: bool


class DailyLimits:
    """Counts uses. Its methods block for a commit: call them off the event loop."""

    def __init__(self, database: KeyDatabase, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def take(self, limit: DailyLimit, voice: str, idempotency_key: str) -> Use:
        """Use the limit once. A retry under the same idempotency key is the same use.

        Raises :class:`RateLimited` where the voice has none left today. Whoever then writes nothing gives the use back.
        """
        now = self._now().astimezone(UTC)
        day = now.date().isoformat()
        hashed = self._database.mac("voice", day, limit.what, voice)
        request = self._database.mac("request", day, limit.what, voice, repr(idempotency_key))
        with self._database.write() as db:
            db.execute("DELETE FROM uses WHERE day < ?", (day,))
            of_voice = (day, limit.what, hashed)
            known = db.execute(
                "SELECT count(*), total(request = ?) FROM uses WHERE day = ? AND limited = ? AND voice = ?",
                (request, *of_voice),
            ).fetchone()
            fresh = not known[1]
            if fresh and known[0] < limit.most:
                db.execute("INSERT INTO uses VALUES (?,?,?,?)", (*of_voice, request))
        if fresh and known[0] >= limit.most:
            raise _exhausted(limit, now)
        return Use(limit, day, hashed, request, fresh)

    def give_back(self, use: Use) -> None:
        """The request came to nothing. What an earlier request under the same key used stays used."""
        if use.fresh:
            with self._database.write() as db:
                db.execute(
                    "DELETE FROM uses WHERE day = ? AND limited = ? AND voice = ? AND request = ?",
                    (use.day, use.limit.what, use.voice, use.request),
                )

    def left(self, limit: DailyLimit, voice: str) -> int:
        """How many the voice has left today."""
        day = self._now().astimezone(UTC).date().isoformat()
        hashed = self._database.mac("voice", day, limit.what, voice)
        used = self._database.look(
            "SELECT 1 FROM uses WHERE day = ? AND limited = ? AND voice = ?", day, limit.what, hashed
        )
        return max(0, limit.most - len(used))


def _exhausted(limit: DailyLimit, now: datetime) -> RateLimited:
    tomorrow = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
    return RateLimited.because(
        f"{limit.most} {limit.what} are the most for one day",
        remedy=f"go on at {tomorrow:%Y-%m-%dT%H:%M:%SZ}, in {ceil((tomorrow - now).total_seconds() / 60)} minutes",
    )
