"""Servers in processes of their own and their subscribers, for measuring how fast messages reach these."""

import asyncio
import base64
import json
import multiprocessing
import os
import resource
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import uvicorn

from service.http.protocol import BoundedProtocol
from service.http.socket_protocol import BoundedWebSocket
from service.settings import Settings
from service.web import create_app

NODE = Path(__file__).parent / "node"
QUERY = """subscription { newRuns { __typename ... on LogMessage { cursor position }
  ... on NewRun { run { shortId title status primary { formatted } ranking { rank groupSize } permalink } } } }"""
INIT = {"type": "connection_init"}
SUBSCRIBE = {"id": "1", "type": "subscribe", "payload": {"query": QUERY}}
MARK = b'"__typename":"NewRun"'
ACK = b'"connection_ack"'
CAUGHT_UP = b'"CaughtUp"'
PATIENCE_S = 60


def serve(kind: str, listener: socket.socket, folder: str) -> None:
    """A server in this process: ``kernelindex``, or ``bare``."""
    if kind == "bare":
        app: Any = Bare()
    else:
        many = {"requests_per_minute": 10**9, "writes_per_minute": 10**9, "subscriptions_per_caller": 10**6}
        app = create_app(Settings(data_dir=Path(folder), **many), demo=True)
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws=BoundedWebSocket,
        ws_per_message_deflate=False,
        ws_ping_interval=None,  # the listeners only count: they would answer none
        log_level="warning",
        access_log=False,
        loop="uvloop",
        lifespan="off" if kind == "bare" else "on",
    )
    uvicorn.Server(config).run(sockets=[listener])


class Bare:
    """Sends what it is POSTed, one frame a line, to every socket."""

    def __init__(self) -> None:
        self.sockets: list[Callable[..., Any]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept", "subprotocol": "graphql-transport-ws"})
            await receive()
            await send({"type": "websocket.send", "text": ACK.decode()})
            await receive()
            await send({"type": "websocket.send", "text": CAUGHT_UP.decode()})
            self.sockets.append(send)
            while (await receive())["type"] != "websocket.disconnect":
                pass
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        for frame in body.decode().splitlines():
            for one in self.sockets:
                await one({"type": "websocket.send", "text": frame})
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


class Listener(asyncio.Protocol):
    """A subscriber that only counts, so that it costs little beside the server."""

    def __init__(self, heard: "Heard", port: int) -> None:
        self.heard, self.port, self.opened, self.ready = heard, port, False, False
        self.tail = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(handshake(self.port))

    def data_received(self, data: bytes) -> None:
        if not self.opened:
            self.opened = True
            self.transport.write(frame_of(INIT))
        elif not self.ready and ACK in data:
            self.transport.write(frame_of(SUBSCRIBE))
        data = self.tail + data
        self.tail = data[-len(MARK) + 1 :]  # a mark may come in two pieces
        if not self.ready and CAUGHT_UP in data:
            self.ready = True
            self.heard.ready += 1
        self.heard.take(data)


def handshake(port: int) -> bytes:
    """The request with which a client opens a socket."""
    key = base64.b64encode(os.urandom(16)).decode()
    return (
        f"GET /graphql HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
    ).encode()


def frame_of(message: Any) -> bytes:
    """A text frame of a client, under a mask of zeros."""
    payload = json.dumps(message).encode()
    length = bytes([0x80 | len(payload)]) if len(payload) < 126 else bytes([0xFE]) + len(payload).to_bytes(2, "big")
    return b"\x81" + length + b"\0\0\0\0" + payload


class Heard:
    """What all listeners of a process heard."""

    def __init__(self) -> None:
        self.ready = self.count = 0
        self.sample = b""
        self.times: list[float] = []

    def take(self, data: bytes) -> None:
        if found := data.count(MARK):
            self.count += found
            self.times += [time.monotonic()] * found
            if not self.sample:
                self.sample = data


def listen(port: int, subscribers: int, pipe: Any) -> None:
    """A process of listeners; the pipe asks for so many frames, and is told when each came."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    async def main() -> None:
        loop, heard = asyncio.get_running_loop(), Heard()
        for _ in range(subscribers):
            await loop.create_connection(lambda: Listener(heard, port), "127.0.0.1", port)
        while heard.ready < subscribers:
            await asyncio.sleep(0.01)
        pipe.send("ready")
        while (wanted := await asyncio.to_thread(pipe.recv)) is not None:
            while heard.count < wanted:
                await asyncio.sleep(0.002)
            pipe.send((heard.times, heard.sample))
            heard.count, heard.times = 0, []

    import uvloop  # noqa: PLC0415 in the process that needs it

    uvloop.run(main())


class Side:
    """A server and its subscribers. ``kind``: ``kernelindex``, ``bare``, or ``node`` for that of graphql-ws."""

    def __init__(self, kind: str, subscribers: int, folder: str) -> None:
        self.kind, self.subscribers = kind, subscribers
        self._server = _of_node() if kind == "node" else _of_ours(kind, folder)
        self.port, self._pid, self._end = self._server
        self._pipe, theirs = multiprocessing.Pipe()
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=60)
        self._wait()
        self._listeners = multiprocessing.Process(target=listen, args=(self.port, subscribers, theirs), daemon=True)
        self._listeners.start()
        theirs.close()
        assert self._pipe.recv() == "ready"

    def _wait(self) -> None:
        while True:
            with suppress(httpx.TransportError):
                self.http.get("/healthz")
                return
            time.sleep(0.1)

    def publish(self, send: Callable[[], None], frames: int) -> tuple[float, list[float], bytes]:
        """Publish; answers when that began, how long after it each frame came, and a frame."""
        self._pipe.send(frames * self.subscribers)
        began = time.monotonic()
        send()
        if not self._pipe.poll(PATIENCE_S):
            raise SystemExit(f"{self.kind}: frames are missing {PATIENCE_S} seconds after they were published")
        times, sample = self._pipe.recv()
        return began, [one - began for one in times], sample

    def memory_mb(self) -> float:
        """The resident memory of the server."""
        return float(psutil.Process(self._pid).memory_info().rss) / 1e6

    def close(self) -> None:
        """End the subscribers and the server."""
        self._pipe.send(None)
        self._listeners.join()
        self._end()


def _of_ours(kind: str, folder: str) -> tuple[int, int, Callable[[], None]]:
    """A server of this repository: its port, its process, and how it ends."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(2048)
    process = multiprocessing.Process(target=serve, args=(kind, listener, folder), daemon=True)
    process.start()

    def end() -> None:
        process.terminate()
        process.join()

    return listener.getsockname()[1], process.pid or 0, end


def _of_node() -> tuple[int, int, Callable[[], None]]:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    process = subprocess.Popen(["node", str(NODE / "graphql_ws.mjs"), str(port)])

    def end() -> None:
        process.terminate()
        process.wait()

    return port, process.pid, end
