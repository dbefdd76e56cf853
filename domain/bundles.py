"""What is ingested at once: a run with any of the manifests it refers to, and how its source speaks of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, NotRequired

import msgspec
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from domain.errors import ErrorCode, InvalidInput, Problem, raise_if_any
from domain.facts import ArtifactRecorded
from domain.instants import instant_of_date
from domain.json_text import Json, shown
from domain.manifests import Kind, Manifest, read_manifest
from domain.manifests.common import NOT_ON_A_LINE, Date, Instant, Line500, Slug

PARTS: Final[dict[str, tuple[Kind, ...]]] = {
    "project": (Kind.SOFTWARE_PROJECT,),
    "operation": (Kind.OPERATION_SPEC,),
    "workload": (Kind.WORKLOAD_CASE, Kind.WORKLOAD_SUITE),
    "implementation": (Kind.IMPLEMENTATION_REVISION,),
    "protocol": (Kind.BENCHMARK_PROTOCOL,),
    "environment": (Kind.EXECUTION_ENVIRONMENT,),
    "run": (Kind.BENCHMARK_RUN,),
}
"""The parts of a bundle, in the order in which they are registered."""

_ORDER: Final = {kind: place for place, kinds in enumerate(PARTS.values()) for kind in kinds}

MAX_ALIASES: Final = 100
"""Lists that the API shows whole are bounded."""


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """Validated manifests and what goes with them. ``aliases`` are pairs of another name and the object it names."""

    manifests: tuple[Manifest, ...] = ()
    run: Manifest | None = None
    project: str | None = None
    aliases: tuple[tuple[str, str], ...] = ()
    artifacts: tuple[ArtifactRecorded, ...] = ()
    source: str | None = None
    external_id: str | None = None
    producer: str | None = None
    published_at: str | None = None

    def part(self, *kinds: Kind) -> Manifest | None:
        """The embedded manifest of one of these kinds, if there is one."""
        return next((manifest for manifest in self.manifests if manifest.kind in kinds), None)


# Beside what no line may hold, whatever has no shape of its own: two aliases must never look alike.
_INVISIBLE: Final = r"\u00ad\u061c\u180e\u200b-\u200f\u2028\u2029\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"
_UNSEEN: Final = NOT_ON_A_LINE + _INVISIBLE
Alias = Annotated[
    str,
    Field(
        max_length=200,
        pattern=rf"^[^\s{_UNSEEN}](?:[^{_UNSEEN}]*[^\s{_UNSEEN}])?$",
        description="1 to 200 characters on one line, none of them invisible, without blanks at its ends",
    ),
]
ExternalId = Annotated[Line500, Field(min_length=1, description="1 to 500 characters on one line")]


@with_config(ConfigDict(extra="forbid", strict=True))
class Record(TypedDict):
    """The ``record`` part of a bundle: how the source and other indexes speak of this run."""

    source: NotRequired[Slug]
    externalId: NotRequired[ExternalId]
    aliases: NotRequired[Annotated[list[Alias], Field(max_length=MAX_ALIASES, description="at most 100 aliases")]]
    publishedOn: NotRequired[Date]
    publishedAt: NotRequired[Instant]
    producer: NotRequired[ExternalId]


_RECORD: Final = TypeAdapter(Record)
_RECORD_FIELDS: Final[dict[str, Any]] = _RECORD.json_schema()["properties"]


def read_bundle(tree: Json, document: str = "", *, read: Callable[..., Manifest] = read_manifest) -> Bundle:
    """Validate a bundle, or a single manifest as a bundle of one. Raises :class:`InvalidInput` with every problem.

    ``read`` is for who reads the same parts again and again and keeps them.
    """
    if not isinstance(tree, dict) or "kind" in tree:
        return bundle_of(read(tree, document=document))
    problems: list[Problem] = list(_unknown_parts(tree, document))
    manifests: dict[str, Manifest] = {}
    for part, kinds in PARTS.items():
        if part in tree:
            try:
                manifests[part] = read(tree[part], document=document, kinds=kinds)
            except InvalidInput as error:
                problems.extend(error.within(document, part).problems)
    record = Record()
    try:
        record = read_record(tree.get("record", {}), document)
        raise_if_any(_nothing_to_name(tree, record, document))
    except InvalidInput as error:
        problems.extend(error.problems)
    if problems or not manifests:
        raise InvalidInput(*(problems or [_empty(document)]))
    return bundle_of(*manifests.values(), record=record)


def bundle_of(*manifests: Manifest, record: Record | None = None) -> Bundle:
    """A bundle of validated manifests, at most one of each part."""
    stated: Record = record if record is not None else Record()
    run = next((manifest for manifest in manifests if manifest.kind is Kind.BENCHMARK_RUN), None)
    named = run or (manifests[0] if len(manifests) == 1 else None)
    project = next((manifest for manifest in manifests if manifest.kind is Kind.SOFTWARE_PROJECT), None)
    published_on = stated.get("publishedOn")
    return Bundle(
        manifests=tuple(sorted((one for one in manifests if one is not run), key=lambda one: _ORDER[one.kind])),
        run=run,
        project=project.digest if project else None,
        aliases=tuple((alias, named.digest) for alias in stated.get("aliases", ())) if named else (),
        source=stated.get("source"),
        external_id=stated.get("externalId"),
        producer=stated.get("producer"),
        published_at=stated.get("publishedAt") or (instant_of_date(published_on) if published_on else None),
    )


def read_record(tree: Json, document: str = "") -> Record:
    """Validate the ``record`` part of a bundle."""
    try:
        return _RECORD.validate_python(tree)
    except ValidationError as error:
        raise InvalidInput(*(_problem(detail, document) for detail in error.errors(include_url=False))) from None


def _problem(detail: Mapping[str, Any], document: str) -> Problem:
    path = "record" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in detail["loc"])
    unknown = detail["type"] == "extra_forbidden"
    return Problem(
        code=ErrorCode.UNKNOWN_FIELD if unknown else ErrorCode.INVALID_VALUE,
        message="is not a field of a record" if unknown else f"{shown(detail['input'])} is not accepted",
        path=path,
        document=document,
        remedy=_remedy(detail["loc"], unknown=unknown),
    )


def _remedy(place: Sequence[str | int], *, unknown: bool) -> str:
    if unknown or not place:
        return f"a record is an object with any of {', '.join(Record.__annotations__)}"
    schema = _RECORD_FIELDS[str(place[0])]
    expected = schema.get("items", schema) if len(place) > 1 else schema
    return f"give {expected['description']}"


def _unknown_parts(tree: Mapping[str, Json], document: str) -> Iterator[Problem]:
    for part in tree:
        if part not in PARTS and part != "record":
            yield Problem(
                code=ErrorCode.UNKNOWN_FIELD,
                message="is not a part of a bundle",
                path=part[:100],
                document=document,
                remedy=f"the parts are {', '.join(reversed(PARTS))} and record; a single manifest needs its kind",
            )


def _nothing_to_name(tree: Mapping[str, Json], record: Record, document: str) -> Iterator[Problem]:
    """Aliases name the run, or the only manifest; in a bundle of several it would be anybody's guess which."""
    if record.get("aliases") and "run" not in tree and len(tree.keys() & PARTS.keys()) > 1:
        yield Problem(
            code=ErrorCode.INVALID_VALUE,
            message="the bundle holds several manifests and no run, so these aliases name none of them",
            path="record.aliases",
            document=document,
            remedy="send the manifest that they name in a bundle of its own, or leave them out",
        )


def _empty(document: str) -> Problem:
    return Problem(
        code=ErrorCode.MISSING_FIELD,
        message="the bundle holds no manifest",
        document=document,
        remedy=f"give at least one of {', '.join(reversed(PARTS))}",
    )
