"""One server of the seeded index for every test here."""

from collections.abc import Iterator

import httpx
import pytest

from tests.service.pages.seeded import seeded_index


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client that follows no redirects and has no key."""
    with seeded_index(tmp_path_factory.mktemp("index")) as url, httpx.Client(base_url=url, timeout=20) as client:
        yield client
