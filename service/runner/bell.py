"""Hearing of requests as they are made, so that a runner need not look for them all the time."""

import os
import select
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final, Protocol, Self

import httpx

from domain.errors import KernelIndexError
from service.logs import Log
from service.remote_stream import follow
from service.runner.stopping import HasFileno

QUERY: Final = """
subscription Requests($filter: RerunFilter) {
  rerunRequests(filter: $filter) { __typename ... on LogMessage { cursor } }
}
"""
RINGING: Final = ("RerunChange", "CaughtUp", "Lagged")
"""``CaughtUp`` too: what was asked for between the last look and the beginning of the subscription is there by then."""

_logger = Log("runner")


class Ringing(Protocol):
    """A bell."""

    def files(self) -> Sequence[HasFileno]:
        """What is readable once it has rung."""

    def clear(self) -> None:
        """Forget that it has rung."""


class Silence:
    """No bell."""

    def files(self) -> Sequence[HasFileno]:
        """Nothing."""
        return ()

    def clear(self) -> None:
        """Nothing."""


class _Ended(Exception):
    """Nobody waits for the bell any more."""


class Bell:
    """Rings when the index at ``server`` has an open request for this hardware.

    It can be waited for as a file. One that can't be hung up is silent: whoever waits for it should look by himself
    every now and then, as is needed anyway where a lease runs out.
    """

    def __init__(self, server: str, key: str | None, hardware: str) -> None:
        self._hardware = hardware
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.Client(base_url=server.rstrip("/"), headers=headers)
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)
        self._ended = threading.Event()
        self._lock, self._users = threading.Lock(), 2
        self._thread = threading.Thread(target=self._listen, name="bell", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The thread may be waiting for the index, and ends with that or with the process.
        self._ended.set()
        self._let_go()

    def fileno(self) -> int:
        """The pipe that it writes to when it rings."""
        return self._reading

    def files(self) -> Sequence[HasFileno]:
        """Itself."""
        return (self,)

    def clear(self) -> None:
        """Forget that it has rung."""
        while select.select([self._reading], [], [], 0)[0]:
            os.read(self._reading, 4096)

    def _listen(self) -> None:
        given = {"filter": {"state": "OPEN", "hardware": self._hardware}}
        try:
            for message in follow(self._http, QUERY, given, cursor=None, pause=self._pause):
                if self._ended.is_set():
                    return
                if message.doc["__typename"] in RINGING:
                    self._ring()
        except KernelIndexError as error:
            _logger.warning("not told of requests, looking for them instead", error=str(error))
        except _Ended:
            pass
        finally:
            self._http.close()
            self._let_go()

    def _let_go(self) -> None:
        """Close the pipe, once neither the thread nor who waits for it needs it: the last of both does."""
        with self._lock:
            self._users -= 1
            if not self._users:
                os.close(self._reading)
                os.close(self._writing)

    def _ring(self) -> None:
        with suppress(BlockingIOError):  # it has been ringing for long
            os.write(self._writing, b".")

    def _pause(self, seconds: float, reason: str) -> None:
        _logger.info("not told of requests for a while", reason=reason)
        if self._ended.wait(seconds):
            raise _Ended
