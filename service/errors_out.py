"""How errors leave: with a code of ``ErrorCode``, a message meant for the reader, and nothing internal.

What goes out as it is: our own family (``KernelIndexError``), graphql-core's complaints about the document, and errors
that carry one of our codes. Everything else is logged with its traceback and leaves as ``Unexpected error`` with the id
of the request, under which the log has the rest.

Codes of errors that graphql-core finds: a document that can't be parsed is ``GRAPHQL_PARSE_FAILED``, one that doesn't
fit the schema ``GRAPHQL_VALIDATION_FAILED``, one over a limit ``QUERY_TOO_COMPLEX``. Variables or arguments whose
*values* don't fit are ``BAD_REQUEST``: the document is right, and may be sent again with other values. Where a scalar
refused a value with an error of ours, that error's code stands, in variables and in literals alike.
"""

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from graphql import GraphQLError, GraphQLSyntaxError
from strawberry import Schema
from strawberry.exceptions import MissingQueryError
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.types import ExecutionContext

from domain.errors import ErrorCode, KernelIndexError, Problem
from service.logs import Log, request_id

log = Log("errors")

UNEXPECTED: Final = "Unexpected error"
MAX_MESSAGE: Final = 500
# What graphql-core says when a document or value takes too much to check.
ABORTED: Final = re.compile(r"Validation aborted\.\Z|.* nested too deeply\b|.*contains more than \d+ tokens\b")
# The text of whatever a scalar's parser raised, which graphql-core puts into its message.
RAISED: Final = re.compile(r", but encountered error '.*?'; found", re.DOTALL)
CODES: Final[frozenset[object]] = frozenset(ErrorCode)

STATUS: Final[Mapping[ErrorCode, HTTPStatus]] = {
    ErrorCode.METHOD_NOT_ALLOWED: HTTPStatus.METHOD_NOT_ALLOWED,
    ErrorCode.BODY_TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    ErrorCode.DOCUMENT_TOO_LARGE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    ErrorCode.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    ErrorCode.FORBIDDEN: HTTPStatus.FORBIDDEN,
    ErrorCode.SOURCE_NOT_YOURS: HTTPStatus.FORBIDDEN,
    ErrorCode.RUNNER_SUSPENDED: HTTPStatus.FORBIDDEN,
    ErrorCode.BAD_SIGNATURE: HTTPStatus.FORBIDDEN,
    ErrorCode.NOT_FOUND: HTTPStatus.NOT_FOUND,
    ErrorCode.POSITION_IN_FUTURE: HTTPStatus.NOT_FOUND,
    ErrorCode.GONE: HTTPStatus.GONE,
    ErrorCode.RUN_SUPERSEDED: HTTPStatus.CONFLICT,
    ErrorCode.RUN_RETRACTED: HTTPStatus.CONFLICT,
    ErrorCode.DISPUTE_CLOSED: HTTPStatus.CONFLICT,
    ErrorCode.ISSUE_CLOSED: HTTPStatus.CONFLICT,
    ErrorCode.RERUN_TAKEN: HTTPStatus.CONFLICT,
    ErrorCode.RERUN_CLOSED: HTTPStatus.CONFLICT,
    ErrorCode.RUNNER_EXISTS: HTTPStatus.CONFLICT,
    ErrorCode.ALIAS_TAKEN: HTTPStatus.CONFLICT,
    ErrorCode.IDEMPOTENCY_KEY_REUSED: HTTPStatus.CONFLICT,
    ErrorCode.CONCURRENT_CHANGE: HTTPStatus.CONFLICT,
    ErrorCode.RATE_LIMITED: HTTPStatus.TOO_MANY_REQUESTS,
    ErrorCode.VIEWS_BEHIND: HTTPStatus.SERVICE_UNAVAILABLE,
    ErrorCode.CHECKPOINT_REFUSED: HTTPStatus.SERVICE_UNAVAILABLE,
    ErrorCode.QUERY_TIMEOUT: HTTPStatus.GATEWAY_TIMEOUT,
    ErrorCode.INTERNAL: HTTPStatus.INTERNAL_SERVER_ERROR,
}


