"""WebSockets as uvicorn speaks them, with bounds on what is kept for a peer that does not read.

uvicorn's own protocol waits for ever until such a peer has taken what was written, even to close the connection.
"""

import socket
from asyncio import TimerHandle
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from service.http.lifetimes import ABORT

SEND_BUFFER_BYTES: Final = 128 * 1024
"""In the system, beside the 64 KiB of asyncio: left to itself it grows to megabytes for each peer."""
LINGER_S: Final = 5.0


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """Lets the application cut the connection, and cuts what is not closed soon after it should have been."""

    _linger: TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Bound what the system keeps."""
        super().connection_made(transport)
        bound_sending(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to cut any more."""
        if self._linger:
            self._linger.cancel()
        super().connection_lost(exc)

    def keepalive_timeout(self) -> None:
        """The peer answers no ping."""
        super().keepalive_timeout()
        self._cut_soon()

    def shutdown(self) -> None:
        """The server stops."""
        super().shutdown()
        self._cut_soon()

    async def run_asgi(self) -> None:
        """Run the application."""
        self.scope[ABORT] = self.transport.abort  # type: ignore[literal-required]
        try:
            await super().run_asgi()
        finally:
            self._cut_soon()

    def _cut_soon(self) -> None:
        if self._linger is None and not self.disconnected:
            self._linger = self.loop.call_later(self.close_timeout + LINGER_S, self.transport.abort)


def bound_sending(transport: Any) -> None:
    """Bound how much of what is sent the system keeps until the peer takes it."""
    found = transport.get_extra_info("socket")
    if found is not None and found.family in (socket.AF_INET, socket.AF_INET6):
        found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
