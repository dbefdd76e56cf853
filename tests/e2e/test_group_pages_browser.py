"""The pages of groups, comparisons, searches, citations and the log in a real browser."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import httpx
import pytest

from domain.identity import hex_of
from service.settings import Settings
from service.web import create_app
from tests.e2e.accessibility import findings
from tests.e2e.browsers import Tab, tab
from tests.examples import PROJECT, WORKLOAD, bundle, implementation
from tests.service.api.asking import run_of, tree_of
from tests.service.http.serving import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("heron", "tern", "owl", "wren", "stork", "finch")
DAYS = (3, 1, 2, 5, 4, 6)
MEDIANS = (8000, 9000, 8500, 7000, 7500, 6800)
SCHEMES = ("light", "dark")
EARLIER = 15
"""A position at which some of the runs are recorded."""


class Served(NamedTuple):
    """A server, the path of the group on it, and the digest of its leader."""

    url: str
    group: str
    leader: str

    @property
    def pages(self) -> list[str]:
        """One of every page, as full as it gets here, and the forms."""
        other = run_of(8000, observedAt="2026-08-03T12:00:00Z").digest
        permalink = f"{self.url}/runs/{hex_of(self.leader)}"
        return [
            self.group,
            f"{self.group}?at={EARLIER}",
            f"/runs/{hex_of(self.leader)}",
            f"/runs/{hex_of(other)}/at/{EARLIER}",
            "/operations",
            "/operations/rmsnorm-h4096",
            f"/workloads/{hex_of(WORKLOAD.digest)}",
            f"/implementations/{hex_of(implementation().digest)}",
            f"/projects/{hex_of(PROJECT.digest)}",
            "/compare",
            f"/compare?id={hex_of(self.leader)}&id={hex_of(other)}&all=1",
            "/search",
            "/search?q=rmsnorm+gpuu:x",
            "/cited",
            f"/cited?citation={permalink}&digest={other}",
            "/audit",
            "/audit/9",
        ]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("index")
    with serving(create_app(Settings(data_dir=folder), demo=True), lifespan=True) as url:
        for name, day, median in zip(NAMES, DAYS, MEDIANS, strict=True):
            tree = tree_of(bundle(median, by=name, observedAt=f"2026-08-{day:02}T12:00:00Z"))
            headers = {"content-type": "application/json", "idempotency-key": name}
            httpx.post(f"{url}/ingest", content=json.dumps(tree), headers=headers).raise_for_status()
        query = "{ rankings(first: 1) { nodes { comparisonKey leader { digest } } } }"
        (group,) = httpx.post(f"{url}/graphql", json={"query": query}).json()["data"]["rankings"]["nodes"]
    with serving(create_app(Settings(data_dir=folder)), lifespan=True) as url:
        yield Served(url, f"/rankings/{hex_of(group['comparisonKey'])}", group["leader"]["digest"])


@pytest.fixture
def visit(browser: "Browser", served: Served) -> Iterator[Tab]:
    with tab(browser, served.url) as opened:
        yield opened


class TestTheGroup:
    def test_bars_are_as_long_as_what_runs_reach(self, visit: Tab, served: Served) -> None:
        page = visit.open(served.group)

        lengths = page.evaluate("""[...document.querySelectorAll('.ranked .bar')].map(bar => {
            const [whole, part] = [...bar.querySelectorAll('rect')].map(one => one.getBoundingClientRect().width);
            return part / whole; })""")

        assert lengths == pytest.approx([6800 / median for median in sorted(MEDIANS)], abs=0.01)
        assert visit.problems() == []

    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_the_record_is_drawn_in_the_colours_of_the_page(
        self, browser: "Browser", served: Served, scheme: str
    ) -> None:
        with tab(browser, served.url, color_scheme=scheme) as visit:
            page = visit.open(served.group)
            page.locator(".chart canvas").wait_for()

            mark = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--mark').trim()")
            red, green, blue = (int(mark[start : start + 2], 16) for start in (1, 3, 5))
            painted = page.evaluate(
                """([red, green, blue]) => {
                const canvas = document.querySelector('.chart canvas');
                const bytes = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
                let count = 0;
                for (let at = 0; at < bytes.length; at += 4)
                    count += bytes[at] === red && bytes[at + 1] === green && bytes[at + 2] === blue;
                return count; }""",
                [red, green, blue],
            )
            assert painted > 200
            assert [one.split(":")[0] for one in page.locator(".u-legend .u-label").all_inner_texts()] == [
                "Time",
                "By observation",
                "As known here",
            ]
            assert visit.problems() == []

    def test_it_prints_as_a_table_with_its_bars(self, visit: Tab, served: Served) -> None:
        page = visit.open(served.group)
        page.set_viewport_size({"width": 680, "height": 900})  # what is left of A4 between its margins
        page.emulate_media(media="print")

        rows = page.locator(".ranked tbody tr")
        assert rows.count() == len(MEDIANS)
        assert page.locator(".ranked .bar").first.is_visible()
        assert rows.first.evaluate("row => getComputedStyle(row).display") == "table-row"
        assert page.locator(".pick input").first.is_hidden()
        assert page.evaluate("document.documentElement.scrollWidth") == 680

    def test_chosen_runs_are_compared(self, visit: Tab, served: Served) -> None:
        page = visit.open(served.group)
        for number in (0, 2):
            page.locator(".pick input").nth(number).check()

        page.get_by_role("button", name="Compare the chosen").click()

        assert page.locator("h1").inner_text() == "2 runs side by side"
        assert "1.10×" in page.locator(".compared").inner_text()
        with page.expect_download() as caught:
            page.get_by_role("link", name="CSV").click()
        assert caught.value.suggested_filename == "comparison.csv"
        assert served.leader in Path(caught.value.path()).read_text(encoding="utf-8")
        assert visit.problems() == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_rule_of_accessibility_is_broken(browser: "Browser", served: Served, scheme: str) -> None:
    with tab(browser, served.url, color_scheme=scheme) as visit:
        for path in served.pages:
            page = visit.open(path)

            assert findings(page) == [], path
            assert visit.problems() == [], path


@pytest.mark.parametrize("width", [320, 768, 1280])
def test_nothing_is_wider_than_the_window(browser: "Browser", served: Served, width: int) -> None:
    with tab(browser, served.url, viewport={"width": width, "height": 700}) as visit:
        for path in served.pages:
            page = visit.open(path)
            page.wait_for_load_state()

            assert page.evaluate("document.documentElement.scrollWidth") == width, path


def test_all_of_it_works_by_keyboard(visit: Tab, served: Served) -> None:
    page = visit.open("/search")

    def reach(selector: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
                return
        raise AssertionError(f"{selector} is out of reach")

    reach("input[name=q]")
    page.keyboard.type("op:rmsnorm")
    page.keyboard.press("Enter")
    page.locator(".hits").wait_for()
    reach(".hits a")
    page.keyboard.press("Enter")
    page.locator("h1").wait_for()

    page = visit.open(served.group)
    reach(".pick input")
    page.keyboard.press("Space")
    reach(".pick input")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.locator(".compared").wait_for()
    assert visit.problems() == []


class TestWithoutScripts:
    @pytest.fixture
    def plain(self, browser: "Browser", served: Served) -> Iterator["Page"]:
        with browser.new_context(java_script_enabled=False, base_url=served.url) as context:
            yield context.new_page()

    def test_the_tables_hold_what_the_chart_would_draw(self, plain: "Page", served: Served) -> None:
        plain.goto(served.group)

        assert plain.locator(".chart").is_hidden()
        assert plain.locator("#record-observed tbody tr").count() == len(MEDIANS)
        assert plain.locator("#record-known tbody tr").count() == 3  # the first, the one that beat it, the last
        assert plain.locator(".ranked .bar").first.is_visible()

    def test_a_citation_is_checked_by_pasting_it(self, plain: "Page", served: Served) -> None:
        plain.goto(f"/runs/{hex_of(served.leader)}")
        citation = plain.locator("#citation-text").inner_text()
        plain.get_by_role("link", name="Check a citation").click()
        plain.get_by_label("Permalink or citation").fill(citation)

        plain.get_by_role("button", name="Check").click()

        assert plain.locator("aside").inner_text().startswith("The digest fits.")

    def test_the_log_is_searched_by_its_form(self, plain: "Page") -> None:
        plain.goto("/audit")
        plain.get_by_label("Type").select_option("RunIngested")
        plain.get_by_role("button", name="Show").click()

        assert plain.locator(".log tbody tr").count() == len(MEDIANS)
        plain.locator(".log tbody th a").first.click()
        assert plain.locator("#proof-text").inner_text().startswith("c2sp.org/tlog-proof@v1")


class TestEarlier:
    def test_a_page_is_pinned_by_its_foot_and_left_by_its_head(self, visit: Tab, served: Served) -> None:
        page = visit.open(served.group)
        page.locator("footer.site a").first.click()

        assert page.locator("aside.banner").inner_text().startswith("As it stood at log position")
        page.locator(".ranked tbody th a").first.click()
        assert "/at/" in page.url
        page.get_by_role("link", name="Leaderboard of its group").click()
        assert "?at=" in page.url
        page.get_by_role("link", name="As it stands now").click()
        assert page.url == f"{served.url}{served.group}"
        assert visit.problems() == []

    def test_the_record_is_drawn_on_the_page_of_a_run_too(self, visit: Tab, served: Served) -> None:
        page = visit.open(f"/runs/{hex_of(served.leader)}")
        page.locator("#record .chart canvas").wait_for()

        assert page.locator("#record-observed tbody tr").last.inner_text().split("\t")[-1].startswith("this run")
        assert visit.problems() == []
