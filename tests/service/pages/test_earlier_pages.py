"""Pages as of an earlier moment: what they show, how they say so, and where they lead."""

from urllib.parse import quote

import httpx
import pytest

from domain.commands import RetractRun
from domain.identity import hex_of
from tests.examples import PROJECT, WORKLOAD, implementation, ingest
from tests.service.api.asking import run_of
from tests.service.pages.reading import Page
from tests.service.pages.test_every_page import SLUG, ranking_of
from tests.service.pages.test_run_page import BASE, BROWSER, opened, record
from tests.service.site import Site

FIRST, SLOWER = run_of(8000).digest, run_of(9000, by="owl").digest
LATER = run_of(7000, by="tern").digest
UNPINNED = ("/audit", "/graphql", "/assets", "/cited")
"""What the log says and what files hold is the same at any time."""


@pytest.fixture
async def then(here: Site) -> int:
    """A position at which a group had two runs; by now a better one leads, and one of the two is retracted."""
    position = await record(here, ingest(8000), ingest(9000, by="owl"))
    here.clock.time = here.clock.time.replace(hour=15)
    await record(here, ingest(7000, by="tern"), RetractRun(run=FIRST, reason="The wrong stream."))
    return position


async def every_page(visitor: httpx.AsyncClient) -> list[str]:
    return [
        "/",
        await ranking_of(visitor, LATER),
        "/operations",
        f"/operations/{SLUG}",
        f"/workloads/{hex_of(WORKLOAD.digest)}",
        f"/implementations/{hex_of(implementation().digest)}",
        f"/projects/{hex_of(PROJECT.digest)}",
        "/search?q=rmsnorm",
        "/search",
        "/compare",
        f"/compare?id={hex_of(FIRST)}&id={hex_of(SLOWER)}",
    ]


def at(path: str, moment: object) -> str:
    return f"{path}{'&' if '?' in path else '?'}at={quote(str(moment))}"


async def test_every_page_says_as_of_when_it_is_and_leads_to_the_present(visitor: httpx.AsyncClient, then: int) -> None:
    for path in [*await every_page(visitor), f"/runs/{hex_of(FIRST)}"]:
        shown = f"{path}/at/{then}" if path.startswith("/runs/") else at(path, then)
        page, now = await opened(visitor, shown), await opened(visitor, path)

        banner = page.root.one("aside", **{"aria-label": "Pinned"})
        assert f"As it stood at log position {then}, 2026-09-01" in banner.text, path
        assert banner.all("a")[0].attributes["href"] == path
        (canonical,) = page.root.all("link", rel="canonical")
        assert canonical.attributes["href"] == f"{BASE}{path}", path
        assert page.links[f"{then}"] == shown, path
        assert not now.root.all("aside", **{"aria-label": "Pinned"}), path


async def test_what_came_later_is_not_there(visitor: httpx.AsyncClient, then: int) -> None:
    ranking = await opened(visitor, at(await ranking_of(visitor, LATER), then))
    home = await opened(visitor, at("/", then))
    found = await opened(visitor, at("/search?q=rmsnorm", then))
    compared = await visitor.get(at(f"/compare?id={hex_of(FIRST)}&id={hex_of(LATER)}", then))

    assert [row.one("a").attributes["title"] for row in ranking.root.one(cls="ranked").one("tbody").all("tr")] == [
        FIRST,
        SLOWER,
    ]
    assert home.section("latest").text == "Latest runs 2"
    assert "retracted" not in home.section("runs").text
    assert hex_of(LATER) not in str(found.links)
    assert compared.status_code == 404


async def test_links_stay_at_the_moment(visitor: httpx.AsyncClient, then: int) -> None:
    """Given every link and form in what pages of then say, followed on and on: each is as of then, and there."""
    waiting, seen = {at(path, then) for path in await every_page(visitor)}, set[str]()
    while waiting:
        path = waiting.pop()
        seen.add(path)
        response = await visitor.get(path, headers={"Accept": BROWSER})
        assert response.status_code == 200, path
        if not response.headers["content-type"].startswith("text/html"):
            continue
        page = Page(response.text)
        content = page.section("content")
        away = {link.attributes["href"] for banner in content.all("aside") for link in banner.all("a")}
        linked = (
            {link.attributes["href"].removeprefix(BASE).partition("#")[0] for link in content.all("a")} - away - {""}
        )
        inside = {one for one in linked if one.startswith("/") and not one.startswith(UNPINNED)}
        # What a run's history tells of leads to the very position.
        assert [one for one in inside if f"at={then}" not in one and "/at/" not in one] == [], path
        assert all(
            form.one("input", name="at").attributes["value"] == f"{then}"
            for form in content.all("form", action="/search")
        )
        waiting |= {one for one in inside if f"at={then}" in one or f"/at/{then}" in one} - seen

    assert {path.split("/")[1].partition("?")[0].partition(".")[0] for path in seen} >= {
        "", "runs", "rankings", "operations", "workloads", "implementations", "projects", "search", "compare"
    }  # fmt: skip


async def test_a_moment_is_a_position_an_instant_or_a_day(here: Site, visitor: httpx.AsyncClient, then: int) -> None:
    latest = here.app.state.web._index.follower.head.position
    for moment, position in (
        (then, then),
        ("2026-09-01T14:00:00Z", then),
        ("2026-09-01T16:00:00+02:00", then),
        ("2026-09-01", latest),
        ("2026-08-31", 0),
        (0, 0),
    ):
        page = await opened(visitor, at("/", moment))

        assert f"As it stood at log position {position}," in page.root.one("aside").text, moment


@pytest.mark.parametrize(
    ("moment", "status", "code"),
    [
        ("999999", 404, "POSITION_IN_FUTURE"),
        ("2999-01-01T00:00:00Z", 404, "POSITION_IN_FUTURE"),
        ("2999-01-01", 404, "POSITION_IN_FUTURE"),
        ("-1", 400, "INVALID_ARGUMENT"),
        ("9" * 30, 400, "INVALID_ARGUMENT"),
        ("yesterday", 400, "INVALID_ARGUMENT"),
        ("2026-09-01T14:00:00", 400, "INVALID_ARGUMENT"),
        ("2026-02-30", 400, "INVALID_ARGUMENT"),
        ("0001-01-01T00:00:00+14:00", 400, "INVALID_ARGUMENT"),
    ],
)
async def test_a_moment_that_there_is_none_of_is_an_error(
    visitor: httpx.AsyncClient, then: int, moment: str, status: int, code: str
) -> None:
    response = await visitor.get(at("/operations", moment), headers={"Accept": BROWSER})

    assert response.status_code == status
    page = Page(response.text).section("content")
    assert page.lines[0] == f"{status} · {code}"
    assert "What helps:" in page.text


async def test_what_was_not_there_yet_is_not_found(visitor: httpx.AsyncClient, then: int) -> None:
    response = await visitor.get(f"/implementations/{hex_of(implementation('tern').digest)}?at={then}")

    assert response.status_code == 404


async def test_the_list_of_then_is_not_live(visitor: httpx.AsyncClient, then: int) -> None:
    assert (await opened(visitor, "/")).root.all(cls="live")
    assert not (await opened(visitor, at("/", then))).root.all(cls="live")
