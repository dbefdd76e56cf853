"""GraphiQL in a real browser, as a reader uses it; a page that its own policy would break is found here.

Skipped where there is no browser.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from service.queries import EXAMPLES, examples
from tests.e2e.browsers import Tab
from tests.service.pages.seeded import SEED_RUN, seeded_index

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

SECRET = "ki_0123456789abcdef"


class Visit(Tab):
    """GraphiQL, as somebody opens it."""

    def open(self, path: str = "/graphql") -> "Page":
        page = super().open(path)
        page.get_by_role("button", name="Execute query (Ctrl-Enter)").wait_for()
        return page

    def run(self) -> dict[str, Any]:
        """Press the button; the answer that came, once it is shown."""
        # GraphiQL sends the operation name of the tab before, if it is asked to run too soon after a switch.
        self.page.wait_for_timeout(1000)
        with self.page.expect_response(lambda response: _is_query(response.request)) as caught:
            self.page.get_by_role("button", name="Execute query (Ctrl-Enter)").click()
        answer: dict[str, Any] = caught.value.json()
        self.until(lambda: bool(text := self.shown()[2]) and json.loads(text) == answer)
        return answer

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something to hold in the page, whose policy forbids what Playwright waits with."""
        deadline = time.monotonic() + 10
        while not holds():
            assert time.monotonic() < deadline, f"shown: {self.shown()[2]}"
            self.page.wait_for_timeout(20)

    def subscribe(self) -> dict[str, Any]:
        """Press the button, and again once a message is shown; answers it."""
        self.page.wait_for_timeout(1000)
        self.page.get_by_role("button", name="Execute query (Ctrl-Enter)").click()
        self.until(lambda: "CaughtUp" in self.shown()[2])
        self.page.get_by_role("button", name="Stop query").click()
        answer: dict[str, Any] = json.loads(self.shown()[2])
        return answer

    def shown(self) -> tuple[str, str, str]:
        """What the three editors hold: the query, its variables, the answer."""
        texts = self.page.locator(".graphiql-query-editor, .graphiql-editor-tool, .result-window").evaluate_all(
            "panes => panes.map(pane => pane.querySelector('.CodeMirror').CodeMirror.getValue())"
        )
        query, variables, answer = texts
        return query, variables, answer

    def transferred(self) -> dict[str, int]:
        """How many bytes each script and style sheet took from the network."""
        script = "performance.getEntriesByType('resource').map(({name, transferSize}) => [name, transferSize])"
        return {url: size for url, size in self.page.evaluate(script) if url.endswith((".js", ".css"))}


def _is_query(request: "Request") -> bool:
    """Whether the reader's query is asked, and not GraphiQL's own for the schema."""
    return request.method == "POST" and "IntrospectionQuery" not in (request.post_data or "")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with seeded_index(tmp_path_factory.mktemp("index")) as url:
        yield url


@pytest.fixture
def visit(browser: "Browser", url: str) -> Iterator[Visit]:
    """A first visit: nothing is kept from another."""
    with browser.new_context() as context:
        visit = Visit(context.new_page(), url)
        visit.open()
        yield visit


def test_the_first_example_runs_as_it_stands(visit: Visit) -> None:
    """Given a first visit, when only the button is pressed, then the seed record is shown, and nothing was amiss."""
    run = visit.run()["data"]["run"]

    query, variables, answer = visit.shown()
    assert visit.page.title() == "GraphiQL · KernelIndex"
    assert query == examples()[0].query
    assert json.loads(variables) == {"id": SEED_RUN}
    assert run["digest"] == SEED_RUN
    assert json.loads(answer)["data"]["run"]["primary"]["formatted"] == "353.4 µs"
    assert visit.problems() == []


def test_every_example_has_a_tab_that_runs(visit: Visit) -> None:
    tabs = visit.page.get_by_role("tab")

    assert tabs.count() == len(EXAMPLES)
    for number, example in enumerate(examples()):
        tabs.nth(number).click()
        visit.page.wait_for_timeout(500)  # GraphiQL takes the operation's name a moment after the text has changed
        answer = visit.subscribe() if "\nsubscription" in example.query else visit.run()
        assert visit.shown()[0] == example.query
        assert "errors" not in answer
        assert all(answer["data"].values())
    assert visit.problems() == []


def test_the_panel_opens_an_example_beside_the_readers_own_query(visit: Visit) -> None:
    """Given a query of one's own, when an example is chosen, then it has a tab of its own and the query is kept."""
    page, example = visit.page, examples()[2]
    page.evaluate("document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror.setValue('{stamp{asOf}}')")

    page.get_by_role("button", name="Show Examples").click()
    page.get_by_role("button", name=example.query.splitlines()[0].removeprefix("# ")).click()

    assert visit.shown()[:2] == (example.query, example.variables)
    assert "errors" not in visit.run()
    page.get_by_role("tab").nth(0).click()
    assert visit.shown()[0] == "{stamp{asOf}}"
    assert visit.problems() == []


