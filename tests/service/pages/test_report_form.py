"""The form that reports an issue: it needs neither a key nor scripts, and is taken only from our own pages."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from domain.commands import Ingest
from domain.identity import hex_of
from service.http.admission import Gate
from tests.examples import bundle
from tests.service.api.asking import run_of
from tests.service.pages.reading import Element, Page
from tests.service.pages.test_run_page import BROWSER, record
from tests.service.site import Site, error, site

PATH = f"/runs/{hex_of(run_of().digest)}"
HERE = "http://127.0.0.1:8000"
OURS = {"Accept": BROWSER, "Origin": HERE, "Sec-Fetch-Site": "same-origin"}
GIVEN = {"category": "INCORRECT_RESULT", "text": "The second tile is wrong.\r\nSee the log."}


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[Site, httpx.AsyncClient]]:
    async with site(tmp_path) as (one, client):
        await record(one, Ingest(bundle=bundle()))
        yield one, client


@pytest.fixture
def client(served: tuple[Site, httpx.AsyncClient]) -> httpx.AsyncClient:
    return served[1]


async def sent(client: httpx.AsyncClient, headers: dict[str, str] | None = None, **given: Any) -> httpx.Response:
    data = {**GIVEN, **given}
    return await client.post(f"{PATH}/issues", data=data, headers=OURS if headers is None else headers)


async def reported(client: httpx.AsyncClient) -> list[Element]:
    page = Page((await client.get(PATH, headers={"Accept": BROWSER})).text)
    return page.section("report").all("li")


async def test_it_leads_to_the_issue_on_the_page(client: httpx.AsyncClient) -> None:
    response = await sent(client)

    (issue,) = await reported(client)
    assert response.status_code == 303
    assert response.headers["location"] == f"{PATH}#{issue.attributes['id']}"
    assert issue.lines == [
        "the result is wrong open by anonymous, 2026-09-01 12:00 UTC",
        "The second tile is wrong. See the log.",
    ]


async def test_the_fields_of_the_page_are_those_that_are_taken(client: httpx.AsyncClient) -> None:
    form = Page((await client.get(PATH, headers={"Accept": BROWSER})).text).section("report").one("form")
    options = [one.attributes["value"] for one in form.all("option")]

    assert form.attributes["action"] == f"{PATH}/issues"
    assert {one.attributes["name"] for one in form.all() if "name" in one.attributes} == set(GIVEN)
    for number, category in enumerate(options):
        assert (await sent(client, category=category, text=f"Number {number}")).status_code == 303


async def test_sent_twice_it_is_one_report(client: httpx.AsyncClient) -> None:
    first, second = await sent(client), await sent(client)

    assert first.headers["location"] == second.headers["location"]
    assert len(await reported(client)) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Origin": HERE, "Sec-Fetch-Site": "same-site"},
        {"Origin": HERE, "Sec-Fetch-Site": "none"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Origin": f"{HERE}.evil.example"},
        {},
    ],
)
async def test_from_anywhere_else_it_is_refused(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    response = await sent(client, headers)

    assert (response.status_code, error(response)["code"]) == (403, "FORBIDDEN")
    assert await reported(client) == []


async def test_a_browser_that_sends_only_its_origin_is_taken(client: httpx.AsyncClient) -> None:
    assert (await sent(client, {"Origin": HERE})).status_code == 303


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"text": "  "}, "INVALID_VALUE"),
        ({"text": "x" * 2_001}, "INVALID_VALUE"),
        ({"text": "abc\u202edef"}, "INVALID_VALUE"),
        ({"category": "NONSENSE"}, "BAD_REQUEST"),
    ],
)
async def test_what_does_not_fit_is_said_on_a_page(client: httpx.AsyncClient, given: dict[str, Any], code: str) -> None:
    response = await sent(client, **given)

    assert response.status_code == 400
    assert Page(response.text).root.one("article").lines[0] == f"400 · {code}"
    assert await reported(client) == []


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"category=OTHER", "application/x-www-form-urlencoded", 400),
        (b"category=OTHER&text=%ff", "application/x-www-form-urlencoded", 400),
        (b"&".join(b"a=%d" % n for n in range(50)), "application/x-www-form-urlencoded", 400),
        (b"category=OTHER&text=" + b"x" * 40_000, "application/x-www-form-urlencoded", 413),
        (b"category=OTHER&text=x", "text/plain", 415),
    ],
)
async def test_bodies_that_are_no_such_form(client: httpx.AsyncClient, content: bytes, kind: str, status: int) -> None:
    response = await client.post(f"{PATH}/issues", content=content, headers={**OURS, "Content-Type": kind})

    assert response.status_code == status
    assert await reported(client) == []


async def test_an_address_has_five_a_day_and_others_are_not_hindered(
    served: tuple[Site, httpx.AsyncClient], client: httpx.AsyncClient
) -> None:
    for number in range(5):
        assert (await sent(client, text=f"Number {number}")).status_code == 303

    assert (await sent(client, text="One more")).status_code == 429
    assert (await sent(await served[0].at("198.51.100.7"), text="One more")).status_code == 303


async def test_it_counts_as_a_write(client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    monkeypatch.setattr(Gate, "admit_write", lambda _, visit: counted.append(visit))

    await sent(client)

    assert len(counted) == 1


async def test_another_id_of_the_run_will_do_and_an_unknown_one_is_not_found(client: httpx.AsyncClient) -> None:
    short = await client.post(f"{PATH[:14]}/issues", data=GIVEN, headers=OURS)
    unknown = await client.post("/runs/00000000/issues", data=GIVEN, headers=OURS)

    assert short.headers["location"].startswith(f"{PATH}#issue-")
    assert unknown.status_code == 404
