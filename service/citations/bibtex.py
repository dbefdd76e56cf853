"""BibTeX, for LaTeX and reference managers: ``@misc``, because they drop what they don't know, ``@dataset`` too.

It is UTF-8 without accents spelt in TeX: a BibTeX of today and any engine that reads UTF-8 take it.
"""

from typing import Final

from service.citations.cited import INDEX_NAME, Cited, record, statement
from service.citations.formats import Entry, Format, paragraphs
from service.citations.tex import authors, braced, entry, escaped, protected

MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def write(cited: Cited) -> Entry:
    """One ``@misc`` entry. The URL is written as it is; styles that print none have it in no other field."""
    year, *rest = cited.issued_on.split("-")
    fields = [
        ("author", braced(authors(cited.authors))),
        ("title", braced(protected(cited.title))),
        ("year", braced(year)),
        *([("month", MONTHS[int(rest[0]) - 1])] if rest else []),
        ("publisher", braced(protected(INDEX_NAME))),
        ("version", braced(str(cited.position))),
        ("note", braced(f"{escaped(statement(cited))}; {escaped(record(cited))}; accessed {cited.accessed_on}")),
        ("url", braced(cited.permalink)),
        ("urldate", braced(cited.accessed_on)),
    ]
    return Entry(entry("misc", cited.key, fields))


FORMAT: Final = Format("application/x-bibtex", ".bib", write, paragraphs)
