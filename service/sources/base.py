"""What a source is: pure functions from one document of an upstream to bundles, and what it says about itself."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from domain.errors import Problem
from domain.json_text import Json
from service.sources.manifests import Part

Document: TypeAlias = Any
"""A JSON document with its fractions as :class:`decimal.Decimal`, or a row of a CSV file as text by column."""

Fact: TypeAlias = tuple[str, str, Any]
"""Something that one document tells about others: what it is (``operation``), its name there, and the thing."""


class Told(msgspec.Struct, kw_only=True):
    """What a source is told besides the document.

    ``now`` is the instant that no observation can be after, with milliseconds and ``Z``; ``revision`` is the commit that
    the files were taken at. ``facts`` are by source (empty: whatever the source), kind and name.
    """

    now: str
    revision: str | None = None
    facts: dict[tuple[str, str, str], Any] = {}

    def fact(self, source: str, kind: str, name: str) -> Any:
        """What is known under this name, or None."""
        found = self.facts.get((source, kind, name))
        return self.facts.get(("", kind, name)) if found is None else found

    def only(self, source: str, kind: str) -> Any:
        """The one thing of this kind that the source was told of; None where there is none or more than one."""
        found = [value for (of, what, _), value in self.facts.items() if (of, what) == (source, kind)]
        return found[0] if len(found) == 1 else None

    def operation(self, source: str, *names: str) -> Part | None:
        """The operation under the first of these names that is known."""
        return next((found for name in names if (found := self.fact(source, "operation", name))), None)

    def suite(self, source: str, operation: Part) -> Part | None:
        """The workload suite of an operation."""
        found: Part | None = self.fact(source, "suite", operation.digest)
        return found


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle as anyone could send it in. ``row`` is the source's own name for the record (``submission/17401``).

    ``log`` is text whose digest the run names as its log.
    """

    bundle: Mapping[str, Json]
    row: str = ""
    operation: str = ""
    log: str = ""


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """A row that can't be trusted, and every reason."""

    row: str
    problems: tuple[Problem, ...]
    operation: str = ""


class Skipped(msgspec.Struct, frozen=True):
    """A row that is no record of ours, and why: it is counted, not listed."""

    why: str


class Withdrawn(msgspec.Struct, frozen=True, kw_only=True):
    """A record that the source has disqualified, under the external id that it has here."""

    external_id: str
    reason: str
    operation: str = ""
    row: str = ""


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """The source has ``rows`` rows about this operation (a digest). What is not among them, it has removed."""

    operation: str
    rows: int


class Noted(msgspec.Struct, frozen=True):
    """Something that whoever imports should know."""

    text: str


Parsed: TypeAlias = Record | Refused | Skipped | Withdrawn | Whole | Noted


def _tells_nothing(document: Document, told: Told) -> Iterator[Fact]:  # noqa: ARG001 the shape of a source's function
    return iter(())


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One upstream format. ``slug`` names the source whose records these are.

    ``version`` is raised whenever the same document gives other records. ``recognises`` is true of documents that can be
    of no other source; ``resembles`` of all that this one can read. ``learn`` says what a document tells about
    others; ``parse`` is given all that was learned from the documents of an import, in whatever order they came.
    """

    name: str
    slug: str
    version: str
    reads: str
    needs: str = "nothing else"
    conventions: tuple[str, ...] = ()
    recognises: Callable[[Document], bool]
    resembles: Callable[[Document], bool]
    parse: Callable[[Document, Told], Iterator[Parsed]]
    learn: Callable[[Document, Told], Iterator[Fact]] = _tells_nothing
