"""What became of an import: counted by kind, refusals with their reasons."""

from collections.abc import Mapping
from typing import Any

import msgspec

from domain.outcomes import Done, Ingested
from service.importing.items import ALIASES, ARTIFACTS, KINDS, RUNS, SOURCES, Derived, Note, Omitted, Rejected, Subject
from service.ledger import Refusal, Result


class Count(msgspec.Struct):
    """How many records were new, known before, and refused."""

    new: int = 0
    unchanged: int = 0
    refused: int = 0

    def add(self, *, new: bool) -> None:
        """Count one record that was taken."""
        if new:
            self.new += 1
        else:
            self.unchanged += 1


class FileReport(msgspec.Struct, rename="camel"):
    """What a file held. ``sources`` counts the runs of each source that occurs in it; ``digest`` is the file's own.

    ``importer`` is what read it; where that is a source's own format, ``version`` is the importer's and ``source`` the
    source's slug. ``skipped`` counts rows that are no records of ours.
    """

    path: str
    importer: str = "bundle"
    version: str = ""
    source: str | None = None
    digest: str = ""
    skipped: int = 0
    sources: dict[str, Count] = msgspec.field(default_factory=dict)
    total: Count = msgspec.field(default_factory=Count)

    def counts(self, otherwise: str) -> Mapping[str, Count]:
        """The counts by source; where none occurs, those of all records for the source ``otherwise``."""
        return self.sources or {self.source or otherwise: self.total}


class Changed(msgspec.Struct, frozen=True, rename="camel"):
    """A record that its source now publishes with another value: a new one, flagged with the old one."""

    source: str
    external_id: str
    run: str
    before: str


class Gone(msgspec.Struct, frozen=True, rename="camel"):
    """A standing record that its source disqualified or removed, why, and whether it was retracted for that."""

    source: str
    external_id: str
    run: str
    why: str
    retracted: bool = False


class Report(msgspec.Struct, rename="camel", dict=True):
    """What became of all files.

    ``metadata_differs`` counts records that are known with another title or description; the first one stands.
    ``skipped`` and ``notes`` are counted by their text. ``changed`` lists the first thousand of ``changed_count``.
    ``new_runs`` are the digests of the runs that were new.
    """

    dry_run: bool = False
    files: list[FileReport] = msgspec.field(default_factory=list)
    counts: dict[str, Count] = msgspec.field(default_factory=dict)
    derived: dict[str, int] = msgspec.field(default_factory=dict)
    metadata_differs: int = 0
    new_runs: list[str] = msgspec.field(default_factory=list)
    refused: list[Rejected] = msgspec.field(default_factory=list)
    skipped: dict[str, int] = msgspec.field(default_factory=dict)
    notes: dict[str, int] = msgspec.field(default_factory=dict)
    changed: list[Changed] = msgspec.field(default_factory=list)
    changed_count: int = 0
    gone: list[Gone] = msgspec.field(default_factory=list)

    def __post_init__(self) -> None:
        self._embedded = set[str]()

    def derive(self, derived: Derived) -> None:
        """Count a record that follows from others."""
        self.derived[derived.kind] = self.derived.get(derived.kind, 0) + 1

    def omit(self, omitted: Omitted, file: FileReport) -> None:
        """Count a row that is no record of ours."""
        self.skipped[omitted.why] = self.skipped.get(omitted.why, 0) + 1
        file.skipped += 1

    def note(self, note: Note) -> None:
        """Count something that whoever imports should know."""
        self.notes[note.text] = self.notes.get(note.text, 0) + 1

    def refuse(self, rejected: Rejected, file: FileReport | None = None) -> None:
        """Count and keep a refusal."""
        self.refused.append(rejected)
        self._count(rejected.kind).refused += 1
        if file:
            file.total.refused += 1
            if rejected.source:
                file.sources.setdefault(rejected.source, Count()).refused += 1

    def settle(self, item: Subject, result: Result, file: FileReport) -> None:
        """Count what became of an item."""
        if isinstance(result, Refusal):
            self.refuse(Rejected(item.kind, result.problems, item.source, item.row), file)
            return
        new = result.created if isinstance(result, Done) else self._settle_parts(item, result)
        self._count(item.kind).add(new=new)
        if item.kind != SOURCES:
            file.total.add(new=new)
        if new and item.kind == RUNS:
            self.new_runs.append(item.digest)
        if item.source:
            count = file.sources.setdefault(item.source, Count())
            if item.kind == RUNS:
                count.add(new=new)

    def to_json(self) -> dict[str, Any]:
        """The whole report, as ``--json`` prints it."""
        shown: dict[str, Any] = msgspec.to_builtins(self)
        return shown

    def _settle_parts(self, item: Subject, outcome: Ingested) -> bool:
        """Count the manifests that came with the item, each digest once. Answers whether the item itself is new."""
        self.metadata_differs += outcome.metadata_differs
        new = outcome.created
        for kind, digest, is_new in (
            *((kind, digest, True) for kind, digest in outcome.registered),
            *((kind, digest, False) for kind, digest in outcome.unchanged),
        ):
            if digest == item.digest:
                new = is_new
            elif digest not in self._embedded:
                self._embedded.add(digest)
                self._count(KINDS[kind]).add(new=is_new)
        if item.kind == ARTIFACTS:
            return bool(outcome.artifacts)
        return bool(outcome.aliases) if item.kind == ALIASES else new

    def _count(self, kind: str) -> Count:
        return self.counts.setdefault(kind, Count())
