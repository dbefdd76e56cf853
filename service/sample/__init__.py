"""The data that is shipped: a sample of the public catalog, and the two records that the project started from."""

from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent

FILES: Final = (
    _FOLDER / "sample.jsonl.zst",
    _FOLDER / "sol-submission-17401.bundle.json.zst",
    _FOLDER / "sol-submission-20464.bundle.json.zst",
)
"""In the order in which they are imported."""

FIRST_RUN: Final = "28c78ea8f808d1b78085d073f400abf64930109cb0ad61efd3634542aaa78a58"
"""The run of submission 17401, as the 64 hex digits of its digest."""
