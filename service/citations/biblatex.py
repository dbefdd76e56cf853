"""BibLaTeX: ``@dataset`` with ISO dates; ``url`` is verbatim there and never escaped."""

from typing import Final

from service.citations.cited import INDEX_NAME, Cited, record, statement
from service.citations.formats import Entry, Format, paragraphs
from service.citations.tex import authors, braced, entry, escaped, protected


def write(cited: Cited) -> Entry:
    """One ``@dataset`` entry."""
    fields = [
        ("author", braced(authors(cited.authors))),
        ("title", braced(protected(cited.title))),
        ("date", braced(cited.issued_on)),
        ("publisher", braced(protected(INDEX_NAME))),
        ("version", braced(str(cited.position))),
        ("note", braced(f"{escaped(statement(cited))}; {escaped(record(cited))}")),
        ("url", braced(cited.permalink)),
        ("urldate", braced(cited.accessed_on)),
    ]
    return Entry(entry("dataset", cited.key, fields))


FORMAT: Final = Format("application/x-biblatex", ".biblatex", write, paragraphs)
