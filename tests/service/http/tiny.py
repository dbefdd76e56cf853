"""A small schema with one of everything that the transport must handle, and the application around it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import count
from typing import Any, NewType

import strawberry
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from strawberry.schema.config import StrawberryConfig

from domain.errors import ErrorCode, InvalidInput, Problem
from service.errors_out import QuietSchema
from service.http.body import read_body
from service.http.boundary import RequestBoundary
from service.http.cors import cors_middleware
from service.http.documents import Documents
from service.http.graphql_http import Cost, GraphQLEndpoint
from service.limits import Limits

SECRET = "password=hunter2"
Digest = NewType("Digest", str)


def parse_digest(value: object) -> str:
    """A scalar's parser that refuses with an error of ours, or fails on what it did not expect."""
    if isinstance(value, int):
        raise ValueError(SECRET)  # noqa: TRY004 - any error that is not of our family
    if not str(value).startswith("sha256:"):
        raise InvalidInput.because("a digest starts with sha256:", code=ErrorCode.INVALID_ID, remedy="copy it whole")
    return str(value)


@strawberry.type
class Fact:
    key: str
    value: str


@strawberry.type
class Run:
    name: str

    @strawberry.field
    def facts(self) -> list[Fact]:
        return [Fact(key="k", value="v")]

    @strawberry.field
    def parent(self) -> "Run":
        return Run(name=self.name + "'")

    @strawberry.field
    def runs(self, first: int | None = None) -> "RunConnection":
        return RunConnection(edges=[], nodes=[], total_count=0)

    @strawberry.field
    def broken(self) -> str | None:
        raise ValueError(SECRET)


@strawberry.type
class RunEdge:
    cursor: str
    node: Run


@strawberry.type
class RunConnection:
    edges: list[RunEdge]
    nodes: list[Run]
    total_count: int


@strawberry.type
class Hit:
    node: Run


@strawberry.type
class SearchResult:
    hits: list[Hit]
    hints: list[str]


@strawberry.type
class Query:
    @strawberry.field
    def hello(self) -> str:
        return "world"

    @strawberry.field
    def echo(self, text: str) -> str:
        return text

    @strawberry.field
    def run(self, id: Digest | None = None) -> Run | None:  # noqa: A002 - the API's name
        return Run(name="r")

    @strawberry.field
    def runs(self, first: int | None = None, last: int | None = None) -> RunConnection | None:
        run = Run(name="r")
        return RunConnection(edges=[RunEdge(cursor="c", node=run)], nodes=[run], total_count=1)

    @strawberry.field
    def entries(self, first: int = 50) -> RunConnection:
        return RunConnection(edges=[], nodes=[], total_count=0)

    @strawberry.field
    def all(self) -> list[Run]:
        return [Run(name="r")]

    @strawberry.field
    def nodes(self, ids: list[strawberry.ID]) -> list[Run | None]:
        return [Run(name=str(name)) for name in ids]

    @strawberry.field
    def search(self, text: str, first: int | None = None) -> SearchResult:
        return SearchResult(hits=[], hints=[])

    @strawberry.field
    def refused(self) -> str | None:
        raise InvalidInput.because("not that", path="spec.axes", document="1", remedy="do this")

    @strawberry.field
    def refused_twice(self) -> str | None:
        problems = [Problem(code=ErrorCode.MISSING_FIELD, message=f"no {name}", path=name) for name in "ab"]
        raise InvalidInput(*problems)

    @strawberry.field
    def broken(self) -> str | None:
        raise ValueError(SECRET)

    @strawberry.field
    def broken_whole(self) -> str:
        raise ValueError(SECRET)

    @strawberry.field
    def overflow(self) -> int | None:
        return 2**40

    @strawberry.field
    async def slow(self) -> str | None:
        await asyncio.sleep(30)
        return "late"

    @strawberry.field
    def who(self, info: strawberry.Info[dict[str, Any]]) -> str:
        return str(info.context["who"])


@strawberry.type
class Mutation:
    @strawberry.mutation
    def add(self, info: strawberry.Info[dict[str, Any]]) -> int:
        info.context["added"].append(1)
        return len(info.context["added"])

    @strawberry.mutation
    async def slow_add(self) -> int:
        await asyncio.sleep(30)
        return 0


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def count(self, up_to: int = 2) -> AsyncIterator[int]:
        for number in range(up_to):
            yield number
        if up_to == 13:
            raise ValueError(SECRET)


def tiny_schema(documents: Documents) -> strawberry.Schema:
    """The schema, limited by these documents."""
    digest = strawberry.scalar(name="Digest", parse_value=parse_digest, serialize=str)
    return QuietSchema(
        Query,
        Mutation,
        Subscription,
        extensions=[documents],
        config=StrawberryConfig(scalar_map={Digest: digest}),
    )


def make_ids() -> Callable[[], str]:
    """Ids that can be told apart: ``made-1``, ``made-2``, …"""
    numbers = count(1)
    return lambda: f"made-{next(numbers)}"


def tiny_app(limits: Limits | None = None) -> Starlette:
    """The application: ``/graphql``, a ``/raw`` body reader, ``/broken``, with CORS and request ids around them."""
    documents = Documents(limits or Limits(), max_cost=lambda context: 5_000 if context["who"] == "keyed" else 1_000)
    added: list[int] = []

    async def make_context(request: HTTPConnection) -> dict[str, Any]:
        key = request.headers.get("authorization")
        if key == "bad":
            raise InvalidInput.because("unknown key", code=ErrorCode.FORBIDDEN)
        if key == "broken":
            raise ValueError(SECRET)
        return {"who": "keyed" if key else "anyone", "added": added}

    def extensions_of(context: dict[str, Any], cost: Cost) -> dict[str, Any]:
        return {"stamp": {"who": context["who"], "spent": cost.requested}}

    def max_body(request: HTTPConnection) -> int:
        return 5 * 1024 * 1024 if "authorization" in request.headers else documents.limits.body

    async def raw(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(len(await read_body(request, 1_000))))

    async def broken(_request: Request) -> PlainTextResponse:
        raise ValueError(SECRET)

    endpoint = GraphQLEndpoint(
        tiny_schema(documents),
        documents=documents,
        make_context=make_context,
        extensions_of=extensions_of,
        max_body=max_body,
        page=HTMLResponse("<title>GraphiQL</title>"),
    )
    return Starlette(
        routes=[Route("/graphql", endpoint), Route("/raw", raw, methods=["POST"]), Route("/broken", broken)],
        middleware=[Middleware(RequestBoundary, make_id=make_ids()), cors_middleware()],
    )
