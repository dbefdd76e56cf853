"""The page that searches: what was found, why, and where it leads."""

import httpx
import pytest

from domain.commands import RegisterSource
from domain.identity import hex_of
from tests.examples import WORKLOAD, implementation, ingest
from tests.service.api.asking import run_of
from tests.service.pages.reading import Element, Page
from tests.service.pages.test_run_page import opened, record
from tests.service.site import Site


@pytest.fixture(autouse=True)
async def _filled(here: Site) -> None:
    source = RegisterSource(slug="tern-board", name="Tern Board", kind="leaderboard")
    await record(here, source, ingest(8000), ingest(9000, by="tern"))


async def searched(visitor: httpx.AsyncClient, text: str) -> Page:
    response = await visitor.get("/search", params={"q": text}, headers={"Accept": "text/html"})
    assert response.status_code == 200, response.text
    return Page(response.text)


def hits(page: Page) -> dict[str, Element]:
    """The hits by where they lead."""
    return {one.one("a").attributes["href"]: one for one in page.root.one("ol", cls="hits").all("li")}


async def test_each_hit_leads_to_its_page_and_says_what_matched(visitor: httpx.AsyncClient) -> None:
    page = await searched(visitor, "tern")

    found = hits(page)
    assert {
        f"/runs/{hex_of(run_of(9000, by='tern').digest)}",
        f"/implementations/{hex_of(implementation('tern').digest)}",
    } <= set(found)
    run = found[f"/runs/{hex_of(run_of(9000, by='tern').digest)}"]
    assert run.lines[0].endswith("run 9.00 µs reported")
    assert any("name" in line for line in run.lines if line.startswith("matched "))
    assert {mark.text.lower() for one in found.values() for mark in one.all("mark")} == {"tern"}
    assert page.root.one("input", name="q").attributes["value"] == "tern"


async def test_every_kind_leads_somewhere_that_is_there(visitor: httpx.AsyncClient) -> None:
    kinds = {}
    for text in ("rmsnorm", "tern", "heron", "b200", "tokens=2048"):
        for address, hit in hits(await searched(visitor, text)).items():
            kinds[hit.one(cls="state").text] = address

    assert set(kinds) == {"run", "operation", "workload", "implementation", "project", "hardware", "source"}
    assert kinds["workload"] == f"/workloads/{hex_of(WORKLOAD.digest)}"
    for address in kinds.values():
        await opened(visitor, address)


async def test_what_was_not_understood_is_hinted_at(visitor: httpx.AsyncClient) -> None:
    page = await searched(visitor, "gpuu:b200 rmsnorm")

    assert page.root.one(cls="caution").text.startswith("Hint: ")


async def test_nothing_found_is_said(visitor: httpx.AsyncClient) -> None:
    page = await searched(visitor, "zeppelin")

    assert "Nothing." in page.section("content").lines
    assert "leave something out" in page.root.one(cls="caution").text


async def test_without_words_it_says_how_to_search(visitor: httpx.AsyncClient) -> None:
    page = await opened(visitor, "/search?q=%20")

    assert "How to search" in page.section("content").lines
    for address in [one for name, one in page.links.items() if name.startswith(("op:", "gpu:", "language:"))]:
        await opened(visitor, address)


async def test_pages_of_hits_follow_one_another(here: Site, visitor: httpx.AsyncClient) -> None:
    await record(here, *(ingest(10_000 + number) for number in range(60)))

    page = await searched(visitor, "rmsnorm")
    seen = list(hits(page))
    while more := page.links.get("More"):
        page = await opened(visitor, more)
        seen += list(hits(page))

    assert len(seen) == len(set(seen)) == int(page.section("found").text.split()[1])


async def test_a_search_that_is_too_long_is_refused(visitor: httpx.AsyncClient) -> None:
    response = await visitor.get("/search", params={"q": "x" * 501}, headers={"Accept": "text/html"})

    assert response.status_code == 400
