"""How often one voice may ask: token buckets in the memory of this process.

The currency is the request, counted before its body is read: the limits on cost and size bound what one may ask for, so
a client can tell beforehand what it may do. A request that writes is counted among the writes as well. A bucket holds a
minute's worth and fills evenly, so whoever has been silent for a minute may send all of it at once.
"""

from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from domain.errors import ErrorCode
from service.auth import Caller
from service.errors_out import Refused, refused
from service.settings import Settings

MAX_BUCKETS: Final = 20_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class Rate(msgspec.Struct, frozen=True):
    """At most ``limit`` of something in ``window_s`` seconds, on average."""

    name: str
    limit: int
    window_s: int = 60

    @property
    def window_us(self) -> int:
        """The window in microseconds."""
        return self.window_s * 1_000_000


class Standing(msgspec.Struct, frozen=True):
    """Where a voice stands. ``reset_us`` microseconds from ``at`` all of it is there again.

    ``wait_us`` is 0 where the request may go on, else the microseconds after which the next one may.
    """

    rate: Rate
    at: datetime
    remaining: int
    reset_us: int
    wait_us: int = 0

    @property
    def reset_at(self) -> datetime:
        """When all of it is there again."""
        return self.at + timedelta(microseconds=self.reset_us)

    @property
    def reset_s(self) -> int:
        """The same in whole seconds from now, rounded up."""
        return -(-self.reset_us // 1_000_000)

    @property
    def wait_s(self) -> int:
        """Whole seconds after which the next request may go on."""
        return -(-self.wait_us // 1_000_000)


class Buckets:
    """Token buckets by rate and voice, at most ``most`` of them: the ones that were asked for last stay.

    Each is one number, the moment at which it will be full (the generic cell rate algorithm, ITU-T I.371), counted in
    microseconds times the rate's limit: so every step is a whole number and the bound is exact.
    """

    def __init__(self, *, now: Callable[[], datetime], most: int = MAX_BUCKETS) -> None:
        self._now = now
        self._most = most
        self._full_at: OrderedDict[tuple[str, str], int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._full_at)

    def take(self, rate: Rate, voice: str) -> Standing:
        """Take one if there is one; else the standing says how long to wait, and nothing is taken."""
        at, now, full_at = self._read(rate, voice)
        taken = full_at + rate.window_us
        if (over := taken - now - rate.window_us * rate.limit) > 0:
            return _standing(rate, at, full_at - now, over)
        self._keep((rate.name, voice), taken)
        return _standing(rate, at, taken - now)

    def look(self, rate: Rate, voice: str) -> Standing:
        """Where the voice stands, without taking anything."""
        at, now, full_at = self._read(rate, voice)
        return _standing(rate, at, full_at - now)

    def _read(self, rate: Rate, voice: str) -> tuple[datetime, int, int]:
        at = self._now()
        now = (at - _EPOCH) // _MICROSECOND * rate.limit
        full_at = max(now, self._full_at.get((rate.name, voice), 0))
        # No bucket is emptier than empty: a clock that was set back must not shut anybody out for longer.
        return at, now, min(full_at, now + rate.window_us * rate.limit)

    def _keep(self, bucket: tuple[str, str], full_at: int) -> None:
        self._full_at[bucket] = full_at
        self._full_at.move_to_end(bucket)
        while len(self._full_at) > self._most:
            self._full_at.popitem(last=False)


def _standing(rate: Rate, at: datetime, missing: int, over: int = 0) -> Standing:
    """The standing of a bucket that is full after ``missing``, in microseconds times the limit."""
    remaining = (rate.window_us * rate.limit - missing) // rate.window_us
    return Standing(rate, at, remaining, -(-missing // rate.limit), -(-over // rate.limit))


class Rates:
    """How often callers may ask, by the settings: requests with a key and without one, and writes."""

    def __init__(self, settings: Settings, *, now: Callable[[], datetime]) -> None:
        self._buckets = Buckets(now=now)
        self._keyless = Rate("requests", settings.requests_per_minute)
        self._with_key = Rate("requests", settings.requests_per_minute_with_key)
        self._writes = Rate("writes", settings.writes_per_minute)

    def admit(self, caller: Caller) -> Standing:
        """Count a request. Raises :class:`Refused` (429) where there were too many."""
        return self._admit(self._of(caller), caller)

    def admit_write(self, caller: Caller) -> Standing:
        """Count a request that writes, which was counted as a request already. Raises :class:`Refused` (429)."""
        return self._admit(self._writes, caller)

    def standing(self, caller: Caller) -> Standing:
        """How many requests the caller has left."""
        return self._buckets.look(self._of(caller), caller.voice)

    def _of(self, caller: Caller) -> Rate:
        return self._with_key if caller.has_key else self._keyless

    def _admit(self, rate: Rate, caller: Caller) -> Standing:
        standing = self._buckets.take(rate, caller.voice)
        if standing.wait_us:
            raise _too_many(standing, with_key=caller.has_key)
        return standing


def rate_headers(*standings: Standing) -> dict[str, str]:
    """``RateLimit-Policy`` and ``RateLimit`` as in draft-ietf-httpapi-ratelimit-headers-10."""
    policies = (f'"{one.rate.name}";q={one.rate.limit};w={one.rate.window_s}' for one in standings)
    limits = (f'"{one.rate.name}";r={one.remaining};t={one.reset_s}' for one in standings)
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(limits)}


def _too_many(standing: Standing, *, with_key: bool) -> Refused:
    hint = "" if with_key else "; with a key you may ask more often"
    return refused(
        ErrorCode.RATE_LIMITED,
        f"more than {standing.rate.limit} {standing.rate.name} in {standing.rate.window_s} seconds",
        remedy=f"wait {standing.wait_s} seconds, as Retry-After says{hint}",
        headers={"Retry-After": str(standing.wait_s), **rate_headers(standing)},
    )
