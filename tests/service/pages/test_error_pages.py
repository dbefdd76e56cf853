"""Errors as pages: for whoever prefers HTML, with the status, the reason, and what helps."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from domain.commands import EraseEvent, Ingest
from domain.identity import hex_of
from tests.examples import bundle
from tests.service.api.asking import run_of
from tests.service.http.test_records import TWINS
from tests.service.pages.reading import Page
from tests.service.pages.test_run_page import BASE, BROWSER, record
from tests.service.site import Site, error, site

RUN = run_of()
PATH = f"/runs/{hex_of(RUN.digest)}"
HTML = {"Accept": BROWSER}


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[Site, httpx.AsyncClient]]:
    async with site(tmp_path, base_url=BASE, requests_per_minute=20) as (one, client):
        await record(one, Ingest(bundle=bundle()))
        yield one, client


@pytest.fixture
def client(served: tuple[Site, httpx.AsyncClient]) -> httpx.AsyncClient:
    return served[1]


@pytest.mark.parametrize(
    ("path", "status", "code", "said"),
    [
        ("/runs/00000000", 404, "NOT_FOUND", "no run has this id"),
        ("/nowhere", 404, "NOT_FOUND", "nothing is served at this path"),
        (f"{PATH}/at/99999", 404, "POSITION_IN_FUTURE", "the log has not reached position 99999"),
        (f"{PATH}/at/0", 404, "NOT_FOUND", "the log has no position 0"),
        ("/?after=nonsense", 400, "INVALID_CURSOR", "cursor"),
    ],
)
async def test_it_says_what_is_wrong(client: httpx.AsyncClient, path: str, status: int, code: str, said: str) -> None:
    response = await client.get(path, headers=HTML)

    article = Page(response.text).root.one("article")
    assert response.status_code == status
    assert article.lines[0] == f"{status} · {code}"
    assert said in article.text
    assert response.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in response.headers["content-security-policy"]


async def test_whoever_prefers_json_gets_that(client: httpx.AsyncClient) -> None:
    for accept in ("*/*", "application/json", ""):
        response = await client.get("/runs/00000000", headers={"Accept": accept})
        assert error(response)["code"] == "NOT_FOUND"


async def test_what_was_erased_is_gone_and_says_why(
    served: tuple[Site, httpx.AsyncClient], client: httpx.AsyncClient
) -> None:
    await record(
        served[0], EraseEvent(position=_position(served[0]), stream=f"run/{RUN.digest}", legal_basis="GDPR 17")
    )

    response = await client.get(PATH, headers=HTML)

    article = Page(response.text).root.one("article")
    assert (response.status_code, article.lines[0]) == (410, "410 · GONE")
    assert "erased" in article.text
    assert "GDPR 17" in article.text


def _position(one: Site) -> int:
    return int(one.app.state.web._index.follower.head.position)


async def test_digits_that_begin_several_records_lead_to_each(
    served: tuple[Site, httpx.AsyncClient], client: httpx.AsyncClient
) -> None:
    await record(served[0], *(Ingest(bundle=bundle(median)) for median in TWINS))
    digests = sorted(run_of(median).digest for median in TWINS)

    response = await client.get(f"/runs/{hex_of(digests[0])[:8]}", headers=HTML)

    article = Page(response.text).root.one("article")
    assert response.status_code == 400
    assert sorted(one.text for one in article.all("li")) == digests
    assert sorted(one.attributes["href"] for one in article.all("a")) == [f"/runs/{hex_of(one)}" for one in digests]


async def test_too_many_requests_and_views_behind_say_when_to_come_back(client: httpx.AsyncClient) -> None:
    behind = await client.get(PATH, headers={**HTML, "X-KernelIndex-Min-Position": "9999"})
    assert (behind.status_code, behind.headers["retry-after"]) == (503, "1")
    assert Page(behind.text).root.one("article").lines[0] == "503 · VIEWS_BEHIND"

    responses = [await client.get(PATH, headers=HTML) for _ in range(25)]

    response = responses[-1]
    assert response.status_code == 429
    assert int(response.headers["retry-after"]) > 0
    assert Page(response.text).root.one("article").lines[0] == "429 · RATE_LIMITED"


async def test_a_fault_of_ours_says_nothing_of_what_is_inside(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a page whose template asks for what is not there, then its reader gets an id for the operator."""
    monkeypatch.setattr("service.pages.routes.page", lambda *_: 1 / 0)

    response = await client.get("/", headers={**HTML, "X-Request-Id": "abc-1"})

    article = Page(response.text).root.one("article")
    assert response.status_code == 500
    assert article.lines[0] == "500 · INTERNAL"
    assert "abc-1" in article.text
    assert "division" not in response.text
