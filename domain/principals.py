"""Who acts. Principals are opaque ids in the log; names and keys live outside it."""

from enum import StrEnum
from typing import Final

import msgspec


class Scope(StrEnum):
    """What a key may be used for. None of them includes another."""

    INGEST = "ingest"
    ATTEST = "attest"
    RERUN = "rerun"
    MODERATE = "moderate"
    ADMIN = "admin"


class Principal(msgspec.Struct, frozen=True):
    """Somebody who acts, with what the key in use allows.

    ``sources`` are the slugs of the sources that it may write for; None means all of them.
    """

    id: str
    scopes: frozenset[Scope] = frozenset()
    sources: frozenset[str] | None = frozenset()

    def may_write_for(self, source: str) -> bool:
        """Whether records of that source may come from this principal.

        Being named like a source is no permission: whoever makes keys chooses the names of principals.
        """
        return self.sources is None or source in self.sources


LOCAL: Final = Principal(id="local", scopes=frozenset(Scope), sources=None)
"""The person at the machine that holds the log: may do everything."""
