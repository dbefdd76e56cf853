"""The application as served over HTTP: which path is answered by what."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from domain.errors import ErrorCode
from domain.principals import Principal
from service.api.context import Context
from service.api.execute import Api, extensions_of
from service.api.schema import DOCUMENTS, schema
from service.app import Clock, Index, NewId, open_index, random_id, utc_now
from service.errors_out import refused
from service.http.answers import refusal, respond
from service.http.boundary import RequestBoundary
from service.http.cors import cors_middleware
from service.http.graphql_http import GraphQLEndpoint
from service.http.ingest import handle_ingest
from service.http.negotiation import JSON
from service.http.records import canonical_run
from service.pages import static
from service.pages.graphiql import graphiql
from service.settings import Settings

ANYBODY = Principal(id="anonymous", sources=None)
"""Who writes where the setting for unauthenticated writes is on."""

WRITER_BODY = 5 * 1024 * 1024
MIN_POSITION = "x-kernelindex-min-position"


class Web:
    """The handlers of one running index."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._api = Api(index)
        self.graphql = GraphQLEndpoint(
            schema,
            documents=DOCUMENTS,
            make_context=self._context,
            extensions_of=lambda context, _cost: extensions_of(context),
            max_body=self._max_body,
            page=graphiql,
            seconds=index.settings.query_timeout_s,
        )

    async def ingest(self, request: Request) -> Response:
        """``POST /ingest``."""
        return await handle_ingest(request, self._index.ledger, self._principal(), self._max_body)

    async def run(self, request: Request) -> Response:
        """``GET /runs/<id>`` and ``/runs/<id>/at/<position>``: the canonical record."""
        return await canonical_run(request, await self._context(request))

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

    async def _context(self, request: Request) -> Context:
        if wanted := request.headers.get(MIN_POSITION):
            await self._reach(wanted)
        return self._api.context(self._principal())

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

    def _principal(self) -> Principal | None:
        return ANYBODY if self._index.settings.allow_unauthenticated_writes else None

    def _max_body(self, _: Request) -> int:
        return WRITER_BODY if self._principal() else DOCUMENTS.limits.body


def create_app(settings: Settings, *, now: Clock = utc_now, new_id: NewId = random_id) -> Starlette:
    """The ASGI application. Its lifespan opens the index and closes it."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with open_index(settings, now=now, new_id=new_id) as index:
            app.state.web = Web(index)
            yield

    return Starlette(
        routes=[
            Route("/", lambda _: RedirectResponse("/graphql"), name="home"),
            Route("/graphql", _GraphQL()),
            Route("/ingest", _handler("ingest"), methods=["POST"]),
            Route("/runs/{id:str}", _handler("run")),
            Route("/runs/{id:str}/at/{position:str}", _handler("run")),
            Route(static.PATH, static.serve),
            Route("/healthz", _handler("health")),
            Route("/readyz", _handler("ready")),
        ],
        middleware=[Middleware(RequestBoundary, make_id=new_id), cors_middleware()],
        exception_handlers={HTTPException: _no_such_route},
        lifespan=lifespan,
    )


async def _no_such_route(_: Request, error: Exception) -> Response:
    """What Starlette says of unknown paths and methods, in the form of all our errors."""
    if not isinstance(error, HTTPException):
        raise error
    known = error.status_code == HTTPStatus.METHOD_NOT_ALLOWED
    code = ErrorCode.METHOD_NOT_ALLOWED if known else ErrorCode.NOT_FOUND
    message = "this path is not served by that method" if known else "nothing is served at this path"
    return respond(refusal(refused(code, message, headers=error.headers)), JSON)


class _GraphQL:
    """Hands on to the endpoint of the index that is open."""

    async def __call__(self, scope: dict, receive: Callable, send: Callable) -> None:  # type: ignore[type-arg]
        await scope["app"].state.web.graphql(scope, receive, send)


def _handler(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        response: Response = await getattr(request.app.state.web, name)(request)
        return response

    return handle
