"""One server of the seeded index for every test here, and an empty one for each that fills its own."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from tests.service.pages.seeded import seeded_index
from tests.service.site import Site, site


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client that follows no redirects and has no key."""
    with seeded_index(tmp_path_factory.mktemp("index")) as url, httpx.Client(base_url=url, timeout=20) as client:
        yield client


@pytest.fixture
async def opened_site(tmp_path: Path) -> AsyncIterator[tuple[Site, httpx.AsyncClient]]:
    """An empty index that is served, and who visits it."""
    async with site(tmp_path, base_url="https://kernels.example") as (one, visitor):
        yield one, visitor


@pytest.fixture
def here(opened_site: tuple[Site, httpx.AsyncClient]) -> Site:
    return opened_site[0]


@pytest.fixture
def visitor(opened_site: tuple[Site, httpx.AsyncClient]) -> httpx.AsyncClient:
    return opened_site[1]
