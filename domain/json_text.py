"""Strict JSON, and the rules that every document tree keeps, whatever syntax it was written in .

Python's own parser accepts duplicate keys, NaN, lone surrogates and integers that no other reader holds exactly; each
of them would let two readers of one record see two records. The usual document is read at little more than the price
of ``json.loads``; which field is at fault is worked out only once something is.
"""

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from json import JSONDecodeError, JSONDecoder
from typing import Annotated, Any, Final, NoReturn, TypeAlias
from unicodedata import combining, is_normalized, normalize

import msgspec

from domain.errors import ErrorCode, InvalidInput, Problem, raise_if_any
from domain.identity import canonical_json

MAX_MARKS: Final = 30
"""Normalising takes the square of the marks on one letter; Unicode's stream-safe text (UAX 15) has at most 30."""

PILED_UP: Final = f"has more than {MAX_MARKS} combining marks on one letter"
_BEYOND_LATIN: Final = re.compile(rf"[\u0300-\U0010ffff]{{{MAX_MARKS + 1},}}")

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
Path: TypeAlias = tuple[str | int, ...]

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 64
MAX_INTEGER: Final = 2**53 - 1
MAX_PROBLEMS: Final = 20
SHOWN_CHARACTERS: Final = 60

# int() refuses thousands of digits; a literal of this many is out of range whatever follows.
_MAX_DIGITS: Final = 400
_PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_$-]+\Z")
# Canonical JSON writes whole floats below 1e21 without an exponent. From here on they are padded with zeros, which
# tells them from integers that somebody counted; below, one can't be told from the other.
_FIRST_PADDED: Final = 1e17
_NUMBER_REMEDY: Final = f"keep integers within ±{MAX_INTEGER} and floats finite, or write the value as text"


def read_json(text: str | bytes, document: str = "") -> Json:
    """The tree of one JSON text in UTF-8 (a byte order mark is tolerated), every rule of :func:`check_tree` kept.

    :raises InvalidInput: with the codes MALFORMED_DOCUMENT, DOCUMENT_TOO_LARGE (more than 1 MiB, or nested deeper than
        64), DUPLICATE_KEY, NUMBER_OUT_OF_RANGE and INVALID_TEXT. ``document`` is the name that the problems carry.
    """
    source = source_text(text, document)
    try:
        tree: Json = _FAST.decode(source)
    except (_Doubtful, msgspec.MsgspecError, ValueError, RecursionError):
        return _read_carefully(source, document)
    # An escape may spell what the text itself does not show: half a surrogate pair, a combining mark.
    if (
        "\\u" in source
        or not (source.isascii() or _text_fault(source) is None)
        or source.count("[") + source.count("{") > MAX_DEPTH
    ):
        check_tree(tree, document)
    return tree


def check_tree(tree: Json, document: str = "") -> None:
    """Refuse what no document may hold, naming the fields, in the order of the document.

    :raises InvalidInput: DOCUMENT_TOO_LARGE (nested deeper than 64), NUMBER_OUT_OF_RANGE (an integer of 2^53 or more in
        magnitude, or a float that reads as one in canonical JSON; NaN, an infinity), INVALID_TEXT (half a surrogate
        pair, text that is not NFC; keys too).
    """
    raise_if_any(problem.within(document) for problem in islice(_tree_problems(tree), MAX_PROBLEMS))


def source_text(text: str | bytes, document: str = "") -> str:
    """The document as text without its byte order mark, or :class:`InvalidInput` (over 1 MiB, not UTF-8)."""
    size = len(text)
    if isinstance(text, str) and MAX_BYTES >= size > MAX_BYTES // 4 and not text.isascii():
        size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise InvalidInput(too_large(f"is larger than {MAX_BYTES} bytes (1 MiB)").within(document))
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise InvalidInput.because(
            f"byte {error.start} does not belong to UTF-8 text",
            code=ErrorCode.MALFORMED_DOCUMENT,
            document=document,
            remedy="save the document as UTF-8",
        ) from None


def too_large(message: str, path: Path = ()) -> Problem:
    """The problem of a document beyond a bound of its size, depth or expansion."""
    return Problem(
        code=ErrorCode.DOCUMENT_TOO_LARGE,
        message=message,
        path=path_text(path),
        remedy="split it, or leave out what is not part of the record",
    )


def too_deep(path: Path = ()) -> Problem:
    """The problem of a container below the deepest level that is read."""
    return too_large(f"is nested deeper than {MAX_DEPTH} levels", path)


def duplicate_key(path: Path) -> Problem:
    """The problem of a key that its object already has; the path ends in the key."""
    return Problem(
        code=ErrorCode.DUPLICATE_KEY,
        message=f"the key {shown(path[-1])} stands here twice",
        path=path_text(path),
        remedy="keep one of the two",
    )


def integer_of(literal: str) -> int | float:
    """The integer that a decimal literal spells, or the float of which it is the canonical text (1e20's, say).

    One with thousands of digits is cut: it is out of range either way.
    """
    number = int(literal[:_MAX_DIGITS])
    if _FIRST_PADDED <= abs(number) < 1e21 and canonical_json(float(number)) == literal.encode():
        return float(number)
    return number


def path_text(path: Path) -> str:
    """A path as people write it: ``spec.cases[3].axes.m``. Unusual keys are quoted, long ones cut."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.match(part) and len(part) <= SHOWN_CHARACTERS:
            text += f".{part}" if text else part
        else:
            text += f"[{shown(part)}]"
    return text


def shown(value: Any) -> str:
    """A value as a message shows it: one line, at most about 60 characters, nothing in it that could not be printed."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, int) and value.bit_length() > 4 * SHOWN_CHARACTERS:
        return f"an integer of more than {SHOWN_CHARACTERS} digits"
    if isinstance(value, str):
        return _quoted(value)
    return json.dumps(value, default=lambda other: type(other).__name__)