def test_dialogs_documentation_and_completion_stay_within_the_policy(visit: Visit) -> None:
    page = visit.page

    page.get_by_role("button", name="Open settings dialog").click()
    page.get_by_role("button", name="Dark").click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Open short keys dialog").click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Show Documentation Explorer").click()
    page.get_by_role("link", name="Query", exact=True).click()
    page.get_by_role("button", name="Show History").click()
    page.locator(".graphiql-query-editor .CodeMirror").click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" query Q { st")
    page.locator(".CodeMirror-hints").get_by_text("stamp").wait_for()

    assert "graphiql-dark" in (page.locator("body").get_attribute("class") or "")
    assert visit.problems() == []


def test_the_policy_is_in_force(visit: Visit) -> None:
    """What the other tests count is really refused: a style and a script without the page's nonce, another host."""
    visit.page.evaluate(
        """() => {
            document.head.append(Object.assign(document.createElement("style"), {textContent: "p {color: red}"}));
            document.head.append(Object.assign(document.createElement("script"), {textContent: "window.ran = true"}));
            return fetch("http://192.0.2.1/").catch(() => null);
        }"""
    )

    refused = {violation.split()[0] for violation in visit.page.evaluate("window.violations")}
    assert refused == {"style-src-elem", "script-src-elem", "connect-src"}
    assert visit.page.evaluate("window.ran") is None


def test_a_key_in_the_headers_is_sent_and_never_kept(visit: Visit) -> None:
    """Given a key in the headers (no matter which), when a query has run, then storage has the query without the key."""
    page = visit.page
    page.get_by_role("button", name="Headers").click()
    page.locator(".graphiql-editor-tool .CodeMirror:visible").evaluate(
        "(editor, text) => editor.CodeMirror.setValue(text)", json.dumps({"Authorization": f"Bearer {SECRET}"})
    )

    with page.expect_request(_is_query) as caught:
        visit.run()
    page.wait_for_timeout(1_000)  # GraphiQL writes its tabs half a second after they change

    kept = page.evaluate("JSON.stringify({...localStorage, ...sessionStorage})")
    assert caught.value.headers["authorization"] == f"Bearer {SECRET}"
    assert "RunPage" in kept
    assert SECRET not in kept
    assert page.context.cookies() == []


def test_a_second_visit_finds_the_tabs_as_they_were_left(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("tab").nth(1).click()
    page.evaluate("document.querySelector('.graphiql-editor-tool .CodeMirror').CodeMirror.setValue('{\"first\": 1}')")
    visit.until(lambda: '{\\"first\\": 1}' in str(page.evaluate("Object.values(localStorage).join()")))

    visit.open()

    assert page.get_by_role("tab").count() == len(EXAMPLES)
    assert visit.shown()[:2] == (examples()[1].query, '{"first": 1}')
    assert len(visit.run()["data"]["runs"]["nodes"]) == 1
    assert visit.problems() == []


def test_files_are_loaded_once_and_then_kept(visit: Visit) -> None:
    """Given a first visit that loaded each file over the network, when it is repeated, then none is asked for again."""
    first = visit.transferred()

    visit.open()

    assert min(first.values()) > 0
    assert visit.transferred() == dict.fromkeys(first, 0)
    assert len(first) == 6


@pytest.mark.parametrize("width", [320, 375])
def test_a_phone_shows_all_of_it_without_scrolling_sideways(browser: "Browser", url: str, width: int) -> None:
    with browser.new_context(viewport={"width": width, "height": 700}, has_touch=True) as context:
        visit = Visit(context.new_page(), url)
        visit.open()
        visit.run()

        boxes = [visit.page.locator(pane).bounding_box() for pane in (".graphiql-editors", ".graphiql-response")]
        assert visit.page.evaluate("document.documentElement.scrollWidth") == width
        assert [box["width"] > width - 40 and box["height"] > 250 for box in boxes if box] == [True, True]
        assert visit.problems() == []


def test_it_is_dark_where_the_reader_wants_that(browser: "Browser", url: str) -> None:
    backgrounds = {}
    for scheme in ("light", "dark"):
        with browser.new_context(color_scheme=scheme) as context:
            visit = Visit(context.new_page(), url)
            visit.open()
            script = "getComputedStyle(document.querySelector('.graphiql-container')).backgroundColor"
            backgrounds[scheme] = visit.page.evaluate(script)
            assert visit.problems() == []

    assert backgrounds["light"] == "rgb(255, 255, 255)"
    assert backgrounds["dark"] != backgrounds["light"]


def test_without_scripts_it_says_how_to_send_a_query(browser: "Browser", url: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{url}/graphql")

        assert "POST queries to this address" in page.locator("noscript").inner_text()
