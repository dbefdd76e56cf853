"""The list of the latest runs goes on by itself in a real browser: each new run once, whatever happens between."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from domain.identity import hex_of
from service.settings import Settings
from service.web import create_app
from tests.e2e.accessibility import findings
from tests.e2e.browsers import tab
from tests.examples import bundle
from tests.service.api.asking import run_of, tree_of
from tests.service.http.serving import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MOST_MS = 30_000
RUNS = "[...document.querySelectorAll('.list tbody th a')].map(one => one.title)"


class Index:
    """An index at an address that stays the same when its server is started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    @contextmanager
    def served(self) -> Iterator[str]:
        app = create_app(Settings(data_dir=self.folder), demo=True)
        with serving(app, lifespan=True, port=self.port) as url:
            yield url


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index(tmp_path)


def add(url: str, *medians: int) -> list[str]:
    """Runs recorded one after the other; answers their digests, newest first."""
    for median in medians:
        headers = {"content-type": "application/json", "idempotency-key": f"run-{median}"}
        httpx.post(f"{url}/ingest", content=json.dumps(tree_of(bundle(median))), headers=headers).raise_for_status()
    return [run_of(median).digest for median in reversed(medians)]


def expect_runs(page: "Page", digests: list[str]) -> None:
    """Wait until the list holds these runs, each once, in this order."""
    page.wait_for_function(f"expected => JSON.stringify({RUNS}) === expected", arg=_text(digests), timeout=MOST_MS)


def _text(digests: list[str]) -> str:
    return json.dumps(digests, separators=(",", ":"))


def test_a_new_run_appears_once_and_is_announced_politely(browser: "Browser", index: Index) -> None:
    with index.served() as url, tab(browser, url) as visit:
        old = add(url, 8000)
        page = visit.open("/")

        new = add(url, 7000)

        expect_runs(page, new + old)
        status = page.locator(".live [role=status]")
        assert status.inner_text() == "1 new run since this page was opened."
        assert status.get_attribute("aria-live") == "polite"
        assert page.locator("#latest").inner_text() == "Latest runs 2"
        assert page.locator(".list tbody tr.new").count() == 1
        assert findings(page) == []
        assert visit.problems() == []


def test_the_first_run_of_an_empty_index_appears_too(browser: "Browser", index: Index) -> None:
    with index.served() as url, tab(browser, url) as visit:
        page = visit.open("/")
        assert page.locator("#runs").inner_text() == "No runs here yet."

        expect_runs(page, add(url, 7000))


def test_what_was_recorded_between_the_page_and_the_stream_is_not_missed(browser: "Browser", index: Index) -> None:
    with index.served() as url, tab(browser, url) as visit:
        old = add(url, 8000)
        new: list[str] = []

        def late(route: "object") -> None:
            new.extend(add(url, 7000))
            route.continue_()  # type: ignore[attr-defined]

        visit.page.route("**/live.js", late)
        page = visit.open("/")

        expect_runs(page, new + old)


def test_while_it_is_paused_nothing_moves_and_then_all_of_it_is_there(browser: "Browser", index: Index) -> None:
    with index.served() as url, tab(browser, url) as visit:
        old = add(url, 8000)
        page = visit.open("/")
        page.get_by_role("button", name="Pause").focus()
        page.keyboard.press("Enter")
        assert page.locator(".live [role=status]").inner_text() == "Paused: new runs wait."

        new = add(url, 7000, 6000)
        with tab(browser, url) as other:  # long enough for another reader to see them
            expect_runs(other.open("/"), new + old)
        assert page.evaluate(RUNS) == old

        page.get_by_role("button", name="Resume").click()
        expect_runs(page, new + old)
        assert page.locator(".live [role=status]").inner_text() == "2 new runs since this page was opened."


def test_after_a_restart_of_the_server_each_run_is_still_there_once(browser: "Browser", index: Index) -> None:
    with tab(browser, f"http://127.0.0.1:{index.port}") as visit:
        with index.served() as url:
            old = add(url, 8000)
            page = visit.open("/")
            before = add(url, 7000)
            expect_runs(page, before + old)
        with index.served() as url:
            after = add(url, 6000)
            expect_runs(page, after + before + old)
            last = add(url, 5000)
            expect_runs(page, last + after + before + old)


def test_it_stays_as_long_as_the_page_is_and_its_end_leads_on(browser: "Browser", index: Index) -> None:
    """Given a page that is full: the oldest run leaves it, and is the first behind the link to older ones."""
    with index.served() as url, tab(browser, url) as visit:
        old = add(url, *range(8000, 8025))
        page = visit.open("/")
        new = add(url, 7000)
        expect_runs(page, new + old[:-1])

        page.get_by_role("link", name="Older runs").click()

        expect_runs(page, old[-1:])
        assert page.locator(".live").count() == 0


def test_nothing_moves_where_motion_is_not_wanted(browser: "Browser", index: Index) -> None:
    durations = {}
    for wish in ("reduce", "no-preference"):
        with index.served() as url, tab(browser, url, reduced_motion=wish) as visit:
            page = visit.open("/")
            digests = add(url, 7000) if wish == "reduce" else [*add(url, 6000), run_of(7000).digest]
            expect_runs(page, digests)
            newest = page.locator(".list tbody tr.new").first
            durations[wish] = newest.evaluate("row => getComputedStyle(row).animationName")
    assert durations == {"reduce": "none", "no-preference": "arrive"}


def test_without_scripts_it_is_a_list_and_nothing_else(browser: "Browser", index: Index) -> None:
    with index.served() as url, browser.new_context(java_script_enabled=False) as context:
        (digest,) = add(url, 8000)
        page = context.new_page()
        page.goto(url)

        assert page.locator(".list tbody tr").count() == 1
        assert page.locator(f".list a[href='/runs/{hex_of(digest)}']").is_visible()
        assert page.locator(".live").is_hidden()
