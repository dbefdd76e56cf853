"""Importing documents that a test has made."""

import csv
import json
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

from service.app import Index
from service.importing.jobs import import_into
from service.importing.report import Report
from service.importing.upstream import Options
from tests.service.sources import reading


def fixture(source: str, name: str) -> Any:
    """A document of a source's fixtures."""
    return json.loads((reading.SOURCES / source / name).read_text())


def written(path: Path, *documents: Any) -> Path:
    """A file that holds the documents: lines, a table or one, as its name says."""
    if path.suffix == ".csv":
        text = StringIO()
        table = csv.DictWriter(text, list(documents[0]))
        table.writeheader()
        table.writerows(documents)
        path.write_text(text.getvalue())
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(one) + "\n" for one in documents))
    else:
        (document,) = documents
        path.write_text(json.dumps(document, default=_number))
    return path


async def imported(index: Index, *paths: Path, **options: Any) -> Report:
    """What became of importing these files."""
    return await import_into(index, paths, options=Options(**options))


def _number(value: Decimal) -> float:
    return float(value)
