"""Who acts. Principals are opaque ids in the log; names and keys live outside it."""

import msgspec


class Principal(msgspec.Struct, frozen=True):
    """Somebody who may act. ``sources`` are the slugs of the sources it may write for; None means all of them."""

    id: str
    sources: frozenset[str] | None = frozenset()

    def may_write_for(self, source: str) -> bool:
        """Whether records of that source may come from this principal. Everybody may speak for oneself."""
        return self.sources is None or source in self.sources or source == self.id


LOCAL = Principal(id="local", sources=None)
"""The person at the machine that holds the log."""
