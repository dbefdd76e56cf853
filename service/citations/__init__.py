"""Citations: pure functions from a run as it is cited to the formats that authors and their tools read.

Another format is a file here, with its ``FORMAT``, and a line in :class:`CitationFormat`.
"""

from collections.abc import Sequence
from enum import Enum

from domain.errors import ErrorCode, InvalidInput
from service.citations import biblatex, bibtex, csl_json, ris, schema_org, text
from service.citations.cited import Cited
from service.citations.formats import Entry, Warned, WarningCode


class CitationFormat(Enum):
    """The formats, each with what writes it."""

    TEXT = text.FORMAT
    BIBTEX = bibtex.FORMAT
    BIBLATEX = biblatex.FORMAT
    CSL_JSON = csl_json.FORMAT
    RIS = ris.FORMAT
    SCHEMA_ORG = schema_org.FORMAT


def cite(cited: Cited, as_: CitationFormat, style: str | None = None) -> Entry:
    """One citation. ``style`` names a CSL style for ``TEXT``, which is else our own sentence.

    Raises :class:`InvalidInput` for a style with another format, or one that can't be followed; ``NotFound`` for an
    unknown one.
    """
    require_style_fits(as_, style)
    entry = _styled(cited, style) if style is not None else as_.value.write(cited)
    return Entry(entry.content, (*_warnings(cited), *entry.warnings))


def _styled(cited: Cited, style: str) -> Entry:
    # The citation processor takes long to import, and most processes never need it.
    from service.citations import styled  # noqa: PLC0415

    return styled.write(cited, style)


def bibliography(several: Sequence[Cited], as_: CitationFormat, style: str | None = None) -> Entry:
    """Several citations as one file. Of entries with one key the first stands."""
    require_style_fits(as_, style)
    unique: dict[str, Cited] = {}
    for cited in several:
        unique.setdefault(cited.key, cited)
    entries = [cite(cited, as_, style) for cited in unique.values()]
    warnings = dict.fromkeys(warned for entry in entries for warned in entry.warnings)
    return Entry(as_.value.join([entry.content for entry in entries]), tuple(warnings))


def require_style_fits(as_: CitationFormat, style: str | None) -> None:
    """Refuse a style for a format that has none."""
    if style is not None and as_ is not CitationFormat.TEXT:
        raise InvalidInput.because(
            f"{as_.name} has no styles",
            code=ErrorCode.INVALID_ARGUMENT,
            path="style",
            remedy="leave out the style, or take the format TEXT",
        )


def _warnings(cited: Cited) -> list[Warned]:
    warnings = []
    if not cited.is_public:
        message = "the permalink leads to this machine only: set KERNELINDEX_BASE_URL to where readers reach the index"
        warnings.append(Warned(WarningCode.NOT_PUBLIC, message))
    if cited.accessed_on < cited.known_on:
        message = (
            f"position {cited.position} is of {cited.known_on}, after the day of access:"
            " cite the record as of an earlier position"
        )
        warnings.append(Warned(WarningCode.ACCESSED_BEFORE_POSITION, message))
    return warnings


__all__ = ["CitationFormat", "Cited", "Entry", "Warned", "WarningCode", "bibliography", "cite", "require_style_fits"]
