"""How fresh each source is: its last import, its newest observation, and how often it should be read."""

from pathlib import Path

from domain.commands import RegisterSource
from domain.principals import LOCAL
from service.app import Index
from tests.service.api.asking import ask
from tests.service.sources import reading
from tests.service.sources.importing import fixture, imported, written

FRESHNESS = """{ sources { nodes {
  slug newestObservationAt policy { licence attribution freshnessDays }
  lastImport { importer importerVersion fileDigest counts { key count } } } } }"""
KERNEL = reading.SOURCES / "sol-leaderboard" / "kernel-4.json"


async def test_a_source_shows_when_its_newest_run_was_measured(index: Index, tmp_path: Path) -> None:
    """Whatever the order in which they come; what is refused doesn't count."""
    page = fixture("sol-leaderboard", "submissions.json")
    newest = page["data"]["submissions"][0]
    page["data"]["submissions"].append({**newest, "id": 3, "submitted_at": "2031-01-01T00:00:00"})
    page["data"]["submissions"].append({**newest, "id": 4, "submitted_at": "2026-01-01T00:00:00"})

    await imported(index, KERNEL, written(tmp_path / "page.json", page))

    (source,) = (await ask(index, FRESHNESS))["sources"]["nodes"]
    assert source["newestObservationAt"] == "2026-08-14T05:38:25.741Z"
    counts = {one["key"]: one["count"] for one in source["lastImport"]["counts"]}
    assert source["lastImport"]["importer"] == "sol-leaderboard"
    assert counts == {"new": 3, "unchanged": 0, "refused": 1}


async def test_a_source_without_runs_has_no_newest_one(index: Index) -> None:
    await imported(index, KERNEL)
    (source,) = (await ask(index, FRESHNESS))["sources"]["nodes"]
    assert source["newestObservationAt"] is None
    assert source["policy"] is None


async def test_terms_come_with_a_known_source_and_stay_when_somebody_has_set_others(index: Index) -> None:
    """An importer only reads a source: it doesn't revise what its owner agreed."""
    await imported(index, reading.SOURCES / "kernelbot")
    before = (await ask(index, FRESHNESS))["sources"]["nodes"][0]["policy"]
    agreed = RegisterSource(
        slug="gpumode-kernelbot",
        name="GPU MODE KernelBot",
        kind="leaderboard",
        policy=b'{"freshnessDays":10,"license":"as agreed"}',
    )
    index.ledger.record([agreed], LOCAL)
    await imported(index, reading.SOURCES / "kernelbot")

    assert (before["licence"], before["freshnessDays"]) == ("June 9 Researcher Reciprocity License v1.0", None)
    after = (await ask(index, FRESHNESS))["sources"]["nodes"][0]["policy"]
    assert after == {"licence": "as agreed", "attribution": None, "freshnessDays": 10}
