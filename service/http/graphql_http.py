"""The GraphQL-over-HTTP endpoint (https://graphql.github.io/graphql-over-http/draft/), independent of the schema.

GET runs queries, POST of ``application/json`` runs queries and mutations; one operation a request. Every answer is
JSON, every error has a code. ``service/http/answers.py`` tells which status goes with what.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import lru_cache
from http import HTTPStatus
from inspect import isawaitable
from typing import Any, Final, TypeVar

import msgspec
from graphql import OperationDefinitionNode, OperationType
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from strawberry import Schema

from domain.errors import ErrorCode, KernelIndexError
from service.errors_out import Refused, many_answers, refused
from service.http.answers import Answer, Result, answer_of, apology, only_errors, refusal, respond
from service.http.body import read_body
from service.http.documents import DocumentRejected, Documents, Prepared
from service.http.negotiation import GRAPHQL_JSON, HTML, JSON, negotiate
from service.http.parameters import Parameters, expect_json, from_body, from_query_string
from service.limits import TooComplex

METHODS: Final = "GET, POST, OPTIONS"
T = TypeVar("T")
Execute = Callable[[Prepared, OperationDefinitionNode, dict[str, Any], Any], Awaitable[Result]]


Answered = Callable[[HTTPConnection, OperationDefinitionNode, Any], None]


class Cost(msgspec.Struct, frozen=True):
    """What a request costs, and what it might have cost at most."""

    requested: int
    limit: int


class OverCost(Exception):
    """An operation that asks for too much; ``body`` is the response."""

    def __init__(self, error: TooComplex, cost: Cost) -> None:
        super().__init__(error.message)
        self.formatted = [error.formatted]
        self.body = only_errors(error) | {"extensions": {"cost": cost}}


class GraphQLEndpoint:
    """An ASGI application that serves one schema at one path.

    * ``documents`` carries the limits and must be among the schema's extensions, so that every transport has them.
    * ``make_context(connection)`` gives the context of an operation; an error of ours that it raises is the answer.
    * ``extensions_of(context, cost)`` gives ``extensions`` of the response, once the operation has run.
    * ``max_body(connection)`` gives the most bytes that the request may send, before any are read.
    * ``admit(connection, operation)`` may refuse an operation, with an error of ours, once it is known which it is.
    * ``give_up(context)`` is told when time has run out, so that what still works for the operation can end.
    * ``end(context)`` is told when an operation is over and answered.
    * ``execute`` may take the place of the schema's own execution.
    * ``answered(request, operation, context)`` is told of an operation that had no errors.
    * ``page`` answers a browser that opens the path.
    * ``seconds`` bounds execution, ``documents.limits.seconds`` where it is not given.

    ``make_context`` and ``extensions_of`` may be coroutine functions.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        documents: Documents,
        make_context: Callable[[HTTPConnection], Any],
        extensions_of: Callable[[Any, Cost], dict[str, Any] | Awaitable[dict[str, Any]]] | None = None,
        max_body: Callable[[HTTPConnection], int] | None = None,
        admit: Callable[[HTTPConnection, OperationDefinitionNode], None] | None = None,
        give_up: Callable[[Any], None] | None = None,
        end: Callable[[Any], None] | None = None,
        execute: Execute | None = None,
        answered: Answered | None = None,
        page: ASGIApp | None = None,
        seconds: float | None = None,
    ) -> None:
        if documents not in schema.extensions:
            message = (
                "give the schema these documents among its extensions: without them other transports have no limits"
            )
            raise ValueError(message)
        self.schema = schema
        self.documents = documents
        self.limits = documents.limits
        self.make_context = make_context
        self.extensions_of = extensions_of or (lambda _context, _cost: {})
        self.max_body = max_body or (lambda _request: self.limits.body)
        self.admit = admit or (lambda _request, _operation: None)
        self.give_up = give_up or (lambda _context: None)
        self.end = end or (lambda _context: None)
        self.execute = execute or self._execute
        self.answered = answered or (lambda *_: None)
        self.page = page
        self.seconds = documents.limits.seconds if seconds is None else seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one HTTP request. A client that leaves raises Starlette's ``ClientDisconnect``."""
        request = Request(scope, receive)
        accept = ",".join(request.headers.getlist("accept"))
        if self.page and _is_visit(request, accept):
            await self.page(scope, receive, send)
            return
        response = await self._respond(request, accept)
        await response(scope, receive, send)

    async def _respond(self, request: Request, accept: str) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=HTTPStatus.NO_CONTENT, headers={"Allow": METHODS})
        media_type = _media_type(accept)
        if media_type is None:
            return respond(refusal(_not_acceptable()), JSON)
        try:
            return respond(await self._answer(request), media_type)
        except ClientDisconnect:
            raise
        except KernelIndexError as error:
            return respond(refusal(error), media_type)
        except Exception as error:  # noqa: BLE001 - the promise is that none gets out
            return respond(apology(error), media_type)

    async def _answer(self, request: Request) -> Answer:
        parameters = await self.read(request)
        try:
            prepared = self.documents.prepare(self.schema, parameters.query)
        except DocumentRejected as rejected:
            return Answer(only_errors(*rejected.errors), HTTPStatus.BAD_REQUEST, lenient=True)
        operation = prepared.operation(parameters.operation_name)
        if operation.operation is OperationType.SUBSCRIPTION:
            raise many_answers()
        return await self.run(prepared, operation, parameters.variables, request)

    async def admitted(
        self,
        prepared: Prepared,
        operation: OperationDefinitionNode,
        variables: dict[str, Any],
        connection: HTTPConnection,
    ) -> tuple[Any, Cost]:
        """The context of an operation that may be executed, and its cost. Raises :class:`OverCost`, or errors of ours.

        Every transport goes through here.
        """
        _check_method(connection, operation)
        self.admit(connection, operation)
        context = await _settled(self.make_context(connection))
        cost = Cost(prepared.cost(operation, variables), self.documents.max_cost(context))
        try:
            self.documents.check_cost(cost.requested, context, operation)
            self.documents.check_variables(variables, context, operation)
        except TooComplex as error:
            raise OverCost(error, cost) from None
        return context, cost

    async def run(
        self,
        prepared: Prepared,
        operation: OperationDefinitionNode,
        variables: dict[str, Any],
        connection: HTTPConnection,
    ) -> Answer:
        """The answer to a query or mutation of a valid document."""
        try:
            context, cost = await self.admitted(prepared, operation, variables, connection)
        except OverCost as over:
            return Answer(over.body, HTTPStatus.BAD_REQUEST, lenient=True)
        try:
            async with asyncio.timeout(self.seconds):
                result = await self.execute(prepared, operation, variables, context)
        except TimeoutError:
            self.give_up(context)
            raise _timeout(operation, self.seconds) from None
        extensions = await _settled(self.extensions_of(context, cost))
        if not result.errors:
            self.answered(connection, operation, context)
        self.end(context)
        return answer_of(result, {**extensions, "cost": cost})

    async def read(self, request: Request) -> Parameters:
        """What a request says. Raises errors of ours."""
        if request.method == "GET":
            return from_query_string(request.scope["query_string"], self.limits.json_depth)
        if request.method != "POST":
            raise refused(
                ErrorCode.METHOD_NOT_ALLOWED,
                f"{request.method} is not served here",
                remedy="use POST, or GET for queries",
                headers={"Allow": METHODS},
            )
        expect_json(request.headers)
        body = await read_body(request, self.max_body(request))
        return from_body(body, self.limits.json_depth)

    async def _execute(
        self, prepared: Prepared, operation: OperationDefinitionNode, variables: dict[str, Any], context: Any
    ) -> Result:
        return await self.schema.execute(
            prepared.text,
            variable_values=variables,
            context_value=context,
            operation_name=operation.name.value if operation.name else None,
        )


