"""The errors that reach a reader: a small family, each with a stable code and a remedy."""

from collections.abc import Iterable
from enum import StrEnum
from typing import ClassVar, Self

import msgspec


class ErrorCode(StrEnum):
    """Every code that a client can meet. A released code never changes its meaning."""

    # documents
    MALFORMED_DOCUMENT = "MALFORMED_DOCUMENT"
    DOCUMENT_TOO_LARGE = "DOCUMENT_TOO_LARGE"
    DUPLICATE_KEY = "DUPLICATE_KEY"
    INVALID_TEXT = "INVALID_TEXT"
    NUMBER_OUT_OF_RANGE = "NUMBER_OUT_OF_RANGE"
    UNKNOWN_KIND = "UNKNOWN_KIND"
    UNKNOWN_FIELD = "UNKNOWN_FIELD"
    MISSING_FIELD = "MISSING_FIELD"
    INVALID_VALUE = "INVALID_VALUE"
    DIGEST_MISMATCH = "DIGEST_MISMATCH"
    # commands
    ALIAS_TAKEN = "ALIAS_TAKEN"
    IDEMPOTENCY_KEY_REUSED = "IDEMPOTENCY_KEY_REUSED"
    CONCURRENT_CHANGE = "CONCURRENT_CHANGE"
    SOURCE_NOT_YOURS = "SOURCE_NOT_YOURS"
    FORBIDDEN = "FORBIDDEN"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    RATE_LIMITED = "RATE_LIMITED"
    RUN_SUPERSEDED = "RUN_SUPERSEDED"
    RUN_RETRACTED = "RUN_RETRACTED"
    DISPUTE_CLOSED = "DISPUTE_CLOSED"
    ISSUE_CLOSED = "ISSUE_CLOSED"
    RERUN_TAKEN = "RERUN_TAKEN"
    RERUN_CLOSED = "RERUN_CLOSED"
    RUNNER_EXISTS = "RUNNER_EXISTS"
    RUNNER_SUSPENDED = "RUNNER_SUSPENDED"
    BAD_SIGNATURE = "BAD_SIGNATURE"
    # reads
    NOT_FOUND = "NOT_FOUND"
    GONE = "GONE"
    AMBIGUOUS_ID = "AMBIGUOUS_ID"
    INVALID_ID = "INVALID_ID"
    INVALID_CURSOR = "INVALID_CURSOR"
    POSITION_IN_FUTURE = "POSITION_IN_FUTURE"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    VIEWS_BEHIND = "VIEWS_BEHIND"
    CHECKPOINT_REFUSED = "CHECKPOINT_REFUSED"
    # transport
    BAD_REQUEST = "BAD_REQUEST"
    BODY_TOO_LARGE = "BODY_TOO_LARGE"
    UNSUPPORTED_MEDIA_TYPE = "UNSUPPORTED_MEDIA_TYPE"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    GRAPHQL_PARSE_FAILED = "GRAPHQL_PARSE_FAILED"
    GRAPHQL_VALIDATION_FAILED = "GRAPHQL_VALIDATION_FAILED"
    QUERY_TOO_COMPLEX = "QUERY_TOO_COMPLEX"
    QUERY_TIMEOUT = "QUERY_TIMEOUT"
    INTERNAL = "INTERNAL"


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is wrong, where it is, and what would be right.

    ``document`` names the document within its batch or file, ``path`` the field in it (``spec.cases[3].axes.m``).
    """

    code: ErrorCode
    message: str
    path: str = ""
    document: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        where = " ".join(part for part in (self.document, self.path) if part)
        text = ": ".join(part for part in (where, self.message) if part) + (f" ({self.remedy})" if self.remedy else "")
        # Names in documents are anybody's: at a terminal they must not move the cursor or turn the line around.
        return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)

    def within(self, document: str = "", prefix: str = "") -> Self:
        """The same problem, seen from the batch or bundle that holds its document."""
        joined = prefix + ("." if prefix and self.path and not self.path.startswith("[") else "") + self.path
        return msgspec.structs.replace(self, path=joined, document=document or self.document)


class KernelIndexError(Exception):
    """Base of the family. Carries one problem or more; the first one is the headline."""

    default_code: ClassVar[ErrorCode] = ErrorCode.INTERNAL

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems

    @classmethod
    def because(
        cls, message: str, *, code: ErrorCode | None = None, path: str = "", document: str = "", remedy: str = ""
    ) -> Self:
        """An error with one problem, by default under the code of its class."""
        return cls(Problem(code=code or cls.default_code, message=message, path=path, document=document, remedy=remedy))

    def within(self, document: str = "", prefix: str = "") -> Self:
        """The same error, its problems seen from the batch or bundle that holds the document."""
        return type(self)(*(problem.within(document, prefix) for problem in self.problems))


class InvalidInput(KernelIndexError):
    """What was sent can't be accepted as it stands."""

    default_code = ErrorCode.INVALID_VALUE


class Conflict(KernelIndexError):
    """What was sent contradicts what is already recorded."""

    default_code = ErrorCode.CONCURRENT_CHANGE


class Forbidden(KernelIndexError):
    """This principal may not do that."""

    default_code = ErrorCode.FORBIDDEN


class NotFound(KernelIndexError):
    """Nothing is recorded under that name."""

    default_code = ErrorCode.NOT_FOUND


class RateLimited(KernelIndexError):
    """Too much of it; a later try may succeed."""

    default_code = ErrorCode.RATE_LIMITED


def raise_if_any(problems: Iterable[Problem]) -> None:
    """Raise one :class:`InvalidInput` that carries them all, if there are any."""
    if found := tuple(problems):
        raise InvalidInput(*found)


FAMILY: dict[str, type[KernelIndexError]] = {
    kind.__name__: kind for kind in (InvalidInput, Conflict, Forbidden, NotFound, RateLimited)
}


def error_of(family: str, problems: Iterable[Problem]) -> KernelIndexError:
    """An error from the name of its class and its problems, as it was stored."""
    return FAMILY.get(family, KernelIndexError)(*problems)
