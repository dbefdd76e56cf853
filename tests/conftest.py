"""Fixtures that every test folder shares."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from service.app import Index, open_index
from service.settings import Settings
from tests.examples import Clock, Ids

# A test says what is right, not how long it may take on a machine that does other things as well.
hypothesis_settings.register_profile("patient", deadline=None)
hypothesis_settings.load_profile("patient")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the big real data; only CI and founders have it."""
    folder = os.environ.get("KERNELINDEX_SHARED")
    if not folder:
        pytest.skip("needs the big real data: set KERNELINDEX_SHARED to its folder")
    return Path(folder).resolve()


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[Index]:
    """An empty index in a folder of its own, with a clock and ids that a test can foretell."""
    async with open_index(Settings(data_dir=tmp_path), now=Clock(), new_id=Ids()) as opened:
        yield opened