class QuietSchema(Schema):
    """A schema that leaves logging to this module: Strawberry's own logs every mistyped query with a traceback."""

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Nothing: what must be logged is, where it is masked."""


class Refused(KernelIndexError):
    """A request that is answered with an HTTP error. ``status`` follows from the code unless it is given."""

    default_code = ErrorCode.BAD_REQUEST

    def __init__(
        self, *problems: Problem, status: HTTPStatus | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(*problems)
        self.status = status
        self.headers = dict(headers or {})


def refused(
    code: ErrorCode,
    message: str,
    *,
    remedy: str = "",
    status: HTTPStatus | None = None,
    headers: Mapping[str, str] | None = None,
) -> Refused:
    """A refusal with one problem."""
    return Refused(Problem(code=code, message=message, remedy=remedy), status=status, headers=headers)


def many_answers() -> Refused:
    """The refusal of a subscription where there can be one answer only."""
    return refused(
        ErrorCode.BAD_REQUEST,
        "A subscription has more than one answer",
        remedy="subscribe over a WebSocket (graphql-transport-ws) at /graphql, or over SSE at /graphql/stream",
    )


def status_of(error: KernelIndexError) -> HTTPStatus:
    """The HTTP status that an error of ours is answered with when it ends the whole request."""
    if isinstance(error, Refused) and error.status is not None:
        return error.status
    return STATUS.get(error.problems[0].code if error.problems else ErrorCode.INTERNAL, HTTPStatus.BAD_REQUEST)


def unexpected(error: BaseException, **where: Any) -> GraphQLError:
    """Log an error that nobody foresaw, and give what the reader may know of it."""
    found_under = request_id()
    log.error("unexpected error", failure=error, request_id=found_under, **where)
    extensions = {"code": ErrorCode.INTERNAL, "requestId": found_under}
    return GraphQLError(UNEXPECTED, extensions=extensions)


def foreseen(error: KernelIndexError) -> GraphQLError:
    """An error of ours: its first problem is the headline, all of them are listed where there are several."""
    headline = error.problems[0] if error.problems else None
    if headline is None or headline.code is ErrorCode.INTERNAL:
        return unexpected(error)
    extensions = _fields(headline)
    if len(error.problems) > 1:
        extensions["problems"] = [{"message": problem.message, **_fields(problem)} for problem in error.problems]
    return GraphQLError(headline.message, extensions=extensions)


def _fields(problem: Problem) -> dict[str, Any]:
    optional = {"path": problem.path, "document": problem.document, "remedy": problem.remedy}
    return {"code": problem.code, **{name: value for name, value in optional.items() if value}}


def document_error(error: GraphQLError) -> GraphQLError:
    """An error that parsing or validation found, with its code."""
    if (code := _code(error)) is None:
        code = ErrorCode.GRAPHQL_VALIDATION_FAILED
        if isinstance(error, GraphQLSyntaxError):
            code = ErrorCode.GRAPHQL_PARSE_FAILED
        if ABORTED.match(error.message):
            code = ErrorCode.QUERY_TOO_COMPLEX
    return _retold(error, _readable(error), {**(error.extensions or {}), "code": code, **_of_cause(error)})


def execution_error(error: GraphQLError) -> GraphQLError:
    """An error of an executed operation, as it may leave."""
    if _code(error):
        return _retold(error, error.message, error.extensions or {})
    if isinstance(error, GraphQLSyntaxError):
        return document_error(error)
    if _is_about_values(error):
        return _retold(error, _readable(error), {"code": ErrorCode.BAD_REQUEST, **_of_cause(error)})
    cause = cause_of(error)
    if isinstance(cause, CannotGetOperationTypeError | InvalidOperationTypeError | MissingQueryError):
        return _retold(error, error.message, {"code": ErrorCode.BAD_REQUEST})
    told = foreseen(cause) if isinstance(cause, KernelIndexError) else unexpected(cause, path=error.path)
    return _retold(error, told.message, told.extensions or {})


def execution_errors(errors: Sequence[GraphQLError]) -> list[dict[str, Any]]:
    """The formatted errors of an executed operation, as they may leave."""
    return [dict(execution_error(error).formatted) for error in errors]


def _is_about_values(error: GraphQLError) -> bool:
    """Whether graphql-core refused a variable (before any field: no path) or the runtime value of an argument."""
    if error.path is not None:
        return isinstance(error.original_error, GraphQLError) and error.message.startswith("Argument ")
    return error.original_error is None or isinstance(error.original_error, GraphQLError)


def cause_of(error: GraphQLError) -> BaseException:
    """What was first raised."""
    cause: BaseException = error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    return cause


def _code(error: GraphQLError) -> ErrorCode | None:
    code = (error.extensions or {}).get("code")
    return ErrorCode(str(code)) if code in CODES else None


def _of_cause(error: GraphQLError) -> dict[str, Any]:
    cause = cause_of(error)
    return _fields(cause.problems[0]) if isinstance(cause, KernelIndexError) and cause.problems else {}


def _readable(error: GraphQLError) -> str:
    """The message, where it quotes what a scalar raised: the problem if it is one of ours, else nothing of it."""
    cause = cause_of(error)
    reason = f" ({cause.problems[0].message})" if isinstance(cause, KernelIndexError) and cause.problems else ""
    return RAISED.sub(lambda _: f"{reason}, found", error.message)


def _retold(error: GraphQLError, message: str, extensions: Mapping[str, Any]) -> GraphQLError:
    """The same place in the document and the answer, told in other words and not at any length."""
    told = message if len(message) <= MAX_MESSAGE else f"{message[:MAX_MESSAGE]}…"
    return GraphQLError(told, error.nodes, error.source, error.positions, error.path, extensions=dict(extensions))
