"""HTTP/1.1 as uvicorn speaks it with httptools, with bounds on the head of a request that httptools has none of.

Without them one connection could fill the memory with a header that never ends, and connections on which a head
trickles in could be held for ever.
"""

from asyncio import TimerHandle
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from domain.errors import ErrorCode
from service.errors_out import refused
from service.http.answers import refusal, respond
from service.http.negotiation import JSON

MAX_HEAD_BYTES: Final = 64 * 1024
HEAD_TIMEOUT_S: Final = 10.0


class BoundedProtocol(HttpToolsProtocol):
    """Answers 431 to a head (or a trailer) of more than ``max_head_bytes`` and 408 to one that takes too long.

    The clock starts with the connection, and with the first byte after each answer; it stops when a head is whole.
    What is left over of a body that was answered before its end falls under the same clock.
    """

    max_head_bytes = MAX_HEAD_BYTES
    head_timeout_s = HEAD_TIMEOUT_S

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._fields_bytes = 0  # of the lines of this head that are whole
        self._unheard_bytes = 0  # received since anything but a line of a head was whole
        self._heard = False
        self._refusal = HTTPStatus.BAD_REQUEST
        self._head_timer: TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the clock of the first head."""
        super().connection_made(transport)
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the clock."""
        self._stop_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what is not yet a whole head, and refuse it where it is too much."""
        if self._is_idle():
            self._start_clock()
        self._heard = False
        super().data_received(data)
        self._unheard_bytes = 0 if self._heard else self._unheard_bytes + len(data)
        if self._unheard_bytes > self.max_head_bytes and not self.transport.is_closing():
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_message_begin(self) -> None:
        """A new head."""
        self._heard, self._fields_bytes = True, 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A part of the address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A whole line of a head or trailer."""
        self._count(len(name) + len(value) + len(b": \r\n"))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._heard = True
        self._stop_clock()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body, which the application counts."""
        self._heard = True
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        """What uvicorn calls where the parser gave up: because of us, or of what it could not read."""
        self._refuse(self._refusal, msg)

    def _count(self, size: int) -> None:
        self._fields_bytes += size
        if self._fields_bytes > self.max_head_bytes:
            self._refusal = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            raise ValueError(self._refusal.phrase)  # the parser stops, and says so by send_400_response

    def _refuse(self, status: HTTPStatus, reason: str = "") -> None:
        """Answer and close; where an answer is under way, only close."""
        self._stop_clock()
        if self._is_idle():
            message, remedy = {
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: (
                    f"the head of the request is larger than {self.max_head_bytes} bytes",
                    "send long queries by POST",
                ),
                HTTPStatus.REQUEST_TIMEOUT: (
                    f"the head of the request did not come within {self.head_timeout_s:g} seconds",
                    "send it at once",
                ),
            }.get(status, (reason, ""))
            error = refused(
                ErrorCode.BAD_REQUEST, message, remedy=remedy, status=status, headers={"Connection": "close"}
            )
            answer = respond(refusal(error), JSON)
            lines = [name + b": " + value + b"\r\n" for name, value in answer.raw_headers]
            self.transport.write(b"".join([STATUS_LINE[status], *lines, b"\r\n", bytes(answer.body)]))
        self.transport.close()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _start_clock(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_timeout_s, self._too_slow)

    def _stop_clock(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_slow(self) -> None:
        self._head_timer = None
        if not self.transport.is_closing():
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
