"""Field types that the kinds share, and what a manifest says about itself.

Patterns are written in the syntax that JSON Schema, Python and Rust share, with ``[0-9]``: ``\\d`` would take every
script's digits here. A description serves twice: in the published schema, and as the remedy of a problem.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any, Final, Literal, NotRequired, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from typing_extensions import TypedDict

from domain.durations import DURATION_PATTERN, duration_ns
from domain.json_text import MAX_INTEGER, Rounded, shown
from domain.patterns import LINE_PATTERN, MOST_SLUG, PROSE_PATTERN, SLUG_PATTERN

T = TypeVar("T")
K = TypeVar("K")

STRICT: Final = ConfigDict(extra="forbid", strict=True)

# A megabyte of wrong items would become gigabytes of errors: after a wrong step nothing more is looked at.
_STEP: Final = 64

_ON_ONE_LINE: Final = "text on one line, without control or direction-changing characters"
_PROSE: Final = "text, without control characters but line breaks and tabs, and without direction-changing ones"

_LEAP_YEAR: Final = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DAY: Final = (
    f"(?:{_LEAP_YEAR}-02-29|[0-9]{{4}}-(?:02-(?:0[1-9]|1[0-9]|2[0-8])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])))"
)
_TIME: Final = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?"


def _whole(value: Any) -> Any:
    if type(value) is Rounded:
        raise ValueError(f"is not whole, and rounds to {int(value)}: write it with at most 15 digits")
    # To JSON Schema 1.0 is an integer, and RFC 8785 writes both alike.
    return int(value) if type(value) is float and value.is_integer() else value


def _nanoseconds(value: Any) -> Any:
    return duration_ns(value) if isinstance(value, str) else _whole(value)


def _exact(value: Any) -> Any:
    # A float field would round it silently.
    if type(value) is int and not -MAX_INTEGER <= value <= MAX_INTEGER:
        raise ValueError(f"{shown(value)} is an integer beyond ±{MAX_INTEGER}, which not every reader holds exactly")
    return value


def _list_in_steps(items: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    if not isinstance(items, list) or len(items) <= _STEP:
        return validate(items)
    accepted = []
    for start in range(0, len(items), _STEP):
        try:
            accepted += validate(items[start : start + _STEP])
        except ValidationError:
            # Once more from the first item, so that the error counts from there too.
            return validate(items[: start + _STEP])
    return accepted


def _map_in_steps(members: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    if not isinstance(members, dict) or len(members) <= _STEP:
        return validate(members)
    accepted: dict[str, Any] = {}
    waiting: Iterator[tuple[str, Any]] = iter(members.items())
    while step := dict(islice(waiting, _STEP)):
        accepted |= validate(step)
    return accepted


def _as_set(items: list[str]) -> list[str]:
    # By UTF-16 code units, as RFC 8785 orders keys, so that every language sorts alike.
    return sorted(set(items), key=lambda item: item.encode("utf-16-be"))


List: TypeAlias = Annotated[list[T], WrapValidator(_list_in_steps)]
FilledList: TypeAlias = Annotated[list[T], Field(min_length=1), WrapValidator(_list_in_steps)]
Map: TypeAlias = Annotated[dict[K, T], WrapValidator(_map_in_steps)]

ONE_LINE: Final = Field(pattern=LINE_PATTERN, description=_ON_ONE_LINE)
Line50: TypeAlias = Annotated[str, Field(max_length=50), ONE_LINE]
Line100: TypeAlias = Annotated[str, Field(max_length=100), ONE_LINE]
Line200: TypeAlias = Annotated[str, Field(max_length=200), ONE_LINE]
Line500: TypeAlias = Annotated[str, Field(max_length=500), ONE_LINE]
Line2000: TypeAlias = Annotated[str, Field(max_length=2000), ONE_LINE]

MANY_LINES: Final = Field(pattern=PROSE_PATTERN, description=_PROSE)
Prose500: TypeAlias = Annotated[str, Field(max_length=500), MANY_LINES]
Prose1000: TypeAlias = Annotated[str, Field(max_length=1000), MANY_LINES]
Prose2000: TypeAlias = Annotated[str, Field(max_length=2000), MANY_LINES]

Name: TypeAlias = Annotated[
    str,
    Field(
        max_length=200,
        pattern=r"^[a-z0-9][a-z0-9._-]*$",
        description="lower-case letters, digits, '.', '_' and '-', not beginning with a sign",
    ),
]
Key: TypeAlias = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z0-9_]*$", description="lower-case letters, digits and '_', beginning with a letter: bf16"
    ),
]
Slug: TypeAlias = Annotated[
    str,
    Field(
        max_length=MOST_SLUG,
        pattern=SLUG_PATTERN,
        description="lower-case letters, digits and '-', not beginning with '-'",
    ),
]
Digest: TypeAlias = Annotated[
    str, Field(pattern=r"^sha256:[0-9a-f]{64}$", description="sha256: and 64 lower-case hex digits")
]
Commit: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$", description="40 lower-case hex digits")]
Date: TypeAlias = Annotated[str, Field(pattern=f"^{_DAY}$", description="a UTC day: 2026-08-01")]
Instant: TypeAlias = Annotated[
    str,
    Field(pattern=f"^{_DAY}T{_TIME}Z$", description="RFC 3339 in UTC with Z: 2026-08-01T12:00:00Z"),
]

_EITHER: Final = Field(union_mode="left_to_right")
_NATURAL: Final = Field(ge=0, le=MAX_INTEGER)
_POSITIVE: Final = Field(gt=0, le=MAX_INTEGER)
_INTEGER: Final = Field(ge=-MAX_INTEGER, le=MAX_INTEGER)
_NATURAL_SCHEMA: Final = {"type": "integer", "minimum": 0, "maximum": MAX_INTEGER}
_POSITIVE_SCHEMA: Final = {"type": "integer", "exclusiveMinimum": 0, "maximum": MAX_INTEGER}
_INTEGER_SCHEMA: Final = {"type": "integer", "minimum": -MAX_INTEGER, "maximum": MAX_INTEGER}

# The first member of each union is checked without a call into Python; it is what nearly every document holds.
Natural: TypeAlias = Annotated[
    Annotated[int, _NATURAL] | Annotated[int, _NATURAL, BeforeValidator(_whole)],
    _EITHER,
    WithJsonSchema({**_NATURAL_SCHEMA, "description": "an integer from 0, below 2^53"}),
]
Positive: TypeAlias = Annotated[
    Annotated[int, _POSITIVE] | Annotated[int, _POSITIVE, BeforeValidator(_whole)],
    _EITHER,
    WithJsonSchema({**_POSITIVE_SCHEMA, "description": "an integer from 1, below 2^53"}),
]
Integer: TypeAlias = Annotated[
    Annotated[int, _INTEGER] | Annotated[int, _INTEGER, BeforeValidator(_whole)],
    _EITHER,
    WithJsonSchema({**_INTEGER_SCHEMA, "description": "an integer within ±(2^53 - 1)"}),
]
Duration: TypeAlias = Annotated[
    Annotated[int, _NATURAL] | Annotated[int, _NATURAL, BeforeValidator(_nanoseconds)],
    _EITHER,
    WithJsonSchema(
        {
            "anyOf": [_NATURAL_SCHEMA, {"type": "string", "pattern": DURATION_PATTERN}],
            "description": 'whole nanoseconds: write it as 8120 or "8.12 us"',
        }
    ),
]
Size: TypeAlias = Annotated[
    Annotated[int, _NATURAL] | Annotated[int, _NATURAL, BeforeValidator(_whole)] | Key,
    _EITHER,
    WithJsonSchema(
        {
            "anyOf": [_NATURAL_SCHEMA, {"type": "string", "pattern": r"^[a-z][a-z0-9_]*$"}],
            "description": "a size from 0, or the name of an axis",
        }
    ),
]

Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False, description="a number"), BeforeValidator(_exact)]
NumberFrom0: TypeAlias = Annotated[
    float, Field(ge=0, allow_inf_nan=False, description="a number from 0"), BeforeValidator(_exact)
]
NumberAbove0: TypeAlias = Annotated[
    float, Field(gt=0, allow_inf_nan=False, description="a number above 0"), BeforeValidator(_exact)
]
Ratio: TypeAlias = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, description="a ratio from 0 to 1")]

KeySet: TypeAlias = Annotated[List[Key], AfterValidator(_as_set)]
Line50Set: TypeAlias = Annotated[List[Line50], AfterValidator(_as_set)]
Line100Set: TypeAlias = Annotated[List[Line100], AfterValidator(_as_set)]
Line200Set: TypeAlias = Annotated[List[Line200], AfterValidator(_as_set)]

ApiVersion: TypeAlias = Literal["kernelindex.dev/v1alpha1"]


class Author(TypedDict):
    """Who made what the manifest describes."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    name: NotRequired[Line200]
    github: NotRequired[Line100]


class SourceRef(TypedDict):
    """Where the facts of the manifest were read."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    url: Line2000


class Metadata(TypedDict):
    """What a manifest says about itself: editorial, never part of its identity."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    name: Name
    title: NotRequired[Line200]
    description: NotRequired[Prose2000]
    labels: NotRequired[Map[Key, Line200]]
    authors: NotRequired[List[Author]]
    sourceRefs: NotRequired[List[SourceRef]]


class Artifact(TypedDict):
    """A file kept elsewhere, pinned by its digest."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    uri: Line2000
    digest: Digest
