"""Text as TeX reads it, and entries as BibTeX and BibLaTeX lay them out."""

from collections.abc import Iterable, Mapping
from typing import Final

from service.citations.cited import Name, one_line

ESCAPES: Final[Mapping[str, str]] = {
    **{char: f"\\{char}" for char in "%&$#_"},
    "\\": r"{\textbackslash}",
    "~": r"{\textasciitilde}",
    "^": r"{\textasciicircum}",
    "<": r"{\textless}",
    ">": r"{\textgreater}",
}
LONE_BRACES: Final[Mapping[str, str]] = {"{": r"{\textbraceleft}", "}": r"{\textbraceright}"}


def escaped(text: str) -> str:
    """The text on one line, each character that TeX would act on escaped once. Other scripts stay UTF-8.

    BibTeX counts escaped braces too, so only pairs are written as ``\\{`` and ``\\}``; a lone one gets a name.
    """
    plain = one_line(text)
    paired = _paired_braces(plain)
    return "".join(_escape(char, index in paired) for index, char in enumerate(plain))


def _escape(char: str, is_paired: bool) -> str:
    if char in LONE_BRACES:
        return f"\\{char}" if is_paired else LONE_BRACES[char]
    return ESCAPES.get(char, char)


def _paired_braces(text: str) -> set[int]:
    open_braces: list[int] = []
    paired: set[int] = set()
    for index, char in enumerate(text):
        if char == "{":
            open_braces.append(index)
        elif char == "}" and open_braces:
            paired |= {open_braces.pop(), index}
    return paired


def protected(text: str) -> str:
    """The text in braces of its own, which keep its capitals and keep it whole."""
    return f"{{{escaped(text)}}}"


def authors(names: Iterable[Name]) -> str:
    """``{Barnes and Noble, Inc.} and Nuñez, Zoë``: a literal in braces, so that no ``and`` or comma splits it."""
    return " and ".join(protected(name.literal) if name.literal else _person(name) for name in names)


def _person(name: Name) -> str:
    return ", ".join(escaped(part) for part in (name.family, name.given) if part)


def entry(kind: str, key: str, fields: Iterable[tuple[str, str]]) -> str:
    """``@kind{key, name = value, …}``; values come with their delimiters."""
    listed = "".join(f"  {name} = {value},\n" for name, value in fields)
    return f"@{kind}{{{key},\n{listed}}}\n"


def braced(value: str) -> str:
    """The value in its delimiters."""
    return f"{{{value}}}"
