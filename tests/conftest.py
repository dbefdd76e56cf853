"""Fixtures that every test folder shares."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the big real data; only CI and founders have it."""
    folder = os.environ.get("KERNELINDEX_SHARED")
    if not folder:
        pytest.skip("needs the big real data: set KERNELINDEX_SHARED to its folder")
    return Path(folder).resolve()
