"""Importing: files are read as a stream and recorded in batches, each batch one save."""

from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from domain.commands import RecordImport
from domain.errors import Conflict, InvalidInput
from domain.json_text import read_json
from domain.principals import LOCAL, Principal
from service.documents import read_document
from service.importing.batches import Batches
from service.importing.bundles import Bundles
from service.importing.catalog import Catalog
from service.importing.files import Reading, find, holds_lines, ignore
from service.importing.items import DOCUMENTS, Derived, Item, Read, Rejected
from service.importing.report import FileReport, Report
from service.ledger import Ledger, Refusal, Result

BATCH: Final = 500


class Stopped(Exception):
    """The import was told to stop."""


class Importer:
    """Imports files, one after the other, into one report. Its methods block: call them off the event loop.

    ``advance`` is told how many bytes were read, whenever some were.
    """

    def __init__(
        self,
        ledger: Ledger,
        principal: Principal = LOCAL,
        *,
        advance: Callable[[int], None] = ignore,
        batch: int = BATCH,
    ) -> None:
        self.report = Report()
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
        file.digest = reading.digest
        if file.digest:
            self._ledger.record(self._imports(file), self._principal)

    def _read(self, reading: Reading, file: FileReport) -> Iterator[Read]:
        catalog = Catalog()
        read_text = read_json if holds_lines(reading.path) else read_document
        for document, text in reading.documents():
            try:
                if isinstance(text, InvalidInput):
                    raise text
                tree = read_text(text, document)
            except InvalidInput as error:
                yield Rejected(DOCUMENTS, error.within(document).problems)
                continue
            if isinstance(tree, dict) and tree.keys() == {"table", "row"}:
                file.importer = "catalog"
                yield catalog.read(tree, document)
            else:
                yield from self._bundles.read(tree, document)

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
                importer_version=version("kernelindex"),
                counts={"new": count.new, "unchanged": count.unchanged, "refused": count.refused},
            )
            for source, count in file.counts(self._principal.id).items()
        ]
