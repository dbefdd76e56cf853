"""RIS, for reference managers: lines of a tag and a value, ended by CRLF. It has no way to escape anything."""

from collections.abc import Iterator
from typing import Final

from service.citations.cited import INDEX_NAME, Cited, Name, one_line, record, statement
from service.citations.formats import Entry, Format, Warned, WarningCode, lines


def write(cited: Cited) -> Entry:
    """One record, from ``TY`` to ``ER``."""
    content = "".join(f"{tag}  - {value}\r\n" for tag, value in _fields(cited))
    changed = [name.literal for name in cited.authors if "," in name.literal]
    return Entry(content, tuple(_changed(name) for name in changed))


def _fields(cited: Cited) -> Iterator[tuple[str, str]]:
    year, month, day = (*cited.issued_on.split("-"), "", "")[:3]
    yield "TY", "DATA"
    yield "ID", cited.key
    for name in cited.authors:
        yield "AU", _author(name)
    yield "TI", one_line(cited.title)
    yield "PY", year
    yield "DA", f"{year}/{month}/{day}/"
    # Noon: readers take a day without a time for their own time zone's, and may print the day before.
    yield "Y2", f"{cited.accessed_on.replace('-', '/')}/12:00:00"
    yield "PB", INDEX_NAME
    yield "ET", str(cited.position)
    yield "AN", cited.digest
    yield "N1", f"{statement(cited)}; {record(cited)}"
    yield "UR", cited.permalink
    yield "ER", ""


def _author(name: Name) -> str:
    if name.literal:
        return one_line(name.literal.replace(",", " ") if "," in name.literal else name.literal)
    return ", ".join(one_line(part) for part in (name.family, name.given) if part)


def _changed(name: str) -> Warned:
    message = f"{one_line(name)!r} is written without its comma: in RIS it would become two parts of a person's name"
    return Warned(WarningCode.NAME_CHANGED, message)


FORMAT: Final = Format("application/x-research-info-systems", ".ris", write, lines)
