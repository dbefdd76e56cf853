"""Printing results: for people, and as JSON."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from service.importing.report import Report

MOST_NEW_RUNS: Final = 10
MOST_REFUSALS: Final = 20


def print_json(value: Any, *, pretty: bool = True) -> None:
    """Print a JSON document, indented or on one line."""
    text = msgspec.json.encode(value)
    print(msgspec.json.format(text, indent=2).decode() if pretty else text.decode())  # noqa: T201


def print_report(report: Report) -> None:
    """Print what became of an import: a table by kind, then what was refused and why."""
    console = Console(highlight=False, soft_wrap=True)
    if report.dry_run:
        console.print("Dry run: this is what would happen. Nothing was recorded.")
    _print_reading(console, report)
    table = Table("", "new", "unchanged", "refused", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, one in report.counts.items():
        table.add_row(kind, f"{one.new:,}", f"{one.unchanged:,}", f"{one.refused:,}")
    console.print(table)
    if report.derived:
        listed = ", ".join(f"{count:,} {kind}" for kind, count in report.derived.items())
        console.print(f"Not imported, because they follow from the runs: {listed}.")
    if report.metadata_differs:
        console.print(f"Known with another title or description, which stands: {report.metadata_differs:,}.")
    for why, count in report.skipped.items():
        console.print(f"Skipped: {count:,} {why}.", markup=False)
    for text, count in report.notes.items():
        console.print(f"Note: {text} ({count:,} times).", markup=False)
    _print_reconciliation(console, report)
    _print_new_runs(console, report)
    _print_refusals(console, report)


def _print_reading(console: Console, report: Report) -> None:
    read: dict[str, list[str]] = {}
    for file in report.files:
        if file.version:
            read.setdefault(file.importer, []).append(file.path)
    for name, paths in read.items():
        more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
        console.print(f"Read as {name}: {paths[0]}{more}", markup=False)


def _print_reconciliation(console: Console, report: Report) -> None:
    for changed in report.changed[:MOST_REFUSALS]:
        console.print(
            f"changed: {changed.source} {changed.external_id}: {changed.run} is new, flagged with {changed.before}",
            markup=False,
        )
    if report.changed_count > MOST_REFUSALS:
        console.print(f"… and {report.changed_count - MOST_REFUSALS:,} more changed")
    for gone in report.gone[:MOST_REFUSALS]:
        done = "retracted" if gone.retracted else "stands here; --retract-removed and a --reason retract it"
        console.print(f"gone: {gone.source} {gone.external_id}: {gone.why}: {gone.run} {done}", markup=False)
    if len(report.gone) > MOST_REFUSALS:
        console.print(f"… and {len(report.gone) - MOST_REFUSALS:,} more gone, which --json lists")


def write_rejects(report: Report, path: Path) -> None:
    """Write what was refused: one JSON line for each reason, with the file, the row and the field."""
    with path.open("wb") as file:
        for rejected in report.refused:
            for problem in rejected.problems:
                line = {
                    "document": problem.document,
                    "source": rejected.source,
                    "row": rejected.row,
                    "field": problem.path,
                    "reason": problem.message,
                    "code": problem.code,
                    "remedy": problem.remedy,
                }
                file.write(msgspec.json.encode(line) + b"\n")


def _print_new_runs(console: Console, report: Report) -> None:
    for digest in report.new_runs[:MOST_NEW_RUNS]:
        console.print(f"new run: {digest}", markup=False)
    if len(report.new_runs) > MOST_NEW_RUNS:
        console.print(f"… and {len(report.new_runs) - MOST_NEW_RUNS:,} more, which --json lists")


def _print_refusals(console: Console, report: Report) -> None:
    problems = [problem for rejected in report.refused for problem in rejected.problems]
    for problem in problems[:MOST_REFUSALS]:
        console.print(f"refused: {problem}", markup=False)
    if len(problems) > MOST_REFUSALS:
        console.print(f"… and {len(problems) - MOST_REFUSALS:,} more, which --json lists")


@contextmanager
def progress(paths: list[Path], *, shown: bool = True) -> Iterator[Any]:
    """A progress bar over the bytes of these files on standard error, where that is a terminal.

    Gives the function that is told how many bytes were read.
    """
    size = sum(path.stat().st_size for path in paths)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not (shown and console.is_terminal)) as bar:
        task = bar.add_task("importing", total=size)

        def advance(count: int) -> None:
            bar.advance(task, count)
            if bar.tasks[0].finished:
                bar.update(task, description="bringing the views level")

        yield advance
