"""One real server of the small application for every test here."""

from collections.abc import Iterator

import httpx
import pytest

from service.limits import Limits
from tests.service.http.serving import serving
from tests.service.http.tiny import tiny_app


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    """The server's base URL; a query may take half a second there."""
    with serving(tiny_app(Limits(seconds=0.5))) as url:
        yield url


@pytest.fixture
def client(base_url: str) -> Iterator[httpx.Client]:
    """A client of that server."""
    with httpx.Client(base_url=base_url, timeout=20) as client:
        yield client
