"""The pages in a real browser: what is shown, copied, attested and reported, by mouse, by keyboard, without scripts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import pytest

from domain.principals import Scope
from service.app import utc_now
from service.keys import KeyStore
from service.keys.database import KeyDatabase
from service.settings import Settings
from service.web import create_app
from tests.e2e.accessibility import findings
from tests.e2e.browsers import Tab, tab
from tests.examples import bundle
from tests.service.api.asking import tree_of
from tests.service.http.serving import serving
from tests.service.pages.seeded import SEEDS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

EXPECTED: list[dict[str, Any]] = json.loads((SEEDS / "expected.json").read_text(encoding="utf-8"))
# Keys and values of a section as they are painted: of a digest its beginning, and no buttons.
FACTS = """section => [...section.querySelectorAll("dl > div")].map(row => [...row.children].map(cell => {
    const shown = cell.cloneNode(true);
    for (const one of shown.querySelectorAll("button, .brief + .whole")) one.remove();
    return shown.textContent.trim().replaceAll(/\\s+/g, " ");
}))"""
SCHEMES = ("light", "dark")


class Served(NamedTuple):
    """A server, what is on it, and a key that may attest."""

    url: str
    key: str
    seed: str
    retracted: str
    failed: str
    unresolved: str

    @property
    def pages(self) -> list[str]:
        pinned = f"{self.retracted}/at/1"
        return ["/", self.seed, self.retracted, self.failed, self.unresolved, f"{self.seed}/at/99", pinned, "/nowhere"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("index")
    with serving(create_app(Settings(data_dir=folder), demo=True), lifespan=True) as url:
        runs = _filled(url)
    database = KeyDatabase(folder)
    _, key = KeyStore(database, now=utc_now).create(principal="sable", name="Sable", scopes=(Scope.ATTEST,))
    database.close()
    with serving(create_app(Settings(data_dir=folder)), lifespan=True) as url:
        yield Served(url, key, *(f"/runs/{digest.removeprefix('sha256:')}" for digest in runs))


def _filled(url: str) -> tuple[str, str, str, str]:
    """The digests of a seed, a run that was attested, disputed and retracted, one that failed, one that is alone."""
    named = {"slug": "sol-execbench", "name": "NVIDIA SOL-ExecBench", "kind": "leaderboard"}
    _write(url, "registerSource", "RegisterSourceInput", **named)
    seeds = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(SEEDS.glob("*.bundle.json"))]
    timing = {"primaryStatistic": "median", "latencyNs": {"median": 8120, "confidence95": [8100, 8150]}, "samples": 50}
    log = {"digest": f"sha256:{7:064}", "uri": "https://tern.example/log.txt"}
    whole = tree_of(bundle(timing=timing, evidence={"logs": log}))
    alone = {"run": tree_of(bundle(9_999))["run"]}
    sent = [*seeds, whole, tree_of(bundle(None, by="tern", status="runtime_error")), alone]
    # It refers to what nobody has registered.
    alone["run"]["spec"] |= {"workloadDigest": f"sha256:{9:064}", "implementationDigest": f"sha256:{8:064}"}
    digests = []
    for number, one in enumerate(sent):
        headers = {"content-type": "application/json", "idempotency-key": f"b{number}"}
        answer = httpx.post(f"{url}/ingest", content=json.dumps(one), headers=headers).raise_for_status().json()
        digests.append(answer["results"][0]["run"])
    run = digests[2]
    _write(url, "attestRun", "AttestRunInput", run=run, type="REPRODUCED", note="Twice.\nOn two cards.")
    _write(url, "reportIssue", "ReportIssueInput", run=run, category="COMPARABILITY", text="The timer is another one.")
    _write(url, "requestRerun", "RequestRerunInput", run=run, note="Please.")
    _write(url, "retractRun", "RetractRunInput", run=run, reason="The timer was wrong.")
    return digests[0], run, digests[3], digests[4]


def _write(url: str, mutation: str, type_: str, **given: Any) -> None:
    query = f"mutation($input: {type_}!) {{ {mutation}(input: $input) {{ __typename }} }}"
    variables = {"input": {**given, "idempotencyKey": mutation}}
    answer = httpx.post(f"{url}/graphql", json={"query": query, "variables": variables}).json()
    assert answer["data"][mutation]["__typename"].endswith("Success"), answer


@pytest.fixture
def visit(browser: "Browser", served: Served) -> Iterator[Tab]:
    with tab(browser, served.url, permissions=["clipboard-read", "clipboard-write"]) as opened:
        yield opened


def copied(page: "Page") -> str:
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


@pytest.mark.parametrize("expected", EXPECTED, ids=[one["file"] for one in EXPECTED])
def test_every_line_of_a_seed_page_is_painted(visit: Tab, expected: dict[str, Any]) -> None:
    page, shown = visit.open(f"/runs/{expected['runDigest'].removeprefix('sha256:')}"), expected["page"]

    assert page.title() == shown["title"]
    assert page.locator("h1").inner_text() == f"Run {shown['shortId']}"
    assert page.locator(".headline .value").inner_text().split() == [
        *shown["primary"]["value"].split(),
        shown["primary"]["statistic"],
    ]
    compared = f"{shown['comparison']['text']} · observed {shown['comparison']['observedOn']}"
    assert page.locator(".comparison").inner_text() == compared
    assert page.locator(".source-metrics").inner_text() == shown["sourceMetricsText"]
    for section in ("identity", "workload", "measurements", "protocol", "environment"):
        assert page.locator(f"#{section}").evaluate(FACTS) == shown[section]
    assert shown["correctness"].removesuffix(" (own wording)") in page.locator("#correctness").inner_text()
    assert [key for key, _ in page.locator("#cite").evaluate(FACTS)] == shown["cite"]
    footer = page.locator("#published").inner_text()
    for line in (f"Published {shown['footer']['publishedOn']} by {shown['footer']['source']}", "JSON"):
        assert line in footer
    assert page.get_by_role("link", name=shown["footer"]["allResults"]).is_visible()
    assert visit.problems() == []


class TestCopying:
    def test_the_whole_digest_is_copied_and_the_button_says_so(self, visit: Tab, served: Served) -> None:
        page = visit.open(served.seed)
        button = page.locator("#identity").get_by_role("button", name="Copy digest")

        button.click()

        page.get_by_role("button", name="Copied digest").wait_for()
        assert copied(page) == EXPECTED[0]["runDigest"]
        page.get_by_role("button", name="Copy digest").first.wait_for()
        assert visit.problems() == []

    def test_each_citation_is_copied_as_its_file_has_it(self, visit: Tab, served: Served) -> None:
        page = visit.open(served.seed)
        for name, suffix in (("citation", ".txt"), ("BibTeX", ".bib"), ("CSL-JSON", ".csl.json"), ("RIS", ".ris")):
            if suffix != ".txt":
                page.locator("summary", has_text=name).first.click()
            page.locator("#cite").get_by_role("button", name=f"Copy {name}", exact=True).click()
            page.get_by_role("button", name=f"Copied {name}").wait_for()

            file = httpx.get(f"{served.url}{served.seed}{suffix}").text
            assert copied(page).split() == file.split()

    def test_selecting_a_digest_by_hand_takes_the_whole_of_it(self, visit: Tab, served: Served) -> None:
        page = visit.open(served.seed)

        page.evaluate("getSelection().selectAllChildren(document.querySelector('#identity .digest:not(:has(a)) code'))")

        assert page.evaluate("getSelection().toString().trim()") == EXPECTED[0]["runDigest"]


class TestCiting:
    def test_a_style_is_written_for_the_position_that_is_shown(self, visit: Tab, served: Served) -> None:
        page = visit.open(served.seed)
        permalink = page.locator("link[rel=cite-as]").get_attribute("href")

        page.get_by_label("In the style of").select_option("IEEE")
        page.locator("#citation-styled").wait_for()

        ieee = page.locator("#citation-styled").inner_text()
        assert str(permalink) in ieee
        page.get_by_label("In the style of").select_option("APA")
        page.wait_for_function("text => document.querySelector('#citation-styled').innerText !== text", arg=ieee)
        assert visit.problems() == []

    def test_files_are_downloaded_under_the_short_id(self, visit: Tab, served: Served) -> None:
        page = visit.open(served.seed)
        page.locator("summary", has_text="BibLaTeX").click()

        with page.expect_download() as caught:
            page.get_by_role("link", name="Download .biblatex").click()

        assert caught.value.suggested_filename == "28c78ea8.biblatex"
        assert Path(caught.value.path()).read_text(encoding="utf-8").startswith("@dataset{ki-28c78ea8f808")


class TestAttesting:
    def test_with_a_key_it_appears_on_the_page_and_the_key_is_kept_nowhere(self, visit: Tab, served: Served) -> None:
        page = visit.open(served.seed)
        page.locator("summary", has_text="Attest").click()
        page.get_by_label("What you tried and saw").fill("Ten runs on a B200; <b>the same</b>.")
        page.get_by_label("Observed value", exact=False).first.fill("353400")
        page.get_by_label("API key").fill(served.key)

        with page.expect_request("**/graphql") as sent:
            page.get_by_role("button", name="Attest").click()
        page.locator(".entries li:target").wait_for()

        entry = page.locator(".entries li:target").inner_text()
        assert "sable reproduced it: 353.4 µs" in entry
        assert "Ten runs on a B200; <b>the same</b>." in entry
        assert sent.value.headers["authorization"] == f"Bearer {served.key}"
        assert page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})") == "{}"
        assert page.context.cookies() == []
        assert [url for url in visit.requests if served.key in url] == []
        assert page.locator("#evidence").inner_text().count("reported") == 1
        assert visit.problems() == []

    def test_a_wrong_key_is_said_beside_the_button_and_nothing_is_lost(self, visit: Tab, served: Served) -> None:
        page = visit.open(served.seed)
        page.locator("summary", has_text="Attest").click()
        page.get_by_label("What you tried and saw").fill("It runs.")
        page.get_by_label("API key").fill("ki_nonsense")

        page.get_by_role("button", name="Attest").click()
        page.locator(".attest .outcome.bad").wait_for()

        assert "key" in page.locator(".attest .outcome").inner_text()
        assert page.get_by_label("What you tried and saw").input_value() == "It runs."
        assert page.get_by_role("button", name="Attest").is_enabled()

    def test_without_a_key_it_says_what_is_needed(self, visit: Tab, served: Served) -> None:
        page = visit.open(served.seed)
        page.locator("summary", has_text="Attest").click()
        page.get_by_label("What you tried and saw").fill("It runs.")

        page.get_by_role("button", name="Attest").click()
        page.locator(".attest .outcome.bad").wait_for()

        assert "key" in page.locator(".attest .outcome").inner_text()

    def test_a_key_is_kept_for_the_tab_where_that_is_asked_for(self, visit: Tab, served: Served) -> None:
        page = visit.open(served.failed)
        page.locator("summary", has_text="Attest").click()
        page.get_by_label("What happened").select_option("COULD_NOT_REPRODUCE")
        page.get_by_label("What you tried and saw").fill("It fails here too.")
        page.get_by_label("API key").fill(served.key)
        page.get_by_label("Keep the key for this tab").check()
        page.get_by_role("button", name="Attest").click()
        page.locator(".entries li:target").wait_for()

        assert page.get_by_label("API key").input_value() == served.key
        assert page.evaluate("localStorage.length") == 0


def test_all_of_it_works_by_keyboard(visit: Tab, served: Served) -> None:
    """Given only a keyboard: past the header, to the form, through its fields, and the attestation is there."""
    page = visit.open(served.unresolved)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"

    def reach(selector: str) -> None:
        for _ in range(80):
            page.keyboard.press("Tab")
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none", f"no focus to be seen on {selector}"
                return
        raise AssertionError(f"{selector} is out of reach")

    reach(".attest > summary")
    page.keyboard.press("Enter")
    reach("select[name=type]")
    page.keyboard.press("ArrowDown")
    reach("textarea[name=note]")
    page.keyboard.type("By keyboard.")
    reach("input[name=key]")
    page.keyboard.type(served.key)
    page.keyboard.press("Enter")
    page.locator(".entries li:target").wait_for()

    assert "could not reproduce it" in page.locator(".entries li:target").inner_text()
    assert visit.problems() == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_rule_of_accessibility_is_broken(browser: "Browser", served: Served, scheme: str) -> None:
    with tab(browser, served.url, color_scheme=scheme) as visit:
        for path in served.pages:
            page = visit.open(path)
            page.evaluate("document.querySelectorAll('details').forEach(one => { one.name = ''; one.open = true; })")

            assert findings(page) == [], path


@pytest.mark.parametrize("width", [320, 375, 768, 1280])
def test_nothing_is_wider_than_the_window(browser: "Browser", served: Served, width: int) -> None:
    with tab(browser, served.url, viewport={"width": width, "height": 700}) as visit:
        for path in served.pages:
            page = visit.open(path)
            page.evaluate("document.querySelectorAll('details').forEach(one => { one.name = ''; one.open = true; })")

            assert page.evaluate("document.documentElement.scrollWidth") == width, path


def test_dark_is_dark(browser: "Browser", served: Served) -> None:
    papers = {}
    for scheme in SCHEMES:
        with tab(browser, served.url, color_scheme=scheme) as visit:
            papers[scheme] = visit.open(served.seed).evaluate("getComputedStyle(document.body).backgroundColor")
    assert papers["light"] == "rgb(255, 255, 255)"
    assert papers["dark"] != papers["light"]


class TestWithoutScripts:
    @pytest.fixture
    def plain(self, browser: "Browser", served: Served) -> Iterator["Page"]:
        with browser.new_context(java_script_enabled=False, base_url=served.url) as context:
            yield context.new_page()

    def test_an_issue_is_reported_and_shown(self, plain: "Page", served: Served) -> None:
        plain.goto(served.failed)
        plain.get_by_label("What is wrong").select_option("WRONG_ATTRIBUTION")
        plain.get_by_label("What you found").fill("It is ours.\nSee the log.")

        plain.get_by_role("button", name="Report").click()

        assert "#issue-" in plain.url
        entry = plain.locator("#report .entries li").inner_text()
        assert "the wrong people or project are named" in entry
        assert "It is ours.\nSee the log." in entry

    def test_all_that_is_written_can_be_read_and_nothing_is_shown_that_would_do_nothing(
        self, plain: "Page", served: Served
    ) -> None:
        plain.goto(served.seed)
        plain.locator("summary", has_text="BibTeX").click()
        plain.locator("summary", has_text="Manifest of the run").click()

        assert plain.locator("#citation-bibtex").is_visible()
        assert plain.locator("#manifest pre").first.is_visible()
        shown = [one.inner_text() for one in plain.locator("button").all() if one.is_visible()]
        assert shown == ["Report"]
        assert plain.locator("noscript p", has_text="needs JavaScript").is_visible()
        assert plain.locator(".attest").is_hidden()

    def test_older_runs_are_a_link_away(self, plain: "Page") -> None:
        plain.goto("/")
        assert plain.locator("table.list tbody tr").count() == 5


def test_in_print_digests_are_whole_and_there_are_no_forms(visit: Tab, served: Served) -> None:
    page = visit.open(served.retracted)
    page.emulate_media(media="print")

    assert page.locator("#identity .digest .whole").last.is_visible()
    assert page.locator("#identity .digest .brief").last.is_hidden()
    assert [one for one in page.locator("form, button, nav, .actions").all() if one.is_visible()] == []
    assert page.locator(".banner.bad").is_visible()
    assert page.locator("#citation-text").is_visible()
