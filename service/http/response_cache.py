"""Whole answers to queries, kept as bytes: an ASGI layer before everything else.

The log only grows, so an answer follows from the request and the moment at which it is given: the position of the log,
the number of erasures and the UTC day. All answers that are kept are of one moment, and dropped as soon as there is
another, so that none is ever older than the position that it states. Only ``accessedAt`` in its stamp goes on: a kept
answer is given with the time at which it is given.

Only what :data:`KEEP` in the scope marks is kept, and only of requests without a key. Each request is admitted and
counted as any other, before its body is read.

Requests that ask the same in other words (``service/http/sameness.py``) share an answer. What a request asks is kept
as well, by its very bytes: it stays the same as the log goes on.
"""

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from domain.errors import KernelIndexError
from service.http.admission import VISIT, Gate, Visit, peer_of
from service.http.arriving import arrived, is_whole
from service.http.boundary import request_id_of
from service.kept import Kept
from service.rates import rate_headers

KEEP: Final = "kernelindex.keep"
"""In the scope of a request: a list, for the ``accessedAt`` that its answer states where the rest may be kept."""

STATED: Final = b'"accessedAt":"%b"'
MAX_BODY: Final = 64 * 1024
WAIT_S: Final = 0.25
"""How long a body may take to arrive, for a request that is looked up: any other is read by who answers it."""

ENTRY_BYTES: Final = 2_000
"""What an entry takes beside the bytes of request and answer, roughly."""

OF_THE_REQUEST: Final = frozenset({b"x-request-id", b"ratelimit", b"ratelimit-policy"})
OF_A_BODY: Final = frozenset({b"content-length", b"content-type"})
BYPASSED_BY: Final = frozenset({b"authorization", b"x-kernelindex-min-position", b"content-encoding"})

Key = Hashable
Same = Callable[[str, Mapping[bytes, bytes], bytes], Key | None]
"""What a request asks, given its method, its headers and its body or query string; None where that is not known."""


class Moment(NamedTuple):
    """What all answers depend on beside the request."""

    position: int
    generation: int
    day: str


class Answer(NamedTuple):
    """An answer: what comes before ``accessedAt`` and what comes after it."""

    headers: list[tuple[bytes, bytes]]
    before: bytes
    after: bytes