@lru_cache(maxsize=64)
def _media_type(accept: str) -> str | None:
    return negotiate(accept, (JSON, GRAPHQL_JSON))


def _is_visit(request: Request, accept: str) -> bool:
    return (
        request.method == "GET"
        and "query" not in request.query_params
        and negotiate(accept, (JSON, GRAPHQL_JSON, HTML)) == HTML
    )


def _not_acceptable() -> Refused:
    return refused(
        ErrorCode.UNSUPPORTED_MEDIA_TYPE,
        "None of the media types in Accept can be had",
        remedy=f"accept {GRAPHQL_JSON} or {JSON}",
        status=HTTPStatus.NOT_ACCEPTABLE,
    )


def _check_method(connection: HTTPConnection, operation: OperationDefinitionNode) -> None:
    """Raise :class:`Refused` (405) for a mutation in a link: following one must not write."""
    if operation.operation is OperationType.MUTATION and connection.scope.get("method") == "GET":
        raise refused(
            ErrorCode.METHOD_NOT_ALLOWED,
            "A mutation can't be sent by GET",
            remedy="use POST",
            headers={"Allow": "POST"},
        )


def _timeout(operation: OperationDefinitionNode, seconds: float) -> Refused:
    if operation.operation is OperationType.MUTATION:
        remedy = "it may have taken effect: send it again with the same idempotencyKey to find out"
    else:
        remedy = "ask for less at once"
    return refused(ErrorCode.QUERY_TIMEOUT, f"It took longer than {seconds:g} seconds", remedy=remedy)


async def _settled(value: T | Awaitable[T]) -> T:
    return await value if isawaitable(value) else value
