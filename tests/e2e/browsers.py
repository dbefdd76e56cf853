"""A real browser for tests: Playwright from PyPI drives Debian's Chromium (``apt-get install chromium``)."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium")
# As root Chromium has no sandbox; without the others it calls for hosts outside at every start.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
COUNT_VIOLATIONS = """
    window.violations = [];
    addEventListener("securitypolicyviolation", ({violatedDirective, blockedURI, sourceFile, lineNumber}) =>
        window.violations.push([violatedDirective, blockedURI, sourceFile, lineNumber].join(" ")));
"""


@contextmanager
def launched() -> Iterator["Browser"]:
    """A browser; the test that asks for it is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: uv sync --group test")
    if CHROMIUM is None:
        pytest.skip("needs a browser: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class Tab:
    """A page, and what was wrong with it: messages on the console, errors, refusals, requests to other origins."""

    def __init__(self, page: "Page", url: str) -> None:
        self.page = page
        self.url = url
        self.requests: list[str] = []
        self._messages: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self._messages.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self._messages.append(str(error)))
        page.add_init_script(COUNT_VIOLATIONS)

    def open(self, path: str) -> "Page":
        """Go to a path of the server under test."""
        self.page.goto(f"{self.url}{path}")
        return self.page

    def problems(self) -> list[str]:
        """All that was wrong until now; nothing should be."""
        elsewhere = [url for url in self.requests if not url.startswith((self.url, "data:"))]
        violations: list[str] = self.page.evaluate("window.violations")
        return [*self._messages, *violations, *elsewhere]


@contextmanager
def tab(browser: "Browser", url: str, **context: Any) -> Iterator[Tab]:
    """A tab of a browser that keeps nothing from another."""
    with browser.new_context(**context) as opened:
        yield Tab(opened.new_page(), url)
