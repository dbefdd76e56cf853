"""The rows of a catalog export, as far as they are read, and what is wrong with the others.

Field names are the export's own. Fields that are not named here are not read.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from domain.bundle_records import Alias
from domain.errors import ErrorCode, InvalidInput, Problem, raise_if_any
from domain.json_text import MAX_INTEGER, Json, shown
from domain.manifests import Kind, Manifest, read_manifest
from domain.manifests.common import Digest, Instant, Line100, Line200, Line2000, Slug

Reference = Annotated[str | None, Field(description="the id of a row further up")]
Key = Annotated[Digest | None, Field(description="sha256: and 64 lower-case hex digits")]
STRICT = with_config(ConfigDict(extra="ignore", strict=True))


@STRICT
class Source(TypedDict):
    """A row of ``sources``."""

    id: Alias
    slug: Slug
    name: Line200
    kind: Line100
    policy: NotRequired[Annotated[dict[str, Any] | None, Field(description="the source's terms, as an object")]]


@STRICT
class Project(TypedDict):
    """A row of ``projects``."""

    id: Alias
    manifest: Any


@STRICT
class Operation(TypedDict):
    """A row of ``operations``."""

    id: Alias
    semanticDigest: Digest
    manifest: Any


@STRICT
class OperationAlias(TypedDict):
    """A row of ``operation_aliases``."""

    operationId: Annotated[str, Field(description="the id of an operation further up")]
    alias: Alias


@STRICT
class Workload(TypedDict):
    """A row of ``workloads``."""

    id: Alias
    operationId: NotRequired[Reference]
    workloadDigest: Digest
    manifest: Any


@STRICT
class Implementation(TypedDict):
    """A row of ``implementations``."""

    id: Alias
    projectId: NotRequired[Reference]
    operationId: NotRequired[Reference]
    implementationDigest: Digest
    manifest: Any


@STRICT
class RunManifests(TypedDict):
    """The manifests that a run's row holds."""

    run: Any
    protocol: Any
    environment: Any


@STRICT
class Run(TypedDict):
    """A row of ``benchmark_runs``."""

    id: Alias
    runDigest: Digest
    implementationId: NotRequired[Reference]
    workloadId: NotRequired[Reference]
    sourceId: NotRequired[Reference]
    protocolKey: NotRequired[Key]
    environmentKey: NotRequired[Key]
    correctnessKey: NotRequired[Key]
    comparisonKey: NotRequired[Key]
    publishedAt: NotRequired[Annotated[Instant | None, Field(description="RFC 3339 in UTC with Z")]]
    retractedAt: NotRequired[Any]
    manifest: Annotated[RunManifests, Field(description="an object with run, protocol and environment")]


@STRICT
class Artifact(TypedDict):
    """A row of ``artifacts``."""

    id: Alias
    contentDigest: Digest
    kind: Line100
    mediaType: NotRequired[Annotated[Line200 | None, Field(description="a media type")]]
    sizeBytes: NotRequired[Annotated[int | None, Field(ge=0, le=MAX_INTEGER, description="a number of bytes")]]
    uri: NotRequired[Annotated[Line2000 | None, Field(description="a URI")]]
    license: NotRequired[Annotated[Line200 | None, Field(description="the name of a licence")]]


def accepted(model: TypeAdapter[Any], row: Json) -> Any:
    """The row as its table's model takes it. Raises :class:`InvalidInput` with every field that it does not."""
    try:
        return model.validate_python(row)
    except ValidationError as failure:
        fields = model.json_schema().get("properties", {})
        raise InvalidInput(*_problems(failure, fields)) from None


def manifest_of(tree: Json, *kinds: Kind, within: str = "") -> Manifest:
    """The manifest in a row, or, by a name ``within`` its field ``manifest``, one of several."""
    try:
        return read_manifest(tree, kinds=kinds)
    except InvalidInput as error:
        raise error.within(prefix=f"row.manifest{within}") from None


def require_equal(stated: Mapping[str, tuple[str | None, str]]) -> None:
    """Refuse a row that states, in any of these fields, another digest than the one that its manifest gives."""
    raise_if_any(
        Problem(
            code=ErrorCode.DIGEST_MISMATCH,
            message=f"stands for {says}, the manifest gives {gives}",
            path=f"row.{field}",
            remedy="correct the one that is wrong: digests are of {apiVersion, kind, spec} in the form of RFC 8785",
        )
        for field, (says, gives) in stated.items()
        if says not in (None, gives)
    )


def require_standing(row: Run) -> None:
    """Refuse a run that was retracted: here it would look as if it stood."""
    if row.get("retractedAt") is not None:
        raise InvalidInput.because(
            "was retracted where it comes from", path="row.retractedAt", remedy="leave retracted runs out"
        )


def _problems(failure: ValidationError, fields: Mapping[str, Any]) -> Iterator[Problem]:
    for detail in failure.errors(include_url=False):
        place = [str(step) for step in detail["loc"]]
        missing = detail["type"] == "missing"
        described = fields.get(place[0], {}).get("description") if place else "an object"
        yield Problem(
            code=ErrorCode.MISSING_FIELD if missing else ErrorCode.INVALID_VALUE,
            message="is missing" if missing else f"{shown(detail['input'])} is not accepted",
            path=".".join(["row", *place]),
            remedy=f"give {described or 'what the table has here'}",
        )
