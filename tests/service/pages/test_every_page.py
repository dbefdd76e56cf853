"""What holds for every page: its links lead somewhere, it is small and quick, and no text of others becomes part of it."""

from pathlib import Path

import httpx
import pytest

from domain.commands import Ingest, RegisterSource
from domain.identity import hex_of
from domain.principals import LOCAL
from tests.examples import PROJECT, WORKLOAD, bundle, implementation, ingest
from tests.service.api.asking import run_of
from tests.service.api.test_statements import counted, numbered
from tests.service.pages.reading import Page
from tests.service.pages.test_hostile_texts import HOSTILE, said_everywhere, skeleton
from tests.service.pages.test_run_page import BASE, BROWSER, opened, record
from tests.service.site import Site, site

ENOUGH = 300
SLUG = "rmsnorm-h4096"


def paths(ranking: str, *runs: str, code: str = "heron") -> list[str]:
    """One of every page but a run's, with what it shows most; one of them as of a day, the present one."""
    compared = "&".join(f"id={hex_of(one)}" for one in runs)
    return [
        "/",
        ranking,
        f"{ranking}?at=2026-09-01",
        "/operations",
        f"/operations/{SLUG}",
        f"/workloads/{hex_of(WORKLOAD.digest)}",
        f"/implementations/{hex_of(implementation(code).digest)}",
        f"/projects/{hex_of(PROJECT.digest)}",
        f"/compare?{compared}",
        f"/compare?{compared}&all=1",
        "/search?q=rmsnorm",
        f"/cited?citation={runs[0]}",
        "/audit",
        "/audit?type=RunIngested",
        "/audit/5",
    ]


async def ranking_of(visitor: httpx.AsyncClient, digest: str) -> str:
    return (await opened(visitor, f"/runs/{hex_of(digest)}")).links["Leaderboard of its group"]


async def test_no_link_leads_nowhere(here: Site, visitor: httpx.AsyncClient) -> None:
    """Given a start at the front page: every page that links lead to is there, of runs recorded one by one and together, and so is every file that they load."""
    source = RegisterSource(slug="board", name="Board", kind="board", homepage="https://board.example/")
    failed = bundle(
        None,
        by="owl",
        status="timeout",
        measurements=[{"metric": "throughput", "statistic": "mean", "unit": "gb_s", "value": 1}],
    )
    await record(here, source, ingest(8000), ingest(9000, by="tern"), Ingest(bundle=numbered(3)), Ingest(bundle=failed))
    together = [Ingest(bundle=bundle(6000 + number, by="wren")) for number in range(3)]
    await here.app.state.web._index.ledger.handle(together, LOCAL)
    waiting, seen = {"/"}, set[str]()
    while waiting:
        path = waiting.pop()
        seen.add(path)
        response = await visitor.get(path, headers={"Accept": BROWSER})
        assert response.status_code == 200, path
        if not response.headers["content-type"].startswith("text/html") or path == "/graphql":
            continue
        page = Page(response.text)
        linked = [one.attributes[name] for one in page.root.all() for name in ("href", "src") if name in one.attributes]
        waiting |= (
            {one.removeprefix(BASE).partition("#")[0] for one in linked if one.startswith(("/", BASE))} - seen - {""}
        )

    kinds = {path.split("/")[1].partition("?")[0] for path in seen}
    assert kinds >= {"runs", "rankings", "operations", "workloads", "implementations", "projects", "compare", "search", "cited", "audit"}  # fmt: skip


async def test_every_page_of_a_large_group_is_small_and_takes_few_statements(
    here: Site, visitor: httpx.AsyncClient
) -> None:
    """Given a group of 300 runs with long names, each of an implementation of its own."""
    names = [f"a-rather-long-name-of-an-implementation-as-people-give-them-{number}" for number in range(ENOUGH)]
    runs = [
        bundle(10_000 - number, by=name, observedAt=f"2026-08-{number % 28 + 1:02}T12:00:00Z")
        for number, name in enumerate(names)
    ]
    for start in range(0, ENOUGH, 100):
        await here.app.state.web._index.ledger.handle([Ingest(bundle=one) for one in runs[start : start + 100]], LOCAL)
    digests = [one.run.digest for one in runs[:8] if one.run]
    ranking = await ranking_of(visitor, digests[0])

    for path in paths(ranking, *digests, code=names[0]):
        with counted(here.app.state.web._index) as statements:
            response = await visitor.get(path, headers={"Accept": BROWSER})

        assert response.status_code == 200, path
        assert len(response.content) < 200_000, path
        assert len(statements) < 20, (path, len(statements))


async def test_pages_are_revalidated_and_run_no_script_of_others(here: Site, visitor: httpx.AsyncClient) -> None:
    await record(here, ingest(8000), ingest(9000, by="tern"))
    ranking = await ranking_of(visitor, run_of(8000).digest)

    for path in paths(ranking, run_of(8000).digest, run_of(9000, by="tern").digest):
        first = await visitor.get(path, headers={"Accept": BROWSER})
        again = await visitor.get(path, headers={"Accept": BROWSER, "If-None-Match": first.headers["etag"]})

        assert again.status_code == 304, path
        policy = first.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert not [one for one in Page(first.text).root.all() if "style" in one.attributes or one.tag == "style"], path
        assert not [one for one in Page(first.text).root.all("script") if "src" not in one.attributes], path


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_names_change_no_page(here: Site, visitor: httpx.AsyncClient, tmp_path: Path, text: str) -> None:
    run = (await said_everywhere(here, text)).removeprefix("/runs/")
    async with site(tmp_path / "harmless", base_url=BASE) as (other, other_visitor):
        harmless = (await said_everywhere(other, "Harmless")).removeprefix("/runs/")
        assert harmless != run  # their external ids differ, and so do their digests
        for path in ("/operations", f"/workloads/{hex_of(WORKLOAD.digest)}", f"/projects/{hex_of(PROJECT.digest)}",
                     f"/implementations/{hex_of(implementation().digest)}", "/cited?citation={}", "/audit?run={}"):  # fmt: skip
            shown = await visitor.get(path.format(run), headers={"Accept": BROWSER})
            plain = await other_visitor.get(path.format(harmless), headers={"Accept": BROWSER})

            assert shown.status_code == plain.status_code, path
            tags, plain_tags = (sorted(tag for tag, _ in skeleton(Page(one.text).root)) for one in (shown, plain))
            assert tags == plain_tags, path


@pytest.mark.parametrize(
    ("path", "name"),
    [("/search", "q"), ("/cited", "citation"), ("/cited", "digest"), ("/cited", "day"), ("/compare", "id"),
     ("/audit", "stream"), ("/audit", "actor"), ("/audit", "type"), ("/audit", "run"), ("/audit", "from"),
     ("/operations", "family"), ("/operations", "after"), ("/operations", "at"), ("/", "at"), ("/search", "at")],
)  # fmt: skip
async def test_hostile_parameters_are_only_ever_text(
    here: Site, visitor: httpx.AsyncClient, path: str, name: str
) -> None:
    await record(here, ingest(8000))
    for text in HOSTILE:
        given = {name: text} if path != "/cited" else {"citation": run_of(8000).digest, name: text}

        response = await visitor.get(path, params=given, headers={"Accept": BROWSER})

        assert response.status_code in (200, 400, 404), response.text
        page = Page(response.text)
        assert not [one for one in page.root.all("script") if "src" not in one.attributes]
        assert len(page.root.all("img")) == 1  # ours, in the header
        assert len(page.root.all("main")) == 1
        assert [one for one in page.root.all() if set(one.attributes) & {"onerror", "onfocus", "autofocus"}] == []
