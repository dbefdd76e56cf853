"""The application as served over HTTP: which path is answered by what."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from http import HTTPStatus
from typing import NoReturn

from graphql import OperationDefinitionNode, OperationType
from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from domain.errors import ErrorCode, InvalidInput
from domain.events import timestamp
from domain.principals import Scope as KeyScope
from service.api.context import Context
from service.api.execute import Api, extensions_of
from service.api.schema import DOCUMENTS, built_schema
from service.app import Clock, Index, NewId, open_index, random_id, utc_now
from service.auth import is_loopback
from service.errors_out import refused
from service.http import record_feed as feeds
from service.http import tlog
from service.http.admission import Admission, Gate, visit_of
from service.http.boundary import RequestBoundary, request_ids
from service.http.cors import cors_middleware
from service.http.graphql_http import GraphQLEndpoint
from service.http.ingest import handle_ingest
from service.http.operating import Operations
from service.http.records import show_run
from service.http.response_cache import KEEP, Answers, Moment, ResponseCache
from service.http.sameness import same_as
from service.http.sockets import Sockets
from service.http.streams import Streams
from service.pages import static
from service.pages.answers import error_answer
from service.pages.graphiql import graphiql
from service.pages.reporting import report_issue
from service.pages.routes import PAGES, Handler
from service.settings import Settings
from service.subscriptions.hub import Hub

WRITER_BODY = 5 * 1024 * 1024
OPEN_PATHS = ("/healthz", "/readyz", "/metrics", static.PATH.partition("{")[0])
"""Beginnings of paths that take no key and count for no limit."""


class AliasConvertor(PathConvertor):
    """Any id: aliases that other indexes gave may hold slashes."""

    regex = ".+"


register_url_convertor("alias", AliasConvertor())

GRAPHQL = "/graphql"
MIN_POSITION = "x-kernelindex-min-position"


class Web:
    """The handlers of one running index."""

    def __init__(self, index: Index, *, demo: bool = False) -> None:
        self._index = index
        self.gate = Gate(index.keys, index.rates, demo=demo)
        self._api = Api(index)
        schema = built_schema()
        self.graphql = GraphQLEndpoint(
            schema,
            documents=DOCUMENTS,
            make_context=self._context,
            extensions_of=lambda context, _cost: extensions_of(context),
            max_body=_max_body,
            admit=self._admit,
            give_up=Context.give_up,
            end=Context.end,
            execute=self._api.execute,
            answered=_mark,
            page=graphiql,
            seconds=index.settings.query_timeout_s,
        )
        operations = Operations(self.graphql, Hub(index, schema, self._api))
        self.sockets = Sockets(operations, self.gate, index.keys)
        self.streams = Streams(operations, self.gate, index.keys)

    def cached(self, app: ASGIApp, make_id: NewId) -> ASGIApp:
        """The application, behind a cache of whole answers if there is to be one; ``make_id`` makes ids of requests."""
        index = self._index
        if not (max_bytes := index.settings.response_cache_bytes):
            return app

        def moment(now: str) -> Moment:
            return Moment(index.follower.head.position, index.views.generation, now[: len("2026-08-01")])

        return ResponseCache(
            app,
            Answers(max_bytes),
            path=GRAPHQL,
            gate=self.gate,
            same=partial(same_as, DOCUMENTS),
            moment=moment,
            now=lambda: timestamp(index.now()),
            make_id=make_id,
        )

    async def ingest(self, request: Request) -> Response:
        """``POST /ingest``."""
        visit = visit_of(request)
        self.gate.admit_write(visit)
        return await handle_ingest(request, self._index.ledger, visit.caller.principal, _max_body)

    async def run(self, request: Request) -> Response:
        """``GET /runs/<id>`` and ``/runs/<id>/at/<position>``: the record and its citations."""
        return await show_run(request, await self._context(request))

    async def page(self, request: Request, handler: Handler) -> Response:
        """A page for people."""
        return await handler(request, await self._context(request))

    async def report_issue(self, request: Request) -> Response:
        """``POST /runs/<id>/issues``: the form of a run's page."""
        self.gate.admit_write(visit_of(request))
        return await report_issue(request, await self._context(request))

    async def checkpoint(self, _: Request) -> Response:
        """``GET /checkpoint``."""
        return await tlog.checkpoint(self._index)

    async def vkey(self, _: Request) -> Response:
        """``GET /vkey``."""
        return await tlog.vkey(self._index)

    async def tile(self, request: Request) -> Response:
        """``GET /tile/…``."""
        return await tlog.tile(self._index, request)

    async def records(self, request: Request) -> Response:
        """``GET /feeds/records.atom``."""
        return await feeds.record_feed(request, await self._context(request))

    async def health(self, _: Request) -> Response:
        """``GET /healthz``: the process answers."""
        return JSONResponse({"status": "ok"})

    async def ready(self, _: Request) -> Response:
        """``GET /readyz``: the views are near enough to the log to be shown."""
        follower = self._index.follower
        latest = await asyncio.to_thread(self._index.log.latest)
        lag = latest - follower.head.recorder_id
        if follower.failure:
            raise refused(ErrorCode.VIEWS_BEHIND, f"the views have stopped: {follower.failure}")
        if follower.trouble or lag > self._index.settings.max_lag_events:
            raise refused(
                ErrorCode.VIEWS_BEHIND,
                f"the views are at position {follower.head.position}, {lag} events behind the log",
                remedy="wait; where that doesn't help, the server's own log says why",
                headers={"Retry-After": "1"},
            )
        return JSONResponse({"status": "ok", "position": follower.head.position, "lagEvents": lag})

    async def _context(self, request: HTTPConnection) -> Context:
        if wanted := request.headers.get(MIN_POSITION):
            await self._reach(wanted)
        return self._api.context(visit_of(request).caller)

    def _admit(self, request: HTTPConnection, operation: OperationDefinitionNode) -> None:
        if operation.operation is OperationType.MUTATION:
            self.gate.admit_write(visit_of(request))

    async def _reach(self, wanted: str) -> None:
        if not wanted.isascii() or not wanted.isdigit() or len(wanted) > len(str(2**53)):
            raise refused(
                ErrorCode.BAD_REQUEST, "X-KernelIndex-Min-Position is not a position", remedy="take it from a stamp"
            )
        follower = self._index.follower
        with suppress(TimeoutError):
            await follower.reach(int(wanted), self._index.settings.min_position_wait_s)
        # A follower that has stopped doesn't keep anybody waiting, so coming back is not having arrived.
        if follower.head.position < int(wanted):
            raise refused(
                ErrorCode.VIEWS_BEHIND,
                f"this host has not reached position {wanted} yet",
                remedy="try again a little later",
                headers={"Retry-After": "1"},
            )


