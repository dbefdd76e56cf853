"""The head of a request over a real socket: bounded in size and in time, whatever trickles or never ends."""

import asyncio
import socket
from collections.abc import Iterator

import pytest
from starlette.requests import Request
from starlette.types import Message

from service.errors_out import Refused, status_of
from service.http.body import read_body
from service.http.protocol import MAX_HEAD_BYTES, BoundedProtocol
from service.limits import Limits
from tests.service.http.serving import serving
from tests.service.http.test_hostile_requests import connect
from tests.service.http.tiny import tiny_app

GET = b"GET /graphql?query={hello} HTTP/1.1\r\nHost: x\r\n"


class Hasty(BoundedProtocol):
    """Waits a moment only."""

    head_timeout_s = 0.2


@pytest.fixture(scope="module")
def hasty_url() -> Iterator[str]:
    """A server that waits for a head 0.2 seconds."""
    with serving(tiny_app(Limits(seconds=0.5)), http=Hasty) as url:
        yield url


def received(connection: socket.socket) -> bytes:
    """All that the server sends until it closes."""
    answer = b""
    while True:
        try:
            chunk = connection.recv(65_536)
        except ConnectionResetError:
            return answer
        if not chunk:
            return answer
        answer += chunk


def flooded(url: str, *parts: bytes) -> bytes:
    """What a server answers that closes while it is still sent to."""
    with connect(url) as connection:
        try:
            for part in parts:
                connection.sendall(part)
        except OSError:
            pass
        return received(connection)


def head_of(size: int) -> bytes:
    """A whole head of which address and fields take exactly so many bytes, as they are counted."""
    address = b"/graphql?query={hello}"
    fields = [b"Host: x\r\n", b"Connection: close\r\n"]
    rest = size - len(address) - sum(map(len, fields)) - len(b"X: \r\n")
    return b"GET " + address + b" HTTP/1.1\r\n" + b"".join(fields) + b"X: " + b"x" * rest + b"\r\n\r\n"


def test_a_head_of_64_kib_is_taken_and_one_byte_more_is_not(base_url: str) -> None:
    fits, over = flooded(base_url, head_of(MAX_HEAD_BYTES)), flooded(base_url, head_of(MAX_HEAD_BYTES + 1))

    assert fits.startswith(b"HTTP/1.1 200")
    assert over.startswith(b"HTTP/1.1 431")
    assert b'"code":"BAD_REQUEST"' in over


@pytest.mark.parametrize(
    "parts",
    [
        [GET, b"X: ", *[b"x" * 10_000] * 100],
        [GET, *[b"X: y\r\n" * 1_000] * 100],
        [b"GET /graphql?query=", *[b"x" * 10_000] * 100],
        [b"GET / HTTP/1.1\r\n", *[b"n" * 10_000] * 100],
    ],
    ids=["value", "fields", "address", "name"],
)
def test_a_head_that_never_ends_is_cut_off(base_url: str, parts: list[bytes]) -> None:
    answer = flooded(base_url, *parts)

    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")


def test_so_is_a_trailer_behind_the_body(base_url: str) -> None:
    head = b"POST /raw HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"

    assert flooded(base_url, head, *[b"X: y\r\n" * 1_000] * 100) == b""
    assert flooded(base_url, head, b"X: ", *[b"x" * 10_000] * 100) == b""


def test_a_body_may_be_larger_than_a_head_in_any_chunks(base_url: str) -> None:
    body = b'{"query": "{hello}"' + b" " * 200_000 + b"}"
    head = b"POST /graphql HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
    chunks = [b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:100_000], body[100_000:])]

    assert flooded(base_url, head + b"Content-Length: %d\r\n\r\n" % len(body), body).startswith(b"HTTP/1.1 200")
    assert flooded(base_url, head + b"Transfer-Encoding: chunked\r\n\r\n", *chunks, b"0\r\n\r\n").startswith(
        b"HTTP/1.1 200"
    )


@pytest.mark.parametrize(
    "sent", [b"", b"GET ", GET, GET + b"X: y"], ids=["nothing", "method", "fields", "half a field"]
)
def test_a_head_that_does_not_come_is_not_waited_for(hasty_url: str, sent: bytes) -> None:
    answer = flooded(hasty_url, sent)

    assert answer.startswith(b"HTTP/1.1 408")
    assert b"within 0.2 seconds" in answer


def test_neither_is_the_second_one_of_a_connection(hasty_url: str) -> None:
    with connect(hasty_url) as connection:
        connection.sendall(GET + b"\r\n")
        first = connection.recv(65_536)
        connection.sendall(b"GET")
        rest = received(connection)

    assert first.startswith(b"HTTP/1.1 200")
    assert b"HTTP/1.1 408" in rest


def test_an_answer_may_take_longer_than_its_head(hasty_url: str) -> None:
    with connect(hasty_url) as connection:
        connection.sendall(GET.replace(b"hello", b"slow") + b"Connection: close\r\n\r\n")
        assert b"HTTP/1.1 408" not in received(connection)


async def test_a_body_that_does_not_come_is_not_waited_for_either() -> None:
    async def receive() -> Message:
        await asyncio.sleep(60)
        raise AssertionError("nobody should wait so long")

    request = Request({"type": "http", "headers": [(b"content-length", b"10")]}, receive)
    with pytest.raises(Refused, match=r"within 0\.05 seconds") as caught:
        await read_body(request, 100, seconds=0.05)
    assert status_of(caught.value) == 408


def test_what_is_no_http_has_a_coded_error(base_url: str) -> None:
    answer = flooded(base_url, b"\x16\x03\x01 hello\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 400")
    assert b'"code":"BAD_REQUEST"' in answer
