"""Fan-out: one publisher, many subscribers, against the bare cost of sending the same bytes over the same server.

Both servers run uvicorn with our WebSocket protocol in a process of their own; the bare one has the frames and sends
each to every socket, without GraphQL and without a subscription. They are visited in turn; what counts is the median of
the ratios. A round is a burst of runs in one save, for frames per second, and single runs one after the other, for the
time from a publisher's request to each subscriber. Run as `python benchmarks/fan_out.py [SUBSCRIBERS ...]`.
"""

import asyncio
import base64
import json
import multiprocessing
import os
import random
import resource
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import uvicorn
from rows import Row, tell

from service.http.protocol import BoundedProtocol
from service.http.socket_protocol import BoundedWebSocket
from service.settings import Settings
from service.web import create_app
from tests.examples import bundle
from tests.service.api.asking import texts_of

BURST, SINGLES, ROUNDS = 100, 20, 5
QUERY = """subscription { newRuns { __typename ... on LogMessage { cursor position }
  ... on NewRun { run { shortId title status primary { formatted } ranking { rank groupSize } permalink } } } }"""
INGEST = "mutation ($input: IngestRunsInput!) { ingestRuns(input: $input) { __typename } }"
MARK = b'"__typename":"NewRun"'
CAUGHT_UP = b'"CaughtUp"'


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
            await receive()
            await send({"type": "websocket.send", "text": '"CaughtUp"'})
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
        key = base64.b64encode(os.urandom(16)).decode()
        transport.write(
            f"GET /graphql HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        if not self.opened:
            self.opened = True
            for said in ({"type": "connection_init"}, {"id": "1", "type": "subscribe", "payload": {"query": QUERY}}):
                self.transport.write(_frame(json.dumps(said).encode()))
        data = self.tail + data
        self.tail = data[-len(MARK) + 1 :]  # a mark may come in two pieces
        if not self.ready and CAUGHT_UP in data:
            self.ready = True
            self.heard.ready += 1
        self.heard.take(data)


def _frame(payload: bytes) -> bytes:
    """A text frame of a client, under a mask of zeros."""
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
    """A server and its subscribers."""

    def __init__(self, kind: str, subscribers: int, folder: str) -> None:
        self.subscribers = subscribers
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(2048)
        self.port = listener.getsockname()[1]
        self.server = multiprocessing.Process(target=serve, args=(kind, listener, folder), daemon=True)
        self.server.start()
        self.pipe, theirs = multiprocessing.Pipe()
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=60)
        self._wait()
        self.listeners = multiprocessing.Process(target=listen, args=(self.port, subscribers, theirs), daemon=True)
        self.listeners.start()
        theirs.close()
        assert self.pipe.recv() == "ready"

    def _wait(self) -> None:
        while True:
            with suppress(httpx.TransportError):
                self.http.get("/healthz")
                return
            time.sleep(0.1)

    def publish(self, send: Callable[[], None], frames: int) -> tuple[float, list[float], bytes]:
        """Publish; answers when that began, how long after it each frame came, and a frame."""
        self.pipe.send(frames * self.subscribers)
        began = time.monotonic()
        send()
        times, sample = self.pipe.recv()
        return began, [one - began for one in times], sample

    def memory_mb(self) -> float:
        return psutil.Process(self.server.pid).memory_info().rss / 1e6

    def close(self) -> None:
        self.pipe.send(None)
        self.listeners.join()
        self.server.terminate()
        self.server.join()


def measure(subscribers: int) -> dict[str, Any]:
    """The ratios at so many subscribers."""
    with tempfile.TemporaryDirectory() as folder:
        ours, bare = Side("kernelindex", subscribers, folder), Side("bare", subscribers, folder)
        values = iter(range(1, 10**6))
        before = ours.memory_mb()

        def write(count: int) -> Callable[[], None]:
            bundles = [texts_of(bundle(next(values))) for _ in range(count)]
            given = {"idempotencyKey": str(random.random()), "bundles": bundles}
            body = {"query": INGEST, "variables": {"input": given}}
            return lambda: ours.http.post("/graphql", json=body).raise_for_status() and None

        _, _, sample = ours.publish(write(1), 1)
        text = sample[sample.index(b"{") :].split(b"\x81")[0].decode()

        def repeat(count: int) -> Callable[[], None]:
            body = f"{text}\n" * count
            return lambda: bare.http.post("/", content=body).raise_for_status() and None

        rates, delays = {"ours": list[float](), "bare": list[float]()}, {"ours": list[float](), "bare": list[float]()}
        for _ in range(ROUNDS):
            for name, side, send in (("ours", ours, write), ("bare", bare, repeat)):
                _, came, _ = side.publish(send(BURST), BURST)
                rates[name].append(len(came) / (max(came) - min(came)))
                for _ in range(SINGLES):
                    delays[name] += side.publish(send(1), 1)[1]
        after = ours.memory_mb()
        ours.close()
        bare.close()
    p99 = {name: statistics.quantiles(found, n=100)[98] * 1000 for name, found in delays.items()}
    return {
        "subscribers": subscribers,
        "frameBytes": len(text),
        "framesPerSecond": round(statistics.median(rates["ours"])),
        "bareFramesPerSecond": round(statistics.median(rates["bare"])),
        "ratio": round(statistics.median(o / b for o, b in zip(rates["ours"], rates["bare"], strict=True)), 2),
        "p99DeliveryMs": round(p99["ours"], 1),
        "bareP99DeliveryMs": round(p99["bare"], 1),
        "memoryMb": [round(before, 1), round(after, 1)],
    }


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    for number in [int(text) for text in sys.argv[1:]] or [200, 1_000]:
        found = measure(number)
        print(json.dumps(found), flush=True)
        tell(Row("fan-out", f"{number} subscribers: frames a second × a bare server", found["ratio"]))
