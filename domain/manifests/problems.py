"""What a failed validation says to people: every problem at its path, in plain words, with what would be right."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

from pydantic import ValidationError

from domain.errors import ErrorCode, InvalidInput, Problem
from domain.json_text import MAX_PROBLEMS, SHOWN_CHARACTERS, Json, Path, path_text, shown
from domain.manifests.kinds import Kind
from domain.manifests.models import model_of
from domain.manifests.schemas import Schema, field_schema
from domain.patterns import LINE_PATTERN, PROSE_PATTERN

_KEY_MARK: Final = "[key]"
_REFUSED_BY: Final = {pattern: re.compile(f"[{pattern[3:-3]}]") for pattern in (LINE_PATTERN, PROSE_PATTERN)}

Error = Any  # pydantic's own type for it is not public


def accepted_by_model(tree: Json, kind: Kind, document: str = "") -> dict[str, Any]:
    """The normalised parts of a manifest of this kind. Raises :class:`InvalidInput` with what is wrong with it."""
    try:
        accepted: dict[str, Any] = model_of(kind).validate_python(tree)
    except ValidationError as failure:
        raise InvalidInput(*problems_of(failure, tree, kind, document)) from None
    return accepted


def problems_of(failure: ValidationError, tree: Json, kind: Kind, document: str = "") -> list[Problem]:
    """At most 20 problems of one document, in its order, one for a field."""
    found = islice(_by_field(failure.errors(include_url=False), tree), MAX_PROBLEMS)
    return [_problem(kind, path, is_key, error).within(document) for path, is_key, error in found]


def _by_field(errors: Sequence[Error], tree: Json) -> Iterator[tuple[Path, bool, Error]]:
    """The last error of each field: where several forms are accepted, the last one is the one written for people."""
    last: dict[tuple[Path, bool], Error] = {}
    for error in errors:
        here = _place(error, tree)
        if here not in last and len(last) == MAX_PROBLEMS:
            break
        last[here] = error
    for (path, is_key), error in last.items():
        yield path, is_key, error


def _place(error: Error, tree: Json) -> tuple[Path, bool]:
    """The path of the field within the document, and whether its key is at fault.

    pydantic's locations go on, after the field, with names of its own validators; what the document has not is cut.
    """
    location = error["loc"]
    is_key = len(location) > 1 and location[-1] == _KEY_MARK and error["input"] == location[-2]
    path: list[str | int] = []
    node: Any = tree
    for part in location[:-1] if is_key else location:
        if not _has(node, part):
            path += [part] if error["type"] == "missing" else []
            break
        path.append(part)
        node = node[part]
    return tuple(path), is_key


def _has(node: Json, part: str | int) -> bool:
    if isinstance(node, list):
        return isinstance(part, int) and part < len(node)
    return isinstance(node, dict) and part in node


def _problem(kind: Kind, path: Path, is_key: bool, error: Error) -> Problem:
    schema = field_schema(kind, path[:-1] if is_key else path)
    if is_key:
        schema = schema.get("propertyNames", {})
    code, message = _what_is_wrong(path, error, "the key " if is_key else "")
    if code is ErrorCode.UNKNOWN_FIELD:
        remedy = _known_fields(str(path[-1]), list(field_schema(kind, path[:-1]).get("properties", ())))
    elif error["input"] is None:
        remedy = f"leave the field out, or give {_expected(schema)}"
    else:
        remedy = f"give {_expected(schema)}"
    return Problem(code=code, message=message, path=path_text(path), remedy=remedy)


def _what_is_wrong(path: Path, error: Error, what: str) -> tuple[ErrorCode, str]:
    value, context = error["input"], error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            return ErrorCode.UNKNOWN_FIELD, f"{shown(path[-1])} is not a field here"
        case "missing":
            return ErrorCode.MISSING_FIELD, f"{shown(path[-1])} is missing"
        case "string_too_long":
            return ErrorCode.INVALID_VALUE, f"{what}has {len(value)} characters, {context['max_length']} are allowed"
        case "string_unicode":
            return ErrorCode.INVALID_TEXT, f"{what}{shown(value)} holds half of a surrogate pair"
        case "string_pattern_mismatch" if context["pattern"] in _REFUSED_BY:
            sign = _REFUSED_BY[context["pattern"]].search(value)
            name = f"U+{ord(sign[0]):04X}" if sign else "a character"
            return ErrorCode.INVALID_TEXT, f"{what}{shown(value)} holds {name}, which may not stand here"
        case "value_error":
            return ErrorCode.INVALID_VALUE, str(context["error"])
        case "too_short":
            return ErrorCode.INVALID_VALUE, "is empty"
        case _:
            return ErrorCode.INVALID_VALUE, f"{what}{shown(value)} is not accepted here"


def _known_fields(name: str, known: list[str]) -> str:
    close = get_close_matches(name[:SHOWN_CHARACTERS], known, n=1)
    return f"did you mean {close[0]}?" if close else f"known fields: {', '.join(known)}"


def _expected(schema: Schema) -> str:
    match schema:
        case {"enum": choices}:
            return "one of " + ", ".join(map(shown, choices))
        case {"const": value}:
            return shown(value)
        case {"type": "object", "properties": dict(fields)}:
            return f"an object with {', '.join(schema.get('required', list(fields)))}"
        case {"type": "array"}:
            return str(schema.get("description", "a list of at least one" if "minItems" in schema else "a list"))
        case {"type": "string", "maxLength": most, "description": described}:
            return f"{described}, of at most {most} characters"
        case {"description": described}:
            return str(described)
        case {"type": "boolean"}:
            return "true or false"
        case _:
            return "an object" if schema.get("type") == "object" else "a value of the schema"