class Answers:
    """Kept answers of one moment and what requests ask, those used last, at most ``max_bytes`` of them."""

    def __init__(self, max_bytes: int) -> None:
        self._moment: Moment | None = None
        self._kept: Kept[Key, Answer] = Kept(max_bytes - max_bytes // 4)
        self._asked: Kept[tuple[Any, ...], Key] = Kept(max_bytes // 4)

    def what(self, request: tuple[Any, ...], find_out: Callable[[], Key | None]) -> Key | None:
        """What a request asks, found out at most once for the same bytes."""
        asked = self._asked.get(request)
        if asked is None and (asked := find_out()) is not None:
            self._asked.keep(request, asked, 2 * _size_of(request))
        return asked

    def get(self, moment: Moment, key: Key) -> Answer | None:
        """The answer to a request, if it is kept and of this moment."""
        self._be_at(moment)
        return self._kept.get(key)

    def keep(self, moment: Moment, key: Key, answer: Answer) -> None:
        """Keep an answer of this moment."""
        self._be_at(moment)
        self._kept.keep(key, answer, ENTRY_BYTES + len(answer.before) + len(answer.after))

    def _be_at(self, moment: Moment) -> None:
        if moment != self._moment:
            self._moment = moment
            self._kept.clear()


def _size_of(request: tuple[Any, ...]) -> int:
    return ENTRY_BYTES + sum(len(part) for part in request if isinstance(part, bytes))


class ResponseCache:
    """The layer. ``moment(now)`` tells what answers depend on at that timestamp; answers at ``path`` are kept."""

    def __init__(
        self,
        app: ASGIApp,
        answers: Answers,
        *,
        path: str,
        gate: Gate,
        same: Same,
        moment: Callable[[str], Moment],
        now: Callable[[], str],
        make_id: Callable[[], str],
    ) -> None:
        self._app = app
        self._answers = answers
        self._path = path
        self._gate = gate
        self._same = same
        self._moment = moment
        self._now = now
        self._make_id = make_id
        self._process = make_id()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request with what is kept, else have it answered, and keep that where it may be."""
        headers = self._headers_of(scope)
        if headers is None:
            await self._app(scope, receive, send)
            return
        try:
            visit = scope[VISIT] = self._gate.admit(Headers(scope=scope), peer_of(scope))
        except KernelIndexError:
            # It is refused once more inside, where that is told.
            await self._app(scope, receive, send)
            return
        sent: bytes | None = scope["query_string"]
        if scope["method"] == "POST":
            sent, receive = await _body(receive)
        if sent is None:
            await self._app(scope, receive, send)
            return
        # What visitors of a demo may do counts as well: it is the same for all that have, or have no, principal.
        known = visit.caller.principal is not None
        ways = (scope["method"], known, headers.get(b"accept", b""), headers.get(b"content-type", b""))

        def key() -> Key | None:
            what = self._answers.what((*ways, sent), lambda: self._same(scope["method"], headers, sent or b""))
            return None if what is None else (known, what)

        now = self._now()
        moment = self._moment(now)
        if (asked := key()) is not None and (kept := self._answers.get(moment, asked)):
            await self._give(kept, visit, headers, now, send)
        else:
            await self._app(scope, receive, self._keeping(scope, moment, key, send))

    async def _give(self, kept: Answer, visit: Visit, asked: dict[bytes, bytes], now: str, send: Send) -> None:
        came = asked.get(b"x-request-id", b"").decode("latin-1")
        headers = [
            *kept.headers,
            *((name.lower().encode(), text.encode()) for name, text in rate_headers(*visit.standings).items()),
            (b"x-request-id", request_id_of(came, self._make_id).encode()),
        ]
        status, body = HTTPStatus.OK.value, b"".join((kept.before, STATED % now.encode(), kept.after))
        known = asked.get(b"if-none-match", b"")
        if known and any(name == b"etag" and value in known for name, value in headers):
            status, body = HTTPStatus.NOT_MODIFIED.value, b""
            headers = [header for header in headers if header[0] not in OF_A_BODY]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _headers_of(self, scope: Scope) -> dict[bytes, bytes] | None:
        """The headers of a request whose answer may be kept; None for any other."""
        if scope["type"] != "http" or scope["path"] != self._path or scope["method"] not in ("GET", "POST"):
            return None
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if len(headers) != len(scope["headers"]) or not BYPASSED_BY.isdisjoint(headers):
            return None
        length = headers.get(b"content-length", b"0")
        fits = len(length) <= len(str(MAX_BODY)) and length.isdigit() and int(length) <= MAX_BODY
        return headers if fits and len(scope["query_string"]) <= MAX_BODY else None

    def _keeping(self, scope: Scope, moment: Moment, key_of_it: Callable[[], Key | None], send: Send) -> Send:
        """``send``, which keeps the answer that goes through it where it is marked, and still of the same moment."""
        start: Message = {}
        stated: list[str] = []
        scope[KEEP] = stated  # a list, because routing goes on with copies of the scope

        async def keeping(message: Message) -> None:
            nonlocal start
            # Only now is every document known that is answered.
            if stated and moment == self._moment(self._now()) and (key := key_of_it()) is not None:
                if message["type"] == "http.response.start":
                    if scope["method"] == "GET":
                        named = [(b"etag", _etag(self._process, moment, key)), (b"cache-control", b"no-cache")]
                        message["headers"] = [*message["headers"], *named]
                    start = message
                elif start and not message.get("more_body"):
                    self._keep(stated[0], moment, key, start, message["body"])
            await send(message)

        return keeping

    def _keep(self, accessed_at: str, moment: Moment, key: Key, start: Message, body: bytes) -> None:
        # The stamp is behind the data, so the last of them is its own.
        before, found, after = body.rpartition(STATED % accessed_at.encode())
        if found and start["status"] == HTTPStatus.OK:
            headers = [header for header in start["headers"] if header[0] not in OF_THE_REQUEST]
            self._answers.keep(moment, key, Answer(headers, before, after))


def _etag(process: str, moment: Moment, key: Key) -> bytes:
    """A weak one: two answers under it differ in ``accessedAt``. Another process may be of another release."""
    return f'W/"{blake2b(repr((process, moment, key)).encode(), digest_size=16).hexdigest()}"'.encode()


async def _body(receive: Receive) -> tuple[bytes | None, Receive]:
    """The body, where all of it comes soon, and ``receive`` as it was before that."""
    seen: list[Message] = []
    if first := arrived(receive):
        seen.append(first)
    if not is_whole(first):
        with suppress(TimeoutError):
            async with asyncio.timeout(WAIT_S):
                while _goes_on(seen):
                    seen.append(await receive())
    body = b"".join(message.get("body", b"") for message in seen)
    body_if_whole = body if seen and is_whole(seen[-1]) and len(body) <= MAX_BODY else None
    seen.reverse()

    async def again() -> Message:
        return seen.pop() if seen else await receive()

    return body_if_whole, again


def _goes_on(seen: Sequence[Message]) -> bool:
    """Whether there is more of a body that may be looked up."""
    size = sum(len(message.get("body", b"")) for message in seen)
    return not seen or (size <= MAX_BODY and seen[-1]["type"] == "http.request" and not is_whole(seen[-1]))
