"""Importing: files are read as a stream and recorded in batches, each batch one save."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from domain.commands import RecordImport
from domain.errors import Conflict, InvalidInput
from domain.json_text import Json, read_json
from domain.principals import LOCAL, Principal
from service.app import utc_now
from service.documents import read_document
from service.importing.batches import Batches
from service.importing.bundles import Bundles
from service.importing.catalog import Catalog
from service.importing.files import Reading, find, holds_lines, holds_rows, ignore
from service.importing.items import DOCUMENTS, Derived, Item, Note, Omitted, Read, Rejected
from service.importing.report import FileReport, Report
from service.importing.upstream import Options, Upstream, exact
from service.ledger import Ledger, Refusal, Result
from service.sources.base import Source

BATCH: Final = 500


class Stopped(Exception):
    """The import was told to stop."""


class Importer:
    """Imports files, one after the other, into one report. Its methods block: call them off the event loop.

    ``advance`` is told how many bytes were read, whenever some were. ``now`` is the clock: no observation of a source
    can be later.
    """

    def __init__(
        self,
        ledger: Ledger,
        principal: Principal = LOCAL,
        *,
        advance: Callable[[int], None] = ignore,
        batch: int = BATCH,
        options: Options | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.report = Report()
        self.upstream = Upstream(options or Options(), now)
        self._ledger = ledger
        self._principal = principal
        self._advance = advance
        self._batch = batch
        self._stopped = False
        self._bundles = Bundles(principal)

    def stop(self) -> None:
        """Let :meth:`run` end with :class:`Stopped` before its next document. What was recorded stays."""
        self._stopped = True

    def run(self, paths: Sequence[Path]) -> Report:
        """Import all files under these paths. What is refused is in the report, and keeps nothing else out."""
        files, problems = find(paths)
        for problem in problems:
            self.report.refuse(Rejected("files", (problem,)))
        for rejected in self.upstream.learn(files):
            self.report.refuse(rejected)
        for path in files:
            self._import(path)
        return self.report

    def _import(self, path: Path) -> None:
        file = FileReport(path=str(path))
        self.report.files.append(file)
        reading = Reading(path, self._advance)
        with Batches(self._record, lambda items, results: self._settle(file, items, results), self._batch) as batches:
            for read in self._read(reading, file):
                if self._stopped:
                    raise Stopped
                match read:
                    case Item():
                        batches.add(read)
                    case Derived():
                        self.report.derive(read)
                    case Rejected():
                        self.report.refuse(read, file)
                    case Omitted():
                        self.report.omit(read, file)
                    case Note():
                        self.report.note(read)
        file.digest = reading.digest
        if file.digest:
            self._ledger.record(self._imports(file), self._principal)

    def _read(self, reading: Reading, file: FileReport) -> Iterator[Read]:
        catalog = Catalog()
        for document, text in reading.documents():
            try:
                if isinstance(text, InvalidInput):
                    raise text
                yield from self._read_document(reading.path, text, document, file, catalog)
            except InvalidInput as error:
                yield Rejected(DOCUMENTS, error.within(document).problems, file.source)

    def _read_document(
        self, path: Path, text: bytes, document: str, file: FileReport, catalog: Catalog
    ) -> Iterator[Read]:
        tree, doubt = _tree(path, text, document)
        if isinstance(tree, dict) and tree.keys() == {"table", "row"}:
            file.importer = "catalog"
            yield catalog.read(tree, document)
        elif source := self._source_of(path, text, document, tree, file):
            yield from self.upstream.read(source, exact(path, text, document), path, document, file)
        elif doubt:
            raise doubt
        else:
            yield from self._bundles.read(tree, document)

    def _source_of(self, path: Path, text: bytes, document: str, tree: Json, file: FileReport) -> Source | None:
        """The source of a document; where our own rules refuse it, it may still be one that a source can read."""
        if isinstance(tree, dict) and "kind" in tree:
            return None
        if tree is None:
            try:
                tree = exact(path, text, document)
            except InvalidInput:
                if holds_rows(path):
                    raise
                return None
        return self.upstream.source_of(tree, path, file.importer)

    def _record(self, items: Sequence[Item]) -> Sequence[Result]:
        try:
            results, _ = self._ledger.record([item.command for item in items], self._principal)
        except Conflict as error:
            return [Refusal.of(error)] * len(items)
        return results

    def _settle(self, file: FileReport, items: Sequence[Item], results: Sequence[Result]) -> None:
        for item, result in zip(items, results, strict=True):
            self.report.settle(item, result, file)

    def _imports(self, file: FileReport) -> list[RecordImport]:
        return [
            RecordImport(
                slug=source,
                file_digest=file.digest,
                importer=file.importer,
                importer_version=file.version or version("kernelindex"),
                counts={
                    "new": count.new,
                    "unchanged": count.unchanged,
                    "refused": count.refused,
                    **({"skipped": file.skipped} if file.skipped else {}),
                },
            )
            for source, count in file.counts(self._principal.id).items()
        ]


def _tree(path: Path, text: bytes, document: str) -> tuple[Json, InvalidInput | None]:
    """A document as catalogs and bundles are read, or why it is none; a table never is."""
    if holds_rows(path):
        return None, None
    try:
        return (read_json if holds_lines(path) else read_document)(text, document), None
    except InvalidInput as error:
        return None, error
