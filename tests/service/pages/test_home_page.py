"""The home page: the latest runs, a page at a time, whatever has become of them."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from domain.commands import Ingest, RetractRun
from domain.identity import hex_of, short_id
from tests.examples import bundle
from tests.service.api.asking import run_of
from tests.service.api.test_statements import counted, settle
from tests.service.pages.reading import Page
from tests.service.pages.test_run_page import BASE, BROWSER, opened, record
from tests.service.site import Site, site


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[Site, httpx.AsyncClient]]:
    async with site(tmp_path, base_url=BASE) as (one, client):
        yield one, client


@pytest.fixture
def client(served: tuple[Site, httpx.AsyncClient]) -> httpx.AsyncClient:
    return served[1]


@pytest.fixture
def here(served: tuple[Site, httpx.AsyncClient]) -> Site:
    return served[0]


def rows(page: Page) -> list[str]:
    return [row.text for row in page.root.one("tbody").all("tr")]


async def test_an_empty_index_says_so(client: httpx.AsyncClient) -> None:
    page = await opened(client, "/")

    assert page.title == "KernelIndex"
    assert "No runs here yet." in page.section("content").lines


async def test_each_run_has_a_line_that_leads_to_it(here: Site, client: httpx.AsyncClient) -> None:
    fast, slow, failed = run_of(8000, by="tern"), run_of(9000), run_of(None, by="owl", status="timeout")
    await record(
        here,
        Ingest(bundle=bundle(8000, by="tern")),
        Ingest(bundle=bundle(9000)),
        Ingest(bundle=bundle(None, by="owl", status="timeout")),
        RetractRun(run=fast.digest, reason="Wrong."),
    )

    page = await opened(client, "/")

    workload = "RMSNorm h4096 tokens = 2048 · bf16 NVIDIA B200"
    assert rows(page) == [
        f"{short_id(failed.digest)} owl {workload} timeout not ranked reported 2026-09-01",
        f"{short_id(slow.digest)} heron {workload} 9.00 µs median 1 of 1 reported 2026-09-01",
        f"{short_id(fast.digest)} tern {workload} 8.00 µs median retracted not ranked reported 2026-09-01",
    ]
    assert page.links[short_id(slow.digest)] == f"/runs/{hex_of(slow.digest)}"


async def test_pages_follow_one_another_without_gap_or_repeat(here: Site, client: httpx.AsyncClient) -> None:
    await record(here, *(Ingest(bundle=bundle(1000 + number)) for number in range(60)))

    page = await opened(client, "/")
    seen = rows(page)
    while older := page.links.get("Older runs"):
        page = await opened(client, older)
        seen += rows(page)

    assert len(seen) == len({row.split()[0] for row in seen}) == 60
    assert page.section("latest").text == "Latest runs 60"


async def test_a_browser_that_has_it_gets_304_until_something_happens(here: Site, client: httpx.AsyncClient) -> None:
    first = await client.get("/", headers={"Accept": BROWSER})
    tag = {"Accept": BROWSER, "If-None-Match": first.headers["etag"]}

    assert (await client.get("/", headers=tag)).status_code == 304
    await record(here, Ingest(bundle=bundle()))
    assert (await client.get("/", headers=tag)).status_code == 200


async def test_its_statements_do_not_depend_on_how_many_runs_it_shows(tmp_path: Path) -> None:
    numbers = []
    for count in (2, 25):
        async with site(tmp_path / f"{count}", base_url=BASE) as (one, client):
            await record(one, *(Ingest(bundle=bundle(1000 + number)) for number in range(count)))
            await settle(one.app.state.web._index)
            with counted(one.app.state.web._index) as seen:
                await opened(client, "/")
            numbers.append(len(seen))

    assert numbers[0] == numbers[1] <= 20


async def test_a_run_takes_few_statements_and_little_room(here: Site, client: httpx.AsyncClient) -> None:
    await record(here, Ingest(bundle=bundle()))
    path = f"/runs/{hex_of(run_of().digest)}"
    await settle(here.app.state.web._index)

    with counted(here.app.state.web._index) as seen:
        answer = await client.get(path, headers={"Accept": BROWSER})

    assert len(seen) <= 40
    assert len(answer.content) < 60_000
