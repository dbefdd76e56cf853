"""An index that is only imported into."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.app import Index, open_index
from service.settings import Settings
from tests.examples import Clock, Ids


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[Index]:
    """An empty index that does not follow its log by itself, as imports want it."""
    async with open_index(Settings(data_dir=tmp_path / "data"), now=Clock(), new_id=Ids(), follow=False) as opened:
        yield opened
