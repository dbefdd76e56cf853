"""The ``record`` part of a bundle: its model, and what is wrong with what does not fit it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from domain.errors import ErrorCode, InvalidInput, Problem
from domain.json_text import Json, shown
from domain.manifests.common import Date, Instant, Line500, Slug
from domain.patterns import NOT_ON_A_LINE

MAX_ALIASES: Final = 100
"""Lists that the API shows whole are bounded."""

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