def _quoted(text: str) -> str:
    cut = text[:SHOWN_CHARACTERS]
    escaped = json.dumps(cut, ensure_ascii=False)
    printable = "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in escaped)
    return printable if len(text) == len(cut) else f'{printable[:-1]}…"'


class _Doubtful(Exception):
    """The fast reading met what only the careful one can name."""


class _Members(list[tuple[str, Any]]):
    """An object in which a key stands twice, as its pairs."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Doubtful
    return members


def _object_or_members(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Members:
    members = dict(pairs)
    return members if len(members) == len(pairs) else _Members(pairs)


class Rounded(float):
    """A whole number that a literal with a fraction was rounded to: no integer, wherever one is asked for."""


def float_of(literal: str) -> float:
    """The float that a decimal literal spells, :class:`Rounded` where that alone made it whole."""
    number = float(literal)
    if number.is_integer() and abs(number) <= MAX_INTEGER and Decimal(literal) != int(number):
        return Rounded(number)
    return number


def _surely(literal: str) -> float:
    number = float_of(literal)
    if not -MAX_INTEGER <= number <= MAX_INTEGER:
        raise _Doubtful
    return number


def _reads_as_integer(number: float) -> bool:
    return MAX_INTEGER < abs(number) < _FIRST_PADDED


def _no_constant(_literal: str) -> NoReturn:
    raise _Doubtful


_FAST: Final = JSONDecoder(
    object_pairs_hook=_object,
    # A compiled decoder costs a third of a Python function here, and integers are what manifests have most of.
    parse_int=msgspec.json.Decoder(Annotated[int, msgspec.Meta(ge=-MAX_INTEGER, le=MAX_INTEGER)]).decode,
    parse_float=_surely,
    parse_constant=_no_constant,
)
_CAREFUL: Final = JSONDecoder(object_pairs_hook=_object_or_members, parse_int=integer_of, parse_float=float_of)


def _read_carefully(source: str, document: str) -> Json:
    try:
        tree: Json = _CAREFUL.decode(source)
    except RecursionError:
        raise InvalidInput(too_deep().within(document)) from None
    except JSONDecodeError as error:
        raise InvalidInput.because(
            f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}",
            code=ErrorCode.MALFORMED_DOCUMENT,
            document=document,
            remedy="check the brackets, commas and quotes there",
        ) from None
    check_tree(tree, document)
    return tree


def _tree_problems(tree: Json) -> Iterator[Problem]:
    # A stack of our own: the depth of a hostile tree must not be the depth of our calls.
    waiting: list[tuple[Path, Json]] = [((), tree)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict | list):
            if len(path) >= MAX_DEPTH:
                yield too_deep(path)
                continue
            members, problems = _members(path, value)
            yield from problems
            waiting.extend(reversed(members))
        elif (problem := _scalar_problem(path, value)) is not None:
            yield problem


def _members(path: Path, container: Any) -> tuple[list[tuple[Path, Json]], list[Problem]]:
    """What a container holds, each with its path, and what is wrong with its keys."""
    if isinstance(container, list) and not isinstance(container, _Members):
        return [((*path, index), value) for index, value in enumerate(container)], []
    members, problems, seen = [], [], set()
    for key, value in container if isinstance(container, _Members) else container.items():
        here = (*path, key)
        if key in seen:
            problems.append(duplicate_key(here))
        seen.add(key)
        if (fault := _text_fault(key)) is not None:
            problems.append(_text_problem(here, key, fault))
        members.append((here, value))
    return members, problems


def _scalar_problem(path: Path, value: Json) -> Problem | None:
    if isinstance(value, str):
        fault = _text_fault(value)
        return None if fault is None else _text_problem(path, value, fault)
    if isinstance(value, int) and not -MAX_INTEGER <= value <= MAX_INTEGER:
        message = f"{shown(value)} is an integer of 2^53 or more in magnitude, which not every reader holds exactly"
    elif isinstance(value, float) and not math.isfinite(value):
        message = "is not a number that a 64-bit float can hold"
    elif isinstance(value, float) and _reads_as_integer(value):
        message = f"{int(value)}, as canonical JSON writes it, is an integer of 2^53 or more in magnitude"
    else:
        return None
    return Problem(code=ErrorCode.NUMBER_OUT_OF_RANGE, message=message, path=path_text(path), remedy=_NUMBER_REMEDY)


def _text_fault(text: str) -> str | None:
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        return "holds half of a surrogate pair"
    if any(map(_is_piled_up, _BEYOND_LATIN.findall(text))):
        return PILED_UP
    return None if is_normalized("NFC", text) else "is not in Unicode's composed form (NFC)"


def _is_piled_up(run: str) -> bool:
    marks = 0
    for character in run:
        marks = marks + 1 if combining(character) else 0
        if marks > MAX_MARKS:
            return True
    return False


def _text_problem(path: Path, text: str, fault: str) -> Problem:
    if fault == PILED_UP:
        remedy = f"leave at most {MAX_MARKS} of them on one letter"
    elif "surrogate" in fault:
        remedy = "write the whole character"
    else:
        remedy = f"normalise it to NFC: {shown(normalize('NFC', text))}"
    return Problem(code=ErrorCode.INVALID_TEXT, message=f"{shown(text)} {fault}", path=path_text(path), remedy=remedy)
