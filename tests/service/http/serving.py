"""Real servers for tests: uvicorn in a thread, on a port that the system picks, or on the one of a server that has ended."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from service.http.protocol import BoundedProtocol
from service.http.socket_protocol import BoundedWebSocket


@contextmanager
def serving(
    app: ASGIApp,
    *,
    lifespan: bool = False,
    dates: bool = True,
    http: type[BoundedProtocol] = BoundedProtocol,
    port: int = 0,
) -> Iterator[str]:
    """The base URL of a server of the application, up while the context lasts.

    Without ``dates`` the application itself says in its answers what time it is.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        config = uvicorn.Config(
            app,
            http=http,
            ws=BoundedWebSocket,
            ws_per_message_deflate=False,
            log_config=None,
            access_log=False,
            lifespan="on" if lifespan else "off",
            date_header=dates,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            _wait_for(server, thread)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(timeout=10)


def _wait_for(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + 10
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("the server did not start")
        time.sleep(0.01)
