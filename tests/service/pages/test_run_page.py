"""A run's page: every line of the seed pages, and what it says of runs that failed, were retracted or are unresolved."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from domain.bundles import bundle_of, read_bundle
from domain.commands import (
    AttestRun,
    Command,
    Ingest,
    OpenDispute,
    RegisterSource,
    RetractRun,
    SupersedeRun,
)
from domain.facts import AttestationType
from domain.identity import hex_of
from domain.principals import LOCAL, Principal, Scope
from tests.examples import bundle
from tests.service.api.asking import run_of
from tests.service.pages.reading import Page
from tests.service.site import Site, site

SEEDS = Path(__file__).parents[2] / "fixtures" / "seeds"
EXPECTED: list[dict[str, Any]] = json.loads((SEEDS / "expected.json").read_text(encoding="utf-8"))
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
BASE = "https://kernels.example"
ORDER = [
    "primary",
    "identity",
    "correctness",
    "workload",
    "measurements",
    "protocol",
    "environment",
    "artifacts",
    "replications",
    "manifest",
    "cite",
    "report",
    "published",
]
"""The sections of the seed page."""


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


async def record(one: Site, *commands: Command, by: Principal = LOCAL) -> int:
    """Write to the index that is served, each command as a save of its own; answers the last position."""
    position = 0
    for command in commands:
        position = (await one.app.state.web._index.ledger.handle([command], by)).position
    return position


async def opened(client: httpx.AsyncClient, path: str) -> Page:
    response = await client.get(path, headers={"Accept": BROWSER})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    return Page(response.text)


def page_of(run: Any) -> str:
    return f"/runs/{hex_of(run.digest)}"


class TestSeedPages:
    @pytest.fixture(params=EXPECTED, ids=[one["file"] for one in EXPECTED])
    def seed(self, request: pytest.FixtureRequest) -> dict[str, Any]:
        expected: dict[str, Any] = request.param
        return expected

    @pytest.fixture
    async def page(self, here: Site, client: httpx.AsyncClient, seed: dict[str, Any]) -> Page:
        whole = read_bundle(json.loads((SEEDS / seed["file"]).read_text(encoding="utf-8")))
        source = RegisterSource(slug="sol-execbench", name="NVIDIA SOL-ExecBench", kind="leaderboard")
        await record(here, source, Ingest(bundle=whole))
        return await opened(client, f"/runs/{hex_of(seed['runDigest'])}")

    def test_its_sections_stand_in_the_order_of_the_seed_page(self, page: Page) -> None:
        assert [name for name in page.sections if name in ORDER] == ORDER

    def test_every_line_of_it(self, page: Page, seed: dict[str, Any]) -> None:
        shown = seed["page"]
        assert page.title == shown["title"]
        assert page.section("primary").one("h1").text == f"Run {shown['shortId']}"
        assert page.root.one(cls="value").text == f"{shown['primary']['value']} {shown['primary']['statistic']}"
        compared = f"{shown['comparison']['text']} · observed {shown['comparison']['observedOn']}"
        assert page.root.one(cls="comparison").text == compared
        assert page.root.one(cls="source-metrics").text == shown["sourceMetricsText"]
        for section in ("identity", "workload", "measurements", "protocol", "environment"):
            assert page.section(section).facts == shown[section]
        assert page.section("correctness").lines[1:] == [shown["correctness"].removesuffix(" (own wording)")]
        assert page.section("artifacts").lines[1:] == ["None published with this run."]
        replications = "None yet. Attestations never change the evidence level; only a controlled rerun does."
        assert page.section("replications").lines[1] == replications
        assert [name for name, _ in page.section("cite").facts] == shown["cite"]

    def test_its_end(self, page: Page, seed: dict[str, Any]) -> None:
        footer, end = seed["page"]["footer"], page.section("published")
        assert end.lines[0].startswith(f"Published {footer['publishedOn']} by {footer['source']};")
        links = {one.text: one.attributes["href"] for one in end.all("a")}
        assert links[footer["allResults"]].startswith("/operations/")
        assert links["JSON"] == f"/runs/{hex_of(seed['runDigest'])}.json"
        assert page.section("report").one("form").attributes["method"] == "post"

    def test_the_whole_manifests_can_be_read(self, page: Page, seed: dict[str, Any]) -> None:
        sent = json.loads((SEEDS / seed["file"]).read_text(encoding="utf-8"))
        texts = {one.attributes["aria-label"]: one.lines for one in page.section("manifest").all("pre")}
        for part in ("run", "protocol", "environment"):
            assert json.loads(" ".join(texts[f"Manifest of the {part}"])) == sent[part]

    def test_what_is_shortened_has_its_whole_digest_beside_it(self, page: Page, seed: dict[str, Any]) -> None:
        identity = page.section("identity")
        whole = [one.children for one in identity.all(cls="whole")]
        assert whole == [[seed["comparisonKey"]], [seed["runDigest"]]]
        assert [one.attributes["data-copy"] for one in identity.all("button")] == [
            seed["comparisonKey"],
            seed["runDigest"],
        ]

    def test_it_can_be_cited_in_every_format(self, page: Page, seed: dict[str, Any]) -> None:
        cite = page.section("cite")
        pinned = page.root.one("link", rel="cite-as").attributes["href"]
        assert [summary.text for summary in cite.all("summary")] == [
            "BibTeX", "BibLaTeX", "CSL-JSON", "RIS", "JSON-LD (schema.org)",
        ]  # fmt: skip
        for block in (*cite.all("pre"), cite.one(id="citation-text")):
            assert seed["runDigest"] in block.text
            assert pinned in block.text.replace("\\", "")
        for link in cite.all("a", cls=""):
            assert link.attributes["href"] == pinned


async def test_what_the_leader_is_and_how_far_away(here: Site, client: httpx.AsyncClient) -> None:
    await record(here, Ingest(bundle=bundle(8000, by="tern")), Ingest(bundle=bundle(10_000)))
    mine, leader = run_of(10_000), run_of(8000, by="tern")

    page = await opened(client, page_of(mine))

    assert ["rank", "2 of 2"] in page.section("primary").facts
    assert f"1.25× the leader, run {hex_of(leader.digest)[:8]} at 8.00 µs." in page.section("primary").lines
    assert page.links["Compare with the leader"] == f"/compare?id={hex_of(mine.digest)}&id={hex_of(leader.digest)}"
    assert page.links["Leaderboard of its group"].startswith("/rankings/")
    assert "Compare with the leader" not in (await opened(client, page_of(leader))).links


async def test_a_strict_run_with_an_interval_and_samples(here: Site, client: httpx.AsyncClient) -> None:
    timing = {
        "primaryStatistic": "median",
        "samples": 200,
        "latencyNs": {"median": 8120, "mad": 12, "p95": 9000, "confidence95": [8100, 8150]},
    }
    exact = run_of(timing=timing)
    await record(here, Ingest(bundle=bundle(timing=timing)))

    page = await opened(client, page_of(exact))

    assert page.root.one(cls="comparison").text == "strict comparison · observed 2026-08-01"
    assert page.root.one(cls="value").text == "8.12 µs median"
    assert page.section("measurements").facts == [
        ["latency · median", "8.12 µs 95% interval 8.10 µs to 8.15 µs mad 12 ns 200 samples"],
        ["latency · p95", "9.00 µs"],
        ["latency · mad", "12 ns"],
    ]
    assert page.root.all(cls="source-metrics") == []
    assert page.section("correctness").lines[1:] == ["passed, without the measured errors being stated"]


async def test_a_run_that_failed_says_so_where_the_number_would_be(here: Site, client: httpx.AsyncClient) -> None:
    await record(here, Ingest(bundle=bundle(None, status="timeout")))

    page = await opened(client, page_of(run_of(None, status="timeout")))

    assert page.root.one(cls="value").text == "timeout"
    assert page.root.one(cls="unranked").text.startswith("Not ranked: its status is timeout; ")
    assert page.section("correctness").lines[1:] == ["not checked: it ran out of time"]
    assert page.section("measurements").lines[1:] == ["None stated."]
    assert ["status", "timeout"] in page.section("primary").facts


async def test_a_retracted_run_says_so_first_and_its_pinned_page_what_happened_since(
    here: Site, client: httpx.AsyncClient
) -> None:
    run = run_of()
    before = await record(here, Ingest(bundle=bundle()))
    await record(here, RetractRun(run=run.digest, reason="The timer was <broken>."))

    now, then = await opened(client, page_of(run)), await opened(client, f"{page_of(run)}/at/{before}")

    banner = now.root.one("aside")
    assert banner.text == "Retracted 2026-09-01: The timer was <broken>."
    assert now.root.one("article").lines[0] == banner.text
    assert now.root.one(cls="unranked").text == "Not ranked: it is retracted."
    assert "retracted: The timer was <broken>." in now.section("history").text
    assert "retracted" in now.section("cite").one(id="citation-text").text

    assert then.root.one("aside").lines == [
        f"As it stood at log position {before}, 2026-09-01 12:00 UTC. As it stands now",
        "Since then:",
        "2026-09-01 retracted: The timer was <broken>.",
        "2026-09-01 rank 1 → none",
        f"2026-09-01 leader of its group from {hex_of(run.digest)[:8]} to none",
    ]
    assert then.root.all(cls="unranked") == []
    assert then.links["As it stands now"] == page_of(run)
    assert "retracted" not in then.section("history").text
    assert then.root.all("form", method="post") == []


async def test_a_pinned_page_that_nothing_has_happened_to_says_so(here: Site, client: httpx.AsyncClient) -> None:
    position = await record(here, Ingest(bundle=bundle()))

    page = await opened(client, f"{page_of(run_of())}/at/{position}")

    assert page.root.one("aside").lines[-1] == "Nothing about it has changed since."


async def test_superseded_and_disputed_runs_lead_to_what_to_read_instead(here: Site, client: httpx.AsyncClient) -> None:
    old, new = run_of(), run_of(9000, by="tern")
    await record(
        here,
        Ingest(bundle=bundle()),
        Ingest(bundle=bundle(9000, by="tern")),
        OpenDispute(run=new.digest, dispute="d1", blocking=True, reason="It was cold."),
        SupersedeRun(run=old.digest, successor=new.digest, reason="Measured with locked clocks."),
    )

    superseded, successor = await opened(client, page_of(old)), await opened(client, page_of(new))

    short = hex_of(new.digest)[:8]
    assert superseded.root.one("aside").text == f"Superseded 2026-09-01 by run {short}: Measured with locked clocks."
    assert superseded.links[f"run {short}"] == page_of(new)
    banners = [one.text for one in successor.root.all("aside")]
    assert banners == [
        "Disputed 2026-09-01: It was cold. Not ranked while this is open.",
        f"Stands in the place of run {hex_of(old.digest)[:8]}: Measured with locked clocks.",
    ]
    assert "contested" in successor.section("evidence").text


async def test_what_is_unresolved_is_named_with_its_whole_digest(here: Site, client: httpx.AsyncClient) -> None:
    run = run_of()
    await record(here, Ingest(bundle=bundle_of(run)))

    page = await opened(client, page_of(run))

    assert page.root.one(cls="value").text == "8.12 µs median"
    assert page.root.one(cls="unranked").text == "Not ranked: something that it refers to is not registered here."
    for name, section in (("workload", "workload"), ("protocol", "protocol"), ("environment", "environment")):
        assert page.section(section).lines[1:] == [f"The {name} is not registered here."]
    assert dict(page.section("identity").facts)["comparison key"] == "none while the workload is unresolved"
    named = {str(one.children[0]) for one in page.section("identity").all(cls="whole")}
    spec = run.spec
    assert {spec[f"{part}Digest"] for part in ("implementation", "workload", "protocol", "environment")} <= named
    assert "Leaderboard of its group" not in page.links
    assert not [text for text in page.links if text.startswith("All results")]


async def test_attestations_and_what_they_count_for(here: Site, client: httpx.AsyncClient) -> None:
    run = run_of()
    sable = Principal("sable", frozenset({Scope.ATTEST}))
    await record(here, Ingest(bundle=bundle()))
    await record(
        here,
        AttestRun(
            attestation="a1",
            run=run.digest,
            type=AttestationType.REPRODUCED,
            note="First line.\nSecond line.",
            salt="s",
            evidence_url="https://sable.example/log",
            observed_value="8130",
            observed_unit="ns",
            environment="B200, driver 570",
        ),
        by=sable,
    )

    section = (await opened(client, page_of(run))).section("replications")

    assert section.lines[:2] == ["Replications and notes 1", "1 reproduced it"]
    (entry,) = section.all("li")
    assert entry.attributes["id"] == "attestation-a1"
    assert entry.lines == [
        "sable reproduced it: 8.13 µs 2026-09-01 12:00 UTC",
        "First line. Second line.",
        "B200, driver 570",
        "https://sable.example/log",
    ]
    assert entry.one("a").attributes["rel"] == "external nofollow ugc"


async def test_a_manifest_that_nobody_would_read_is_left_to_the_api(here: Site, client: httpx.AsyncClient) -> None:
    metrics = {f"metric_{number:05}": number for number in range(5_000)}
    native = {"source": "board", "metrics": metrics}
    await record(here, Ingest(bundle=bundle(sourceNative=native)))

    answer = await client.get(page_of(run_of(sourceNative=native)), headers={"Accept": BROWSER})

    section = Page(answer.text).section("manifest")
    assert [one.attributes["aria-label"] for one in section.all("pre")] == [
        "Manifest of the protocol",
        "Manifest of the environment",
    ]
    assert "the API has it, as manifest" in section.text
    assert len(answer.content) < 200_000


async def test_a_page_is_kept_and_asked_for_again(here: Site, client: httpx.AsyncClient) -> None:
    await record(here, Ingest(bundle=bundle()))
    first = await client.get(page_of(run_of()), headers={"Accept": BROWSER})

    again = await client.get(page_of(run_of()), headers={"Accept": BROWSER, "If-None-Match": first.headers["etag"]})

    assert (again.status_code, again.content) == (304, b"")
    assert first.headers["cache-control"] == "public, no-cache"
    assert "Accept" in first.headers["vary"]
    assert "'unsafe" not in first.headers["content-security-policy"]


async def test_changes_show_at_once(here: Site, client: httpx.AsyncClient) -> None:
    await record(here, Ingest(bundle=bundle()))
    first = await client.get(page_of(run_of()), headers={"Accept": BROWSER})
    await record(here, RetractRun(run=run_of().digest, reason="Wrong."))

    again = await client.get(page_of(run_of()), headers={"Accept": BROWSER, "If-None-Match": first.headers["etag"]})

    assert again.status_code == 200
    assert Page(again.text).root.one("aside").text == "Retracted 2026-09-01: Wrong."
