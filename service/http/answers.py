"""Answers before and after their media type is known, and the status of each.

* A request that is no GraphQL request, or is refused as a whole, has a 4xx or 5xx in either media type.
* A document or variables that don't fit are 400 in ``application/graphql-response+json`` and 200 in
  ``application/json``: the specification asks for that, for clients that take anything but 200 for a broken network.
* What was executed is 200, whatever errors its fields have; 500 only where something unforeseen ended it before that.
"""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final, Protocol

import msgspec
from graphql import GraphQLError
from starlette.responses import Response

from domain.errors import ErrorCode, KernelIndexError
from service.errors_out import Refused, execution_error, foreseen, status_of, unexpected
from service.http.negotiation import GRAPHQL_JSON, JSON, negotiate

CHALLENGE: Final = 'Bearer realm="kernelindex"'


class Result(Protocol):
    """What executing an operation gives: ``data`` and ``errors`` as in a GraphQL response."""

    data: dict[str, Any] | None
    errors: list[GraphQLError] | None


class Answer(msgspec.Struct, frozen=True):
    """A response before its media type; ``lenient`` where ``application/json`` wants 200 all the same."""

    body: dict[str, Any]
    status: HTTPStatus = HTTPStatus.OK
    lenient: bool = False
    headers: dict[str, str] = {}


def only_errors(*errors: GraphQLError) -> dict[str, Any]:
    """The body of a response to what was not executed: it has no ``data``."""
    return {"errors": [error.formatted for error in errors]}


def refusal(error: KernelIndexError) -> Answer:
    """The answer to a request that an error of ours ended."""
    status = status_of(error)
    headers = error.headers if isinstance(error, Refused) else {}
    if status is HTTPStatus.UNAUTHORIZED:
        headers = {"WWW-Authenticate": CHALLENGE, **headers}
    return Answer(only_errors(foreseen(error)), status, headers=headers)


def apology(error: Exception) -> Answer:
    """The answer to a request that something unforeseen ended; the log has the rest."""
    return Answer(only_errors(unexpected(error)), HTTPStatus.INTERNAL_SERVER_ERROR)


def answer_of(result: Result, extensions: dict[str, Any]) -> Answer:
    """The answer to an operation that was handed to execution."""
    errors = [execution_error(error) for error in result.errors or ()]
    if result.data is None and errors and not any(error.path for error in errors):
        body = only_errors(*errors) | {"extensions": extensions}
        if any((error.extensions or {}).get("code") == ErrorCode.INTERNAL for error in errors):
            return Answer(body, HTTPStatus.INTERNAL_SERVER_ERROR)
        return Answer(body, HTTPStatus.BAD_REQUEST, lenient=True)
    body = only_errors(*errors) if errors else {}
    return Answer(body | {"data": result.data, "extensions": extensions})


def respond(answer: Answer, media_type: str) -> Response:
    """The HTTP response in that media type. What has errors is not for caches to keep."""
    status = HTTPStatus.OK if answer.lenient and media_type == JSON else answer.status
    headers = {"Vary": "Accept", **answer.headers}
    if "errors" in answer.body:
        headers["Cache-Control"] = "no-store"
    return Response(msgspec.json.encode(answer.body), status, headers, f"{media_type}; charset=utf-8")


AnswerError = Callable[[Exception, str, str], Response]
"""What answers a request that an error ended: of the error, what the client accepts, and the path that it asked for."""


def error_as_json(error: Exception, accept: str, _path: str) -> Response:
    """The answer as an API gives it."""
    answer = refusal(error) if isinstance(error, KernelIndexError) else apology(error)
    return respond(answer, negotiate(accept, (JSON, GRAPHQL_JSON)) or JSON)