def create_app(settings: Settings, *, now: Clock = utc_now, new_id: NewId = random_id, demo: bool = False) -> Starlette:
    """The ASGI application. Its lifespan opens the index and closes it.

    ``demo`` lets whoever is at this machine write without a key, and is refused where others could reach the server.
    """
    if demo and not is_loopback(settings.host):
        raise InvalidInput.because(
            f"the demo lets anybody write, so it is not served on {settings.host}",
            path="KERNELINDEX_HOST",
            remedy="leave KERNELINDEX_HOST at 127.0.0.1, or use `kernelindex serve` and keys",
        )

    make_id = request_ids(new_id)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with open_index(settings, now=now, new_id=new_id) as index:
            app.state.web = Web(index, demo=demo)
            app.state.gate = app.state.web.gate
            app.state.cached = app.state.web.cached(partial(Starlette.__call__, app), make_id)
            yield

    return _Application(
        routes=[
            Route(GRAPHQL, _At("graphql")),
            *(Route(path, _page(handler)) for path, handler in PAGES.items()),
            WebSocketRoute(GRAPHQL, _At("sockets")),
            Route(f"{GRAPHQL}/stream", _At("streams")),
            Route("/ingest", _handler("ingest"), methods=["POST"]),
            Route("/runs/{id:alias}/issues", _handler("report_issue"), methods=["POST"]),
            Route("/runs/{id:alias}/at/{position:str}", _handler("run")),
            Route("/runs/{id:alias}", _handler("run")),
            Route("/checkpoint", _handler("checkpoint")),
            Route("/vkey", _handler("vkey")),
            Route(tlog.TILE, _handler("tile")),
            Route(feeds.PATH, _handler("records")),
            Route(static.PATH, static.serve),
            Route("/healthz", _handler("health")),
            Route("/readyz", _handler("ready")),
        ],
        middleware=[
            Middleware(RequestBoundary, make_id=make_id, answer=error_answer),
            cors_middleware(),
            Middleware(Admission, exempt=OPEN_PATHS, answer=error_answer),
        ],
        exception_handlers={HTTPException: _no_such_route},
        lifespan=lifespan,
    )


def _max_body(request: HTTPConnection) -> int:
    return WRITER_BODY if visit_of(request).caller.may(KeyScope.INGEST) else DOCUMENTS.limits.body


async def _no_such_route(_: Request, error: Exception) -> NoReturn:
    """What Starlette says of unknown paths and methods becomes an error of ours."""
    if not isinstance(error, HTTPException):
        raise error
    known = error.status_code == HTTPStatus.METHOD_NOT_ALLOWED
    code = ErrorCode.METHOD_NOT_ALLOWED if known else ErrorCode.NOT_FOUND
    message = "this path is not served by that method" if known else "nothing is served at this path"
    raise refused(code, message, headers=error.headers)


class _Application(Starlette):
    """Starlette, behind the cache of whole answers once the index is open."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        cached = getattr(self.state, "cached", super().__call__)
        await cached(scope, receive, send)


def _mark(request: HTTPConnection, operation: OperationDefinitionNode, context: Context) -> None:
    """Let the answer be kept, unless something in it depends on more than the request and its moment."""
    if operation.operation is OperationType.QUERY and not context.momentary:
        request.scope.get(KEEP, []).append(timestamp(context.read_at))


class _At:
    """Hands on to the application of that name, of the index that is open."""

    def __init__(self, name: str) -> None:
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await getattr(scope["app"].state.web, self._name)(scope, receive, send)


def _handler(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        response: Response = await getattr(request.app.state.web, name)(request)
        return response

    return handle


def _page(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        response: Response = await request.app.state.web.page(request, handler)
        return response

    return handle
