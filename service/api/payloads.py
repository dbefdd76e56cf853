"""What mutations answer: a success, or an error that tells what to do. Errors of an item don't spoil its batch."""

from typing import Annotated, Any

import strawberry

from domain.errors import KernelIndexError
from projections.model import Doc
from service.api.scalars import Digest, Position
from service.api.types.base import Documented, Node, Root, Told, loaded, picked, snapshot_of
from service.api.types.catalogue import Source
from service.api.types.enums import ErrorCode, Kind
from service.api.types.runs import Run


@strawberry.type(description="One thing that is wrong, where it is, and what would be right.")
class Problem:
    message: str = picked("What is wrong.")
    code: ErrorCode = picked("Its code.")
    path: str | None = picked("The field, such as `run.spec.timing.latencyNs.median`.")
    document: str | None = picked("The document, where there are several.")
    remedy: str | None = picked("What would be right.")


@strawberry.interface(description="Why something was not done, and what to do about it.")
class UserError(Told):
    message: str = picked("What is wrong; of several problems the first.")
    code: ErrorCode = picked("Its code.")
    path: str | None = picked("The field it is about.")
    remedy: str | None = picked("What would be right.")
    problems: list[Problem] = picked("All problems that were found.")


@strawberry.type(description="What was sent can't be accepted as it stands.")
class InvalidInput(Documented, UserError):
    pass


@strawberry.type(description="What was sent contradicts what is already recorded.")
class Conflict(Documented, UserError):
    pass


@strawberry.type(description="You may not do that.")
class Forbidden(Documented, UserError):
    pass


@strawberry.type(description="Nothing is recorded under that name.")
class NotFound(Documented, UserError):
    pass


@strawberry.type(description="Too much of it; a later try may succeed.")
class RateLimited(Documented, UserError):
    pass


@strawberry.type(description="A manifest by kind and digest.")
class ManifestReference:
    kind: Kind = picked("Its kind.")
    digest: Digest = picked("Its digest.")


@strawberry.type(description="A run that is recorded, by this request or an earlier one.")
class IngestRunSuccess(Documented):
    digest: Digest = picked("The run's digest.")
    created: bool = picked("Whether this request recorded it; false where it was recorded already.")
    metadata_differs: bool = picked("Whether an editorial part differs from the one that stands.")
    registered: list[ManifestReference] = picked("The manifests that this request registered.")
    unchanged: list[ManifestReference] = picked("The embedded manifests that were registered already.")
    position: Position | None = picked("A position at which all of it can be seen; null in a dry run.")

    @loaded(Run | None, "The run; null in a dry run that would record it.")
    async def run(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("runs", root["digest"])


@strawberry.type(description="A manifest that is registered, by this request or an earlier one.")
class RegisterManifestSuccess(Documented):
    digest: Digest = picked("The manifest's digest.")
    kind: Kind = picked("The manifest's kind.")
    created: bool = picked("Whether this request registered it; false where it was registered already.")
    metadata_differs: bool = picked("Whether its editorial part differs from the one that stands.")
    position: Position | None = picked("A position at which it can be seen; null in a dry run.")

    @loaded(Node | None, "What it shows as; null in a dry run that would register it.")
    async def node(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document(root["@table"], root["digest"])


@strawberry.type(description="A source that is registered.")
class RegisterSourceSuccess(Documented):
    created: bool = picked("Whether this request registered it; false where it was registered already.")
    position: Position = picked("A position at which it can be seen.")

    @loaded(Source, "The source.")
    async def source(self, root: Root) -> Doc:
        return await snapshot_of(root).source(root["@slug"])


Failure = InvalidInput | Conflict | Forbidden | NotFound | RateLimited

IngestRunPayload = Annotated[
    IngestRunSuccess | Failure, strawberry.union("IngestRunPayload", description="What became of a run.")
]
RegisterManifestPayload = Annotated[
    RegisterManifestSuccess | Failure,
    strawberry.union("RegisterManifestPayload", description="What became of a manifest."),
]
RegisterSourcePayload = Annotated[
    RegisterSourceSuccess | Failure,
    strawberry.union("RegisterSourcePayload", description="What became of a source."),
]


@strawberry.type(description="What became of each run of a batch.")
class IngestRunsSuccess(Documented):
    results: list[IngestRunPayload] = picked("One for each bundle, in the order given.")
    position: Position | None = picked("A position at which all of it can be seen; null in a dry run.")


@strawberry.type(description="What became of each manifest of a batch.")
class RegisterManifestsSuccess(Documented):
    results: list[RegisterManifestPayload] = picked("One for each manifest, in the order given.")
    position: Position | None = picked("A position at which all of it can be seen; null in a dry run.")


IngestRunsPayload = Annotated[
    IngestRunsSuccess | Failure, strawberry.union("IngestRunsPayload", description="What became of a batch of runs.")
]
RegisterManifestsPayload = Annotated[
    RegisterManifestsSuccess | Failure,
    strawberry.union("RegisterManifestsPayload", description="What became of a batch of manifests."),
]


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
