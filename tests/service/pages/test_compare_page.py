"""The page that puts runs side by side."""

import csv
import json

import httpx
import pytest

from domain.bundles import bundle_of
from domain.commands import Ingest
from domain.identity import hex_of, short_id
from tests.examples import PROTOCOL, ingest, manifest
from tests.service.api.asking import run_of
from tests.service.pages.reading import Page
from tests.service.pages.test_run_page import opened, record
from tests.service.site import Site

FAST, SLOW = run_of(8000), run_of(12000, by="tern")
OTHER = manifest("BenchmarkProtocol", PROTOCOL.spec | {"harness": {"name": "owl-eval", "version": "0.4.2"}})
APART = run_of(4000, protocolDigest=OTHER.digest)


@pytest.fixture(autouse=True)
async def _filled(here: Site) -> None:
    apart = ingest(4000, protocolDigest=OTHER.digest).bundle
    kept = [part for part in apart.manifests if part.digest != PROTOCOL.digest]
    await record(here, ingest(8000), ingest(12000, by="tern"), Ingest(bundle=bundle_of(*kept, OTHER, APART)))


def path(*runs: str) -> str:
    return "/compare?" + "&".join(f"id={one}" for one in runs)


def lines(page: Page) -> list[str]:
    return [row.text for row in page.root.one("table").all("tr")]


async def test_runs_of_one_group_get_ranks_and_ratios(visitor: httpx.AsyncClient) -> None:
    page = await opened(visitor, path(hex_of(SLOW.digest), hex_of(FAST.digest)))

    assert page.root.one("aside").text.startswith(
        "Comparable: same operation, workload, protocol, environment and metric."
    )
    assert page.links["Their group"].startswith("/rankings/")
    shown = lines(page)
    assert shown[0] == f"{short_id(SLOW.digest)} run-tern {short_id(FAST.digest)} run-heron"
    assert shown[1:5] == [
        "result 12.0 µs median 8.00 µs median",
        "rank in the group 2 1",
        "against the best of these 1.50× 1.00×",
        "evidence reported reported",
    ]
    assert not page.root.all("tr", cls="material")


async def test_what_keeps_them_apart_comes_first_and_nothing_is_ranked(visitor: httpx.AsyncClient) -> None:
    page = await opened(visitor, path(hex_of(FAST.digest), hex_of(APART.digest)))

    assert page.root.one("aside").classes == ["banner", "warn"]
    assert "protocol harness.name differs" in page.root.one("aside").text
    shown = lines(page)
    assert not any(line.startswith(("rank in", "against the best")) for line in shown)
    parts = [
        number for number, line in enumerate(shown) if line.startswith(("Material differences", "Other differences"))
    ]
    material = shown[parts[0] + 1 : parts[1]]
    assert "protocol harness.name tern-eval owl-eval" in material
    assert "protocol harness.version 0.4.2 0.4.2" not in shown


async def test_all_fields_are_a_link_away(visitor: httpx.AsyncClient) -> None:
    page = await opened(visitor, path(hex_of(FAST.digest), hex_of(APART.digest)))
    (every,) = [one for name, one in page.links.items() if name.startswith("All ")]

    whole = await opened(visitor, every)

    assert "protocol harness.version 0.4.2 0.4.2" in lines(whole)
    assert lines(await opened(visitor, whole.links["Only what differs"])) == lines(page)


async def test_it_is_taken_away_as_json_markdown_and_csv(visitor: httpx.AsyncClient) -> None:
    page = await opened(visitor, path(hex_of(SLOW.digest), hex_of(FAST.digest)))
    answers = {name: await visitor.get(page.links[name]) for name in ("JSON", "Markdown", "CSV")}

    assert [one.headers["content-type"] for one in answers.values()] == [
        "application/json",
        "text/markdown; charset=utf-8",
        "text/csv; charset=utf-8",
    ]
    assert json.loads(answers["JSON"].text)["comparable"] is True
    assert short_id(SLOW.digest) in answers["Markdown"].text
    assert any(SLOW.digest in cell for row in csv.reader(answers["CSV"].text.splitlines()) for cell in row)


@pytest.mark.parametrize("written", ["{} {}", "{},{}", " {}\n{} ", "{}, {}"])
async def test_one_field_may_hold_several_ids(visitor: httpx.AsyncClient, written: str) -> None:
    ids = written.format(hex_of(FAST.digest)[:10], hex_of(SLOW.digest)[:10])

    response = await visitor.get("/compare", params={"id": ids}, headers={"Accept": "text/html"})

    assert Page(response.text).root.one("h1").text == "2 runs side by side"


@pytest.mark.parametrize("query", ["", "?id=", "?id=12345678"])
async def test_with_fewer_than_two_it_is_a_form(visitor: httpx.AsyncClient, query: str) -> None:
    page = await opened(visitor, f"/compare{query}")

    assert page.root.one("form").attributes["action"] == "/compare"
    assert page.root.one("textarea").text == query.partition("=")[2]


@pytest.mark.parametrize(
    ("ids", "status"),
    [(("zzzz", "yyyy"), 404), ((*map(str, range(10**8, 10**8 + 9)),), 400), (("0" * 64, "1" * 64), 404)],
)
async def test_what_cannot_be_compared_is_said(visitor: httpx.AsyncClient, ids: tuple[str, ...], status: int) -> None:
    assert (await visitor.get(path(*ids), headers={"Accept": "text/html"})).status_code == status
    assert (await visitor.get(path(*ids).replace("?", ".csv?"))).status_code == status


async def test_no_other_suffix_is_served(visitor: httpx.AsyncClient) -> None:
    assert (await visitor.get(path(hex_of(FAST.digest), hex_of(SLOW.digest)).replace("?", ".xlsx?"))).status_code == 404
