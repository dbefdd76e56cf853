"""The template of an importer works as it stands."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from service.app import Index
from service.sources import known, registry
from service.sources.known import KnownSource
from tests.service.api.asking import ask
from tests.service.sources.importing import imported, written

TEMPLATE = Path(__file__).parents[3] / "docs" / "importer_template.py"
ROW = {
    "id": "7",
    "kernel": "saxpy",
    "n": 4096,
    "by": "heron",
    "gpu": "H100",
    "median_us": 8.12,
    "measured_at": "2026-08-01 12:00",
}


@pytest.fixture
def template(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The template as a registered source."""
    spec = importlib.util.spec_from_file_location("importer_template", TEMPLATE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    source = KnownSource(slug=module.SLUG, name="Tern board", kind="leaderboard", homepage="https://tern.example")
    monkeypatch.setitem(known.KNOWN, module.SLUG, source)
    monkeypatch.setitem(registry.SOURCES, module.SOURCE.name, module.SOURCE)
    return module


@pytest.mark.usefixtures("template")
async def test_it_imports_good_rows_and_quarantines_bad_ones(index: Index, tmp_path: Path) -> None:
    rows = [ROW, {**ROW, "id": "8", "median_us": 0}, {**ROW, "id": "9", "withdrawn": True}]

    report = await imported(index, written(tmp_path / "tern.json", {"board": "tern", "results": rows}))

    assert report.files[0].importer == "tern"
    assert report.counts["runs"].new == 1
    assert [(one.row, one.problems[0].path) for one in report.refused] == [("8", "results[1].median_us")]
    assert report.skipped == {"results that were withdrawn": 1}
    query = "{ runs { nodes { externalId primary { value } ranking { rank } } } }"
    (run,) = (await ask(index, query))["runs"]["nodes"]
    assert run == {"externalId": "7", "primary": {"value": "8120"}, "ranking": {"rank": 1}}
