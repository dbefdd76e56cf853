"""What a search asks for: plain words, quoted phrases, ``field:value`` and ``axis=value``, all of which must hold.

Any text is a search. What can't be understood is left out, and a hint says so.
"""

import re
import unicodedata
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

import msgspec

from domain.errors import ErrorCode, InvalidInput
from domain.policies.evidence import EvidenceLevel

FIELDS: Final = ("op", "family", "gpu", "arch", "dtype", "language", "source", "evidence")
MAX_LENGTH: Final = 500
MAX_TERMS: Final = 20

# ``at::matmul`` and ``https://…`` are words, not fields.
_ITEM: Final = re.compile(
    r"""(?P<field>[A-Za-z_]+):(?!:|//)(?:"(?P<quoted>[^"]*)"?|(?P<value>\S*))|"(?P<phrase>[^"]*)"?|(?P<word>\S+)"""
)
_AXIS: Final = re.compile(r"(?P<name>[^=]*[^\W_][^=]*)=(?P<value>[0-9]+)\Z")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Term(msgspec.Struct, frozen=True):
    """One thing that must hold. ``field`` is None for what may stand anywhere, ``axis`` for ``name=value``.

    ``whole`` asks for these words as they are; else the last of them may go on (``gem`` finds ``gemm``).
    """

    text: str
    field: str | None = None
    whole: bool = False


class Search(msgspec.Struct, frozen=True):
    """A search as it was understood. ``text`` is all of it, which may be an id."""

    text: str
    terms: tuple[Term, ...]
    hints: tuple[str, ...]

    @property
    def words(self) -> tuple[Term, ...]:
        """What may stand anywhere."""
        return tuple(term for term in self.terms if term.field is None)


def read_search(text: str) -> Search:
    """Understand a search. Raises :class:`InvalidInput` where it is longer than 500 characters."""
    if len(text) > MAX_LENGTH:
        raise InvalidInput.because(
            f"the search has {len(text)} characters",
            code=ErrorCode.INVALID_ARGUMENT,
            path="text",
            remedy=f"search for at most {MAX_LENGTH}",
        )
    readable = text.encode(errors="replace").decode()
    cleaned = _CONTROL.sub(" ", unicodedata.normalize("NFC", readable)).strip()
    found = [_understood(match) for match in _ITEM.finditer(cleaned)]
    terms = [one for one in found if isinstance(one, Term) and any(char.isalnum() for char in one.text)]
    return Search(cleaned, tuple(terms[:MAX_TERMS]), tuple(_hints(found, terms)))


def _understood(match: re.Match[str]) -> Term | str:
    """A term, or the hint that stands in its place."""
    if match["field"]:
        quoted = match["quoted"] is not None
        return _of_field(match["field"].lower(), match["quoted"] if quoted else match["value"], whole=quoted)
    if match["phrase"] is not None:
        return Term(match["phrase"], whole=True)
    word = match["word"]
    if "=" not in word:
        return Term(word)
    axis = _AXIS.match(word)
    if axis is None:
        return f"{word!r} is left out: an axis and its size are written as in hidden=4096"
    return Term(f"{axis['name']}={int(axis['value'])}", "axis", whole=True)


def _of_field(field: str, value: str, *, whole: bool) -> Term | str:
    if field not in FIELDS:
        near = get_close_matches(field, FIELDS, n=1)
        meant = f"did you mean {near[0]}:?" if near else f"fields are {', '.join(FIELDS)}"
        return f"{field}: is no field and is left out; {meant}"
    if not any(char.isalnum() for char in value):
        return f"{field}: says nothing and is left out; write the value behind the colon"
    if field == "evidence" and value.upper() not in EvidenceLevel.__members__:
        levels = ", ".join(level.lower() for level in EvidenceLevel)
        return f"evidence:{value} is left out; levels are {levels}"
    return Term(value, field, whole=whole or field in ("language", "evidence"))


def _hints(found: list[Term | str], terms: list[Term]) -> Iterator[str]:
    yield from dict.fromkeys(one for one in found if isinstance(one, str))
    if len(terms) > MAX_TERMS:
        yield f"only the first {MAX_TERMS} words are searched for"
    if not terms:
        yield f"search for words, for fields ({', '.join(FIELDS)}) as in gpu:b200, or for axes as in hidden=4096"
