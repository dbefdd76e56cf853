"""What became of an import: counted by kind, refusals with their reasons."""

from collections.abc import Mapping
from typing import Any

import msgspec

from domain.outcomes import Done, Ingested
from service.importing.items import ALIASES, ARTIFACTS, KINDS, RUNS, Derived, Rejected, Subject
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
    """What a file held. ``sources`` counts the runs of each source that occurs in it; ``digest`` is the file's own."""

    path: str
    importer: str = "bundle"
    digest: str = ""
    sources: dict[str, Count] = msgspec.field(default_factory=dict)
    total: Count = msgspec.field(default_factory=Count)

    def counts(self, otherwise: str) -> Mapping[str, Count]:
        """The counts by source; where none occurs, those of all records for the source ``otherwise``."""
        return self.sources or {otherwise: self.total}


class Report(msgspec.Struct, rename="camel", dict=True):
    """What became of all files.

    ``metadata_differs`` counts records that are known with another title or description; the first one stands.
    ``new_runs`` are the digests of the runs that were new.
    """

    dry_run: bool = False
    files: list[FileReport] = msgspec.field(default_factory=list)
    counts: dict[str, Count] = msgspec.field(default_factory=dict)
    derived: dict[str, int] = msgspec.field(default_factory=dict)
    metadata_differs: int = 0
    new_runs: list[str] = msgspec.field(default_factory=list)
    refused: list[Rejected] = msgspec.field(default_factory=list)

    def __post_init__(self) -> None:
        self._embedded = set[str]()

    def derive(self, derived: Derived) -> None:
        """Count a record that follows from others."""
        self.derived[derived.kind] = self.derived.get(derived.kind, 0) + 1

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
            self.refuse(Rejected(item.kind, result.problems, item.source), file)
            return
        new = result.created if isinstance(result, Done) else self._settle_parts(item, result)
        self._count(item.kind).add(new=new)
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
