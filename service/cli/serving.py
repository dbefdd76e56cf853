"""``kernelindex serve``, and what it shares with ``demo``."""

import asyncio
import errno
import signal
import socket
from dataclasses import replace
from typing import Any

import uvicorn
from starlette.applications import Starlette

from domain.errors import ErrorCode, InvalidInput
from service.app import open_index
from service.http.protocol import BoundedProtocol
from service.http.socket_protocol import BoundedWebSocket
from service.logs import configure_logs
from service.memory import search_garbage_less
from service.settings import Settings
from service.web import WRITER_BODY, create_app

BACKLOG = 2048
MAX_PORT = 65_535
GRACE_S = 10


def serve(*, host: str | None = None, port: int | None = None) -> int:
    """Serve the index over HTTP until SIGTERM or Ctrl-C.

    Parameters
    ----------
    host
        The address to serve on; by default KERNELINDEX_HOST, else 127.0.0.1.
    port
        The port to serve on; by default KERNELINDEX_PORT, else 8000. 0 takes a free one.
    """
    settings = with_address(Settings(), host, port)
    with listen(settings) as listener:
        settings = with_address(settings, None, listener.getsockname()[1])
        asyncio.run(_try_to_open(settings))
        greeting = f"Serving {settings.data_dir} at {settings.public_url} (Ctrl-C stops it)"
        return run(create_app(settings), listener, greeting, settings.trusted_proxies)


def with_address(settings: Settings, host: str | None, port: int | None) -> Settings:
    """The settings with the address that the command line names."""
    if port is not None and not 0 <= port <= MAX_PORT:
        raise InvalidInput.because(f"{port} is not a port", path="--port", remedy=f"take one from 0 to {MAX_PORT}")
    given: dict[str, Any] = {"host": host, "port": port}
    return replace(settings, **{name: value for name, value in given.items() if value is not None})


def listen(settings: Settings) -> socket.socket:
    """A socket that listens where the settings say. Raises :class:`InvalidInput` where it can't."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise _not_there(settings, error) from None
    return listener


def run(app: Starlette, listener: socket.socket, greeting: str, trusted_proxies: str = "") -> int:
    """Print the greeting and serve the application on a socket that listens. Answers the exit status.

    Only ``trusted_proxies`` may say for whom they ask: uvicorn by itself believes any process of this machine.
    """
    configure_logs()
    search_garbage_less()
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws=BoundedWebSocket,
        ws_max_size=WRITER_BODY,
        ws_per_message_deflate=False,
        log_level="warning",
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=GRACE_S,
        proxy_headers=bool(trusted_proxies),
        forwarded_allow_ips=trusted_proxies,
    )
    server = _Server(config, app)

    def stop(*_: object) -> None:
        server.should_exit = True

    # The server handles these itself once it runs, and raises them again when it has stopped: that is all they ask for.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    print(greeting, flush=True)  # noqa: T201 who reads it may connect at once: the socket listens
    server.run(sockets=[listener])
    return 0 if server.started else 1


class _Server(uvicorn.Server):
    """Ends streams when it stops: a request that may last for ever would keep it from stopping."""

    def __init__(self, config: uvicorn.Config, app: Starlette) -> None:
        super().__init__(config)
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if web := getattr(self._app.state, "web", None):
            web.streams.end()
        await super().shutdown(sockets)


async def _try_to_open(settings: Settings) -> None:
    """What keeps the index from opening is said in a line now, not in a traceback of the server."""
    async with open_index(settings, follow=False, level=False):
        pass


def _not_there(settings: Settings, error: OSError) -> InvalidInput:
    if error.errno == errno.EADDRINUSE:
        message = f"port {settings.port} of {settings.host} is in use"
        remedy = f"stop what listens there, or take another: --port {settings.port + 1}"
    elif error.errno == errno.EACCES:
        message = f"port {settings.port} is not yours to listen on"
        remedy = "take one from 1024 on"
    else:
        message = f"{settings.host} is not an address of this machine"
        remedy = "serve on 127.0.0.1, or on 0.0.0.0 for all of its addresses"
    return InvalidInput.because(message, code=ErrorCode.INVALID_ARGUMENT, remedy=remedy)
