"""Comparing what a source has now with what is here: changed, disqualified and removed records.

Nothing is edited: a changed value is a new record beside the old one, and a record that is gone upstream stays, unless
whoever imports says why it is to be retracted.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from domain.commands import RetractRun
from domain.outcomes import Done
from domain.principals import LOCAL
from projections.published import changed_since, standing_runs, standing_under
from service.app import Index
from service.importing.report import Changed, Gone, Report
from service.ledger import Refusal
from service.sources.base import Parsed, Record, Refused, Skipped, Source, Whole, Withdrawn

LISTED: Final = 1000
_AT_ONCE: Final = 500
_REMOVED: Final = "removed by the source"


class Sightings:
    """What an import saw of its sources, as far as it can show that something is gone.

    Ids are kept only where a source says how many rows it has, or where ``everything`` is in the files.
    """

    def __init__(self, *, everything: bool = False) -> None:
        self._everything = everything
        self.slugs: set[str] = set()
        self.withdrawn: dict[str, dict[str, str]] = {}
        self._rows: dict[tuple[str, str], set[str]] = {}
        self._totals: dict[tuple[str, str], int] = {}

    @contextmanager
    def of(self, source: Source) -> "Iterator[_Document]":
        """The sightings of one document."""
        self.slugs.add(source.slug)
        document = _Document(keeps_ids=self._everything or source.states_total)
        yield document
        self.withdrawn.setdefault(source.slug, {}).update(document.withdrawn)
        operations = document.operations if self._everything else set(document.totals)
        for operation in operations | set(document.totals):
            self._rows.setdefault((source.slug, operation), set()).update(document.rows)
        for operation, rows in document.totals.items():
            self._totals[source.slug, operation] = rows

    def whole(self) -> dict[tuple[str, str], set[str]]:
        """By source and operation, the external ids of all rows that the source has."""
        return {
            about: rows
            for about, rows in self._rows.items()
            if self._everything or len(rows) >= self._totals.get(about, len(rows) + 1)
        }


class _Document:
    def __init__(self, *, keeps_ids: bool) -> None:
        self._keeps_ids = keeps_ids
        self.rows: set[str] = set()
        self.operations: set[str] = set()
        self.totals: dict[str, int] = {}
        self.withdrawn: dict[str, str] = {}

    def see(self, parsed: Parsed) -> None:
        match parsed:
            case Whole():
                self.totals[parsed.operation] = parsed.rows
            case Record() | Refused() | Skipped() if self._keeps_ids:
                self.rows.add(parsed.row)
                if isinstance(parsed, Record) and parsed.operation:
                    self.operations.add(parsed.operation)
            case Withdrawn():
                self.withdrawn[parsed.row] = parsed.reason
                self.rows.add(parsed.row)


async def reconcile(index: Index, sightings: Sightings, report: Report, since: int, reason: str | None) -> None:
    """Report what has changed since the position and what is gone; with a reason, retract what is gone.

    The views show what was imported when this is called, and what was retracted when it returns.
    """
    if not sightings.slugs:
        return
    slugs = sorted(sightings.slugs)
    report.changed_count, changed = await index.views.read(lambda db: changed_since(db, slugs, since, LISTED))
    report.changed = [Changed(*row) for row in changed]
    report.gone = await _gone(index, sightings)
    if reason and report.gone:
        report.gone = await _retracted(index, report.gone, reason)
        await index.follower.catch_up()


async def _gone(index: Index, sightings: Sightings) -> list[Gone]:
    found: dict[str, Gone] = {}
    for slug, reasons in sightings.withdrawn.items():
        ids = list(reasons)
        for run, external_id in await index.views.read(lambda db, s=slug, i=ids: standing_under(db, s, i)):  # type: ignore[misc]
            found[run] = Gone(slug, external_id, run, reasons[external_id])
    for (slug, operation), rows in sightings.whole().items():
        standing = await index.views.read(lambda db, s=slug, o=operation: standing_runs(db, s, o))  # type: ignore[misc]
        for run, external_id in standing:
            if external_id not in rows:
                found.setdefault(run, Gone(slug, external_id, run, _REMOVED))
    candidates = sorted(found.values(), key=lambda gone: (gone.source, gone.external_id, gone.run))
    # Which of them are retracted already is what the command itself knows.
    results = await index.ledger.preview([_retraction(gone, _REMOVED) for gone in candidates], LOCAL)
    return [gone for gone, done in zip(candidates, results, strict=True) if not isinstance(done, Done) or done.created]


async def _retracted(index: Index, gone: Sequence[Gone], reason: str) -> list[Gone]:
    after = []
    for start in range(0, len(gone), _AT_ONCE):
        part = gone[start : start + _AT_ONCE]
        commands = [_retraction(one, reason) for one in part]
        results, _ = await asyncio.to_thread(index.ledger.record, commands, LOCAL)
        after += [
            Gone(one.source, one.external_id, one.run, one.why, retracted=not isinstance(result, Refusal))
            for one, result in zip(part, results, strict=True)
        ]
    return after


def _retraction(gone: Gone, reason: str) -> RetractRun:
    return RetractRun(run=gone.run, reason=f"{reason} ({gone.why})" if gone.why != reason else reason)
