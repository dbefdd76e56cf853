"""The page of a group: its order, each run's bar against the leader's, and the steps of its record."""

from typing import Any

import httpx
import pytest

from domain.commands import RetractRun
from domain.identity import hex_of, short_id
from service.pages.parameters import ROWS
from service.pages.ranking import bar
from tests.examples import ingest
from tests.service.api.asking import run_of
from tests.service.pages.reading import Element, Page
from tests.service.pages.test_run_page import opened, record
from tests.service.site import Site


async def group_page(visitor: httpx.AsyncClient, median: int = 8000, **given: Any) -> tuple[str, Page]:
    """The path of the group of a run, found as people find it, and its page."""
    run = await opened(visitor, f"/runs/{hex_of(run_of(median, **given).digest)}")
    path = run.links["Leaderboard of its group"]
    return path, await opened(visitor, path)


def order(page: Page) -> list[Element]:
    return page.root.one("table", cls="ranked").one("tbody").all("tr")


async def test_runs_stand_in_their_order_with_all_that_tells_them_apart(here: Site, visitor: httpx.AsyncClient) -> None:
    await record(here, ingest(8000, by="heron"), ingest(16000, by="tern"), ingest(16000, by="owl"))

    _, page = await group_page(visitor)

    assert page.title == "RMSNorm h4096, tokens = 2048 · bf16, NVIDIA B200 · KernelIndex"
    assert page.section("order").text == "Ranking 3"
    shown = [(row.text, row.one("a").attributes["href"]) for row in order(page)]
    tied = sorted(("owl", "tern"), key=lambda name: run_of(16000, by=name).digest)
    digests = {name: run_of(16000, by=name).digest for name in tied}
    expected = [
        ("1", "heron", run_of(8000).digest, "8.00 µs 1.00×"),
        *(("=\u20602", name, digests[name], "16.0 µs 2.00×") for name in tied),
    ]
    assert shown == [
        (
            f"{rank} {name} {short_id(digest)} · Heron Kernels · local {figures} reported 2026-08-01",
            f"/runs/{hex_of(digest)}",
        )
        for rank, name, digest, figures in expected
    ]


async def test_a_bar_is_as_long_as_the_share_of_the_leaders_performance(here: Site, visitor: httpx.AsyncClient) -> None:
    interval = {"median": 16000, "confidence95": [12800, 20000]}
    timing = {"timing": {"primaryStatistic": "median", "latencyNs": interval, "samples": 9}}
    await record(here, ingest(8000), ingest(16000, by="tern", **timing))

    rows = order((await group_page(visitor))[1])

    assert [row.all("rect")[1].attributes["width"] for row in rows] == ["100.0", "50.0"]
    assert [len(row.all("path")) for row in rows] == [0, 1]
    assert rows[1].one("path").attributes["d"] == "M40.0 5H62.5M40.0 2V8M62.5 2V8"
    assert "95% 12.8 µs" in rows[1].text


@pytest.mark.parametrize(
    ("ratio", "interval", "lower", "expected"),
    [
        (None, None, True, None),
        (1.0, None, True, (100.0, None, None)),
        (4.0, ("300", "500"), True, (25.0, 20.0, 33.33)),
        (4.0, ("20", "30"), False, (25.0, 20.0, 30.0)),
        (1.0, ("50", "200"), True, (100.0, 50.0, 100.0)),
        (4.0, ("0", "500"), True, (25.0, None, None)),
    ],
)
def test_bars(ratio: float | None, interval: tuple[str, str] | None, lower: bool, expected: Any) -> None:
    between = dict(zip(("low", "high"), interval, strict=True)) if interval else None
    entry = {"ratioToLeader": ratio, "run": {"primary": {"interval": between}}}

    drawn = bar(entry, {"lowerIsBetter": lower, "leader": {"primary": {"number": 100.0}}})

    assert drawn == (expected and dict(zip(("length", "low", "high"), expected, strict=True)))


async def test_its_pages_hold_every_run_once(here: Site, visitor: httpx.AsyncClient) -> None:
    await record(here, *(ingest(8000 + number) for number in range(2 * ROWS + 3)))

    path, page = await group_page(visitor)
    seen = [row.one("a").attributes["href"] for row in order(page)]
    assert len(seen) == ROWS
    while further := page.links.get("Further down"):
        page = await opened(visitor, further)
        assert page.links["From the leader"] == path
        assert not page.root.all(id="record")
        seen += [row.one("a").attributes["href"] for row in order(page)]

    assert len(seen) == len(set(seen)) == 2 * ROWS + 3


async def test_the_record_is_told_as_it_was_measured_and_as_it_was_known(
    here: Site, visitor: httpx.AsyncClient
) -> None:
    await record(
        here,
        ingest(8000, observedAt="2026-08-03T12:00:00Z"),
        ingest(9000, by="tern", observedAt="2026-08-01T12:00:00Z"),
        ingest(8500, by="owl", observedAt="2026-08-02T12:00:00Z"),
    )
    best = run_of(7000, by="wren", observedAt="2026-08-04T12:00:00Z")
    await record(here, ingest(7000, by="wren", observedAt="2026-08-04T12:00:00Z"))
    await record(here, RetractRun(run=best.digest, reason="The wrong stream."))

    _, page = await group_page(visitor, observedAt="2026-08-03T12:00:00Z")

    told = [row.text.rsplit(" ", 1)[0] for row in page.section("record-known").one("tbody").all("tr")]
    first = run_of(8000, observedAt="2026-08-03T12:00:00Z").digest
    assert told == [
        f"2026-09-01 8.00 µs {short_id(first)} new run",
        f"2026-09-01 7.00 µs {short_id(best.digest)} new run",
        f"2026-09-01 8.00 µs {short_id(first)} retraction",
    ]
    measured = page.section("record-observed").one("tbody").all("tr")
    assert [row.text.split()[:3] for row in measured] == [
        ["2026-08-01", "9.00", "µs"],
        ["2026-08-02", "8.50", "µs"],
        ["2026-08-03", "8.00", "µs"],
    ]
    assert [row.attributes["data-value"] for row in measured] == ["9000.0", "8500.0", "8000.0"]
    assert page.root.one("figure", cls="chart").attributes["data-steps"] == "record-observed record-known"


async def test_one_value_is_not_drawn(here: Site, visitor: httpx.AsyncClient) -> None:
    await record(here, ingest(8000))

    _, page = await group_page(visitor)

    assert not page.root.all("figure")
    assert len(page.section("record-known").one("tbody").all("tr")) == 1


async def test_runs_are_chosen_for_comparison(here: Site, visitor: httpx.AsyncClient) -> None:
    await record(here, ingest(8000), ingest(9000, by="tern"))

    _, page = await group_page(visitor)
    boxes = page.root.all("input", type="checkbox", name="id")
    chosen = "&".join(f"id={box.attributes['value']}" for box in boxes)

    compared = await opened(visitor, f"/compare?{chosen}")
    assert compared.section("content").one("h1").text == "2 runs side by side"


@pytest.mark.parametrize("key", ["0" * 64, "nonsense", "sha256:", "A" * 64, "0" * 63])
async def test_a_group_that_there_is_none_of_is_not_found(visitor: httpx.AsyncClient, key: str) -> None:
    response = await visitor.get(f"/rankings/{key}", headers={"Accept": "text/html"})

    assert response.status_code == 404
    assert "There is no such group with ranked runs here" in Page(response.text).root.text
