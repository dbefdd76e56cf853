"""What mutations answer where something was not done: a member of the error family, and what to do about it."""

from typing import Annotated, Any

import strawberry

from domain.errors import KernelIndexError
from projections.model import Doc
from service.api.types.base import Documented, Told, picked
from service.api.types.described import interface_type, object_type
from service.api.types.enums import ErrorCode


@object_type("One thing that is wrong, where it is, and what would be right.")
class Problem:
    message: str = picked("What is wrong.")
    code: ErrorCode = picked("Its code.")
    path: str | None = picked("The field, such as `run.spec.timing.latencyNs.median`.")
    document: str | None = picked("The document, where there are several.")
    remedy: str | None = picked("What would be right.")


@interface_type("Why something was not done, and what to do about it.")
class UserError(Told):
    message: str = picked("What is wrong; of several problems the first.")
    code: ErrorCode = picked("Its code.")
    path: str | None = picked("The field it is about.")
    remedy: str | None = picked("What would be right.")
    problems: list[Problem] = picked("All problems that were found.")


@object_type("What was sent can't be accepted as it stands.")
class InvalidInput(Documented, UserError):
    pass


@object_type("What was sent contradicts what is already recorded.")
class Conflict(Documented, UserError):
    pass


@object_type("You may not do that.")
class Forbidden(Documented, UserError):
    pass


@object_type("Nothing is recorded under that name.")
class NotFound(Documented, UserError):
    pass


@object_type("Too much of it; a later try may succeed.")
class RateLimited(Documented, UserError):
    pass


Failure = InvalidInput | Conflict | Forbidden | NotFound | RateLimited


def payload(success: type, description: str) -> Any:
    """The union of a mutation's success and the failures; ``XSuccess`` makes ``XPayload``."""
    name = f"{success.__name__.removesuffix('Success')}Payload"
    return Annotated[success | Failure, strawberry.union(name, description=description)]


def failure(error: KernelIndexError) -> Doc:
    """The document of an error."""
    problems = [_problem(problem) for problem in error.problems]
    return {"@type": type(error).__name__, **problems[0], "problems": problems}


def _problem(problem: Any) -> Doc:
    return {
        "message": problem.message,
        "code": problem.code.value,
        "path": problem.path or None,
        "document": problem.document or None,
        "remedy": problem.remedy or None,
    }
