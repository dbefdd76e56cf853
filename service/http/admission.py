"""Who asks, and whether not too often: decided for each request before anything of its body is read."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from domain.errors import ErrorCode, KernelIndexError
from service.auth import ANYBODY, Caller, caller_of, is_at_home
from service.errors_out import refused
from service.http.answers import AnswerError, error_as_json
from service.keys import KeyStore
from service.rates import Rates, Standing, rate_headers

VISIT: Final = "kernelindex.visit"
"""In the scope of a request: that it was let in."""


class Visit:
    """A request that was let in, and where its caller stands then."""

    def __init__(self, caller: Caller, standing: Standing) -> None:
        self.caller = caller
        self.standings = [standing]


class Gate:
    """Lets requests in. ``demo`` takes whoever is at this machine for somebody with a key for everything."""

    def __init__(self, keys: KeyStore, rates: Rates, *, demo: bool = False) -> None:
        self._keys = keys
        self._rates = rates
        self._demo = demo

    def admit(self, headers: Headers, address: str, *sent: str) -> Visit:
        """Let a request in, and count it. Raises :class:`Refused` (401, 429).

        ``sent`` is what a socket was sent in the place of the header ``Authorization``.
        """
        try:
            caller = caller_of(self._keys, [*headers.getlist("authorization"), *sent], address)
        except KernelIndexError:
            # Guesses count for the address: nobody knows whose they are.
            self._rates.admit(Caller(address=address))
            raise
        if self._demo and not caller.principal and is_at_home(address, headers.get("host", ""), headers.get("origin")):
            caller = Caller(principal=ANYBODY, address=address)
        return Visit(caller, self._rates.admit(caller))

    def admit_write(self, visit: Visit) -> None:
        """Count a request that writes, once it is known to. Raises :class:`Refused` (429)."""
        visit.standings.append(self._rates.admit_write(visit.caller))

    def admit_operation(self, scope: Scope, running: int, most: int) -> None:
        """Count an operation of a socket as the request that it is. Raises :class:`Refused` (429)."""
        if running >= most:
            raise refused(
                ErrorCode.RATE_LIMITED,
                f"{running} operations are running on this connection; the limit is {most}",
                remedy="complete some, or open another connection",
            )
        self._rates.admit(self.caller_in(scope))

    @staticmethod
    def caller_in(scope: Scope) -> Caller:
        """Who opened a connection that was let in."""
        visit: Visit = scope[VISIT]
        return visit.caller


class Admission:
    """ASGI middleware: asks the application's gate, and tells each answer's reader how many requests are left.

    What the gate refuses is answered here, and so is any other error of ours that comes out, so that its answer tells
    it as well. Paths that begin with one of ``exempt`` are open: health checks must not depend on how many others ask,
    and assets are constant bytes. ``answer`` answers errors.
    """

    def __init__(self, app: ASGIApp, exempt: Sequence[str] = (), answer: AnswerError = error_as_json) -> None:
        self.app = app
        self.answer = answer
        self.exempt = tuple(exempt)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection; what is not HTTP passes through."""
        if scope["type"] != "http" or scope["path"].startswith(self.exempt):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        gate: Gate = scope["app"].state.gate
        begun = False

        async def told(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message["headers"] = [*message.get("headers", ()), *_standing(scope, message)]
            await send(message)

        try:
            if VISIT not in scope:
                let_in(scope, gate.admit(headers, peer_of(scope)))
            await self.app(scope, receive, told)
        except KernelIndexError as error:
            if begun:
                raise
            response = self.answer(error, ",".join(headers.getlist("accept")), scope["path"])
            await response(scope, receive, told)


def _standing(scope: Scope, message: Message) -> list[tuple[bytes, bytes]]:
    """The headers on rates. The refusal of one too many has its own, on the rate that it is about."""
    visit: Visit | None = scope.get(VISIT)
    if visit is None or message["status"] == HTTPStatus.TOO_MANY_REQUESTS:
        return []
    return [(name.lower().encode(), text.encode()) for name, text in rate_headers(*visit.standings).items()]


def let_in(scope: Scope, visit: Visit) -> None:
    """Note whom a connection was let in for."""
    scope[VISIT] = visit


def visit_of(request: HTTPConnection) -> Visit:
    """The visit of a request that was let in."""
    visit: Visit = request.scope[VISIT]
    return visit


def peer_of(scope: Scope) -> str:
    """The other end of the socket: a proxy's word for it counts only where the server was told to trust that proxy."""
    client = scope.get("client")
    return str(client[0]) if client else "here"
