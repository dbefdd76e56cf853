"""Importing: files are read as a stream and recorded in batches, each batch one save."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from domain.commands import RecordImport
from domain.errors import Conflict, InvalidInput
from domain.json_text import read_json
from domain.principals import LOCAL, Principal
from service.documents import read_document
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
        self, ledger: Ledger, principal: Principal = LOCAL, *, advance: Callable[[int], None] = ignore
    ) -> None:
        self.report = Report()
        self._ledger = ledger
        self._principal = principal
        self._advance = advance
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
        with _Batches(
            self._ledger, self._principal, lambda items, results: self._settle(file, items, results)
        ) as batches:
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


class _Batches:
    """Collects items and records them in a thread of its own, one batch behind, so that reading need not wait."""

    def __init__(
        self,
        ledger: Ledger,
        principal: Principal,
        settle: Callable[[Sequence[Item], Sequence[Result]], None],
    ) -> None:
        self._ledger = ledger
        self._principal = principal
        self._settle = settle
        self._items: list[Item] = []
        self._recording: Future[tuple[list[Item], Sequence[Result]]] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="import")

    def add(self, item: Item) -> None:
        """Add an item to the batch, which is recorded when it is full."""
        self._items.append(item)
        if len(self._items) >= BATCH:
            self._flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._flush()
                self._finish()
        finally:
            self._thread.shutdown()

    def _flush(self) -> None:
        self._finish()
        if self._items:
            self._recording = self._thread.submit(self._record, self._items)
            self._items = []

    def _finish(self) -> None:
        if self._recording:
            items, results = self._recording.result()
            self._recording = None
            self._settle(items, results)

    def _record(self, items: list[Item]) -> tuple[list[Item], Sequence[Result]]:
        try:
            results, _ = self._ledger.record([item.command for item in items], self._principal)
        except Conflict as error:
            return items, [Refusal.of(error)] * len(items)
        return items, results
