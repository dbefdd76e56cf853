"""How long connections live that are answered on for as long as they like."""

import asyncio

import msgspec
from starlette.types import Scope

from service.auth import Caller
from service.keys import KeyStore

ABORT = "kernelindex.abort"
"""The member of a scope with which the server's protocols let a connection be cut, whatever is still to be sent."""


class Lifetimes(msgspec.Struct, frozen=True):
    """In seconds. ``check`` is how often keys and the other times are looked at."""

    init: float = 5.0  # from the opening of a socket to its connection_init
    check: float = 5.0
    keep_alive: float = 15.0  # between signs of life of a quiet stream
    stuck: float = 30.0  # without the other end taking anything of what is sent
    idle: float = 600.0  # of a socket without operations
    whole: float = 86_400.0


class Pace:
    """Whether the other end takes what it is sent."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting = 0
        self._since = self._loop.time()

    def __enter__(self) -> None:
        if not self._waiting:
            self._since = self._loop.time()
        self._waiting += 1

    def __exit__(self, *_: object) -> None:
        self._waiting -= 1
        self._since = self._loop.time()

    @property
    def quiet_s(self) -> float:
        """Seconds since something was sent, or began to be."""
        return self._loop.time() - self._since

    def is_stuck(self, seconds: float) -> bool:
        """Whether it has taken nothing for so long of what it is sent."""
        return bool(self._waiting) and self.quiet_s > seconds


def is_denied(keys: KeyStore, caller: Caller) -> bool:
    """Whether the key that a connection was opened with is not taken any more."""
    return caller.key is not None and keys.denial(caller.key.id) is not None


def cut(scope: Scope) -> None:
    """Cut a connection: who does not read would keep it open for ever."""
    if abort := scope.get(ABORT):
        abort()
