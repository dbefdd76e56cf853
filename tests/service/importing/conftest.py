"""Importing into an index of a test's own."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from service.app import Index
from service.importing.report import Report
from service.importing.run import Importer

Import = Callable[..., Awaitable[Report]]


@pytest.fixture
def imported(index: Index) -> Import:
    """Import files into the index; its views show them when it returns."""

    async def run(*paths: Path) -> Report:
        report = await asyncio.to_thread(Importer(index.ledger).run, paths)
        await index.follower.wait_for(index.log.latest())
        return report

    return run
