"""A browser for the tests of a module."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.e2e.browsers import launched

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """A real browser. (While Playwright runs no asynchronous test can, so it ends with the module.)"""
    with launched() as browser:
        yield browser
