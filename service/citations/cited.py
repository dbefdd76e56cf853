"""What a citation says of a run, before any format: one small struct, and the words that all formats share."""

import unicodedata
from typing import Final

import msgspec

from domain.identity import hex_of, short_id

INDEX_NAME: Final = "KernelIndex"
"""Who publishes the records."""

KEY_DIGITS: Final = 12


class Name(msgspec.Struct, frozen=True):
    """An author: a person's ``family`` and ``given`` name, or a ``literal`` that nobody may take apart."""

    literal: str = ""
    family: str = ""
    given: str = ""


class Result(msgspec.Struct, frozen=True):
    """The value that is cited: ``value`` is exact decimal text in ``unit``, ``formatted`` is for people."""

    metric: str
    statistic: str
    unit: str
    value: str
    formatted: str


class Cited(msgspec.Struct, frozen=True, kw_only=True):
    """A run as of a position of the log, as it is cited.

    ``permalink`` is pinned to ``position``. Dates are ISO 8601 in UTC: ``issued_on`` may lack its day or month;
    ``changed_on`` is when the record last changed, ``accessed_on`` when it was read. ``is_public`` says whether others
    can follow the permalink.
    """

    digest: str
    position: int
    permalink: str
    title: str
    authors: tuple[Name, ...]
    result: Result | None
    status: str
    source: str
    evidence_level: str
    issued_on: str
    changed_on: str
    accessed_on: str
    standing: tuple[str, ...] = ()
    """What a reader must know of it: ``contested``, ``retracted``, ``superseded``."""
    licence: str | None = None
    known_on: str = ""
    is_public: bool = True

    @property
    def key(self) -> str:
        """The key of the entry: of digest and position only, so that it never changes and two never clash."""
        return f"ki-{hex_of(self.digest)[:KEY_DIGITS]}-p{self.position}"

    @property
    def short_id(self) -> str:
        """The first eight hex digits of the digest."""
        return short_id(self.digest)


def one_line(text: str) -> str:
    """The text in NFC on one line: in most formats a line break would end the value, or begin a field of its own."""
    folded = " ".join(unicodedata.normalize("NFC", text).split())
    return "".join(char for char in folded if unicodedata.category(char) != "Cc")


def evidence(cited: Cited) -> str:
    """``evidence level REPORTED, contested``."""
    return ", ".join((f"evidence level {cited.evidence_level}", *cited.standing))


def statement(cited: Cited) -> str:
    """The value, who reported it and how far it can be trusted, in one line."""
    parts = [_measured(cited), f"reported by {one_line(cited.source)}", evidence(cited)]
    return "; ".join(parts)


def record(cited: Cited) -> str:
    """Which record it is and as of when, in one line."""
    place = f"at log position {cited.position}, last changed {cited.changed_on} (UTC)"
    return f"record {cited.short_id}, {cited.digest}, {place}"


def _measured(cited: Cited) -> str:
    result = cited.result
    if result is None:
        return f"no primary measurement, status {cited.status}"
    exact = f"{result.value} {result.unit}"
    value = result.formatted if result.formatted == exact else f"{result.formatted} (exactly {exact})"
    status = "" if cited.status == "PASSED" else f", status {cited.status}"
    return one_line(f"{result.metric}, {result.statistic}: {value}{status}")
