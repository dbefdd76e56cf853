"""Files of several sources give the same views in whatever order they come, interleaved and repeated."""

import asyncio
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from service.app import open_index
from service.settings import Settings
from tests.examples import Clock, Ids
from tests.service.sources import reading
from tests.service.sources.importing import imported

FOLDERS: Final = ("sol-leaderboard", "sol-traces", "flashinfer-traces", "kernelbot")
FILES: Final = tuple(path for folder in FOLDERS for path in sorted((reading.SOURCES / folder).iterdir()))
# Each import is told what describes the kernels that its file only names.
KERNELS: Final = tuple(path for path in FILES if path.stem in ("definition", "solution", "kernel-4", "leaderboards"))
OF_THE_ORDER: Final = frozenset({"position", "recordedAt", "publishedAt", "lastImport"})
"""What says when something was recorded here, not what it is."""


def timeless(value: Any) -> Any:
    """A document without what depends on when it was recorded."""
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in OF_THE_ORDER}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def shown(db: Any) -> dict[str, Any]:
    """The current documents of every table of the views, but of the history of what was known when: that is the order."""
    tables = [
        table
        for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        if table != "records_known"
        and {"doc", "to_position"}
        <= {name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))}
    ]
    assert {"runs", "operations", "workloads", "implementations", "projects", "conditions", "sources"} <= set(tables)
    found = {}
    for table in tables:
        docs = db.execute(f"SELECT doc FROM {table} WHERE to_position IS NULL").fetchall()
        found[table] = sorted(
            (timeless(msgspec.json.decode(doc)) for (doc,) in docs),
            key=lambda doc: msgspec.json.encode(doc, order="sorted"),
        )
    return found


async def _views_after(steps: Sequence[Sequence[Path]]) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        settings_ = Settings(data_dir=Path(folder))
        async with open_index(settings_, now=Clock(), new_id=Ids(), follow=False) as index:
            for paths in steps:
                report = await imported(index, *paths, kernels=KERNELS, revision=reading.REVISION)
                assert report.refused == []
                assert report.gone == []
                assert report.changed == []
            found: dict[str, Any] = await index.views.read(shown)
            return found


@cache
def views_of_one_import() -> dict[str, Any]:
    return asyncio.run(_views_after([FILES]))


@settings(max_examples=10, deadline=None)
@given(order=st.permutations(FILES), again=st.lists(st.sampled_from(FILES), max_size=4), data=st.data())
def test_any_order_with_repeats_gives_equal_views(order: list[Path], again: list[Path], data: st.DataObject) -> None:
    """One file at a time, and some of them a second time in between."""
    for path in again:
        order.insert(data.draw(st.integers(0, len(order))), path)

    assert asyncio.run(_views_after([[path] for path in order])) == views_of_one_import()


@given(order=st.permutations(FILES))
@settings(max_examples=5, deadline=None)
def test_any_order_within_one_import_needs_no_help(order: list[Path]) -> None:
    """What describes the kernels is found among the files themselves."""

    async def views() -> dict[str, Any]:
        with TemporaryDirectory() as folder:
            async with open_index(Settings(data_dir=Path(folder)), now=Clock(), new_id=Ids(), follow=False) as index:
                report = await imported(index, *order, revision=reading.REVISION)
                assert report.refused == []
                found: dict[str, Any] = await index.views.read(shown)
                return found

    assert asyncio.run(views()) == views_of_one_import()
