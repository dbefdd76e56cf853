"""What a format of citations is, and what it may have to say about what it wrote."""

from collections.abc import Callable, Sequence
from enum import StrEnum

import msgspec

from service.citations.cited import Cited


class WarningCode(StrEnum):
    """Why a citation deserves a second look."""

    NOT_PUBLIC = "NOT_PUBLIC"
    ACCESSED_BEFORE_POSITION = "ACCESSED_BEFORE_POSITION"
    NAME_CHANGED = "NAME_CHANGED"
    MARKUP_IN_TITLE = "MARKUP_IN_TITLE"
    LEFT_OUT = "LEFT_OUT"


class Warned(msgspec.Struct, frozen=True):
    """Something that the reader of a citation should know."""

    code: WarningCode
    message: str


class Entry(msgspec.Struct, frozen=True):
    """One citation in some format, and what had to be changed or left out."""

    content: str
    warnings: tuple[Warned, ...] = ()


class Format(msgspec.Struct, frozen=True):
    """A format: its media type, the suffix of its files, how one entry is written, and how several are joined."""

    media_type: str
    suffix: str
    write: Callable[[Cited], Entry]
    join: Callable[[Sequence[str]], str]


def paragraphs(contents: Sequence[str]) -> str:
    """Entries with a blank line between them."""
    return "\n".join(contents)


def lines(contents: Sequence[str]) -> str:
    """Entries one after the other, for formats in which each ends its own lines."""
    return "".join(contents)
