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

    ``now`` is the instant that no observation can be after, with milliseconds and ``Z``; ``revision`` is the commit
    that the files were taken at. ``facts`` are by source (empty: whatever the source), kind and name. ``beside`` are
    the operations that files in the document's own folder describe.
    """

    now: str
    revision: str | None = None
    facts: dict[tuple[str, str, str], Any] = {}
    beside: tuple[Part, ...] = ()

    def fact(self, source: str, kind: str, name: str) -> Any:
        """What is known under this name, or None."""
        found = self.facts.get((source, kind, name))
        return self.facts.get(("", kind, name)) if found is None else found

    def only_operation(self, source: str) -> Part | None:
        """The one operation that a document which names none can be about; None where that is open."""
        known = self.beside or [one for (of, kind, _), one in self.facts.items() if (of, kind) == (source, "operation")]
        return known[0] if len(known) == 1 else None

    def operation(self, source: str, *names: str) -> Part | None:
        """The operation under the first of these names that is known."""
        return next((found for name in names if (found := self.fact(source, "operation", name))), None)

    def suite(self, source: str, operation: Part) -> Part | None:
        """The workload suite of an operation."""
        found: Part | None = self.fact(source, "suite", operation.digest)
        return found


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle as anyone could send it in. ``row`` is the external id that its run has here, where it has a run.

    ``operation`` is the digest of the operation; ``log`` is text whose digest the run names as its log.
    """

    bundle: Mapping[str, Json]
    row: str = ""
    operation: str = ""
    log: str = ""


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """A row that can't be trusted, and every reason."""

    row: str
    problems: tuple[Problem, ...]


class Skipped(msgspec.Struct, frozen=True):
    """A row that is no record of ours, and why: it is counted, not listed."""

    why: str
    row: str = ""


class Withdrawn(msgspec.Struct, frozen=True, kw_only=True):
    """A record that the source has disqualified."""

    row: str
    reason: str


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of this document are all about this operation (a digest), of which the source has ``rows`` in all.

    Where an import brings so many, a record here that is not among them was removed by the source.
    """

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

    ``version`` is raised whenever the same document gives other records. ``recognises`` is true of documents that can
    be of no other source, ``resembles`` of all that this one can read. ``learn`` says what a document tells about
    others; ``parse`` is given all that was learned from the documents of an import, in whatever order they came.
    ``states_total`` says that documents tell how many rows the source has (:class:`Whole`).
    """

    name: str
    slug: str
    version: str
    reads: str
    needs: str = "nothing else"
    states_total: bool = False
    conventions: tuple[str, ...] = ()
    recognises: Callable[[Document], bool]
    resembles: Callable[[Document], bool]
    parse: Callable[[Document, Told], Iterator[Parsed]]
    learn: Callable[[Document, Told], Iterator[Fact]] = _tells_nothing
