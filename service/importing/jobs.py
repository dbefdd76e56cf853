"""Imports as they are run: into an index, or as a dry run into a copy of its log."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from projections import saves
from projections.views import path_in
from service.app import Clock, Index, NewId, open_index, random_id, utc_now
from service.importing.companion import Companion
from service.importing.files import ignore
from service.importing.reconciling import reconcile
from service.importing.report import Report
from service.importing.run import BATCH, Importer
from service.importing.upstream import Options
from service.settings import Settings


async def import_into(
    index: Index,
    paths: Sequence[Path],
    *,
    advance: Callable[[int], None] = ignore,
    companion: Companion | None = None,
    batch: int = BATCH,
    options: Options | None = None,
) -> Report:
    """Import files into an index that does not follow its log by itself, and bring its views level.

    A ``companion`` does that meanwhile, if it was started, and is ended here.
    """
    options = options or Options()
    since = (await index.views.read(saves.head)).position
    importer = _importer(index, advance, options, batch)
    try:
        report = await asyncio.to_thread(importer.run, paths)
    finally:
        importer.stop()
        if companion:
            await asyncio.to_thread(companion.finish)
    await index.follower.catch_up()
    await reconcile(index, importer.upstream.sightings, report, since, options.retract)
    return report


async def try_import(
    settings: Settings,
    paths: Sequence[Path],
    *,
    advance: Callable[[int], None] = ignore,
    now: Clock = utc_now,
    new_id: NewId = random_id,
    options: Options | None = None,
) -> Report:
    """What would become of an import. It is one, of the same files by the same code, into a copy of the log."""
    options = options or Options()
    async with _copy(settings, now, new_id) as index:
        importer = _importer(index, advance, options)
        try:
            since = index.log.latest()
            report = await asyncio.to_thread(importer.run, paths)
        finally:
            importer.stop()
        if importer.upstream.sightings.slugs:
            await index.follower.catch_up()
            start = await index.views.read(lambda db: saves.position_of(db, since))
            await reconcile(index, importer.upstream.sightings, report, start or 0, options.retract)
    report.dry_run = True
    return report


def _importer(index: Index, advance: Callable[[int], None], options: Options, batch: int = BATCH) -> Importer:
    return Importer(index.ledger, advance=advance, batch=batch, options=options, now=index.now)


@asynccontextmanager
async def _copy(settings: Settings, now: Clock, new_id: NewId) -> AsyncIterator[Index]:
    with TemporaryDirectory(prefix="kernelindex-dry-run-") as folder:
        original = settings.data_dir / "log.db"
        if original.exists():
            # The views first: a log that is ahead of them is caught up with.
            if path_in(settings.data_dir).exists():
                await asyncio.to_thread(_copy_database, path_in(settings.data_dir), path_in(Path(folder)))
            await asyncio.to_thread(_copy_database, original, Path(folder) / "log.db")
        scratch = replace(settings, data_dir=Path(folder))
        async with open_index(scratch, now=now, new_id=new_id, follow=False, level=False) as index:
            yield index


def _copy_database(original: Path, copy: Path) -> None:
    with (
        closing(sqlite3.connect(f"{original.absolute().as_uri()}?mode=rw", uri=True)) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
