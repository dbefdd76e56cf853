"""The rules of axe-core, run on a page as it is shown."""

import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOLDER = Path(__file__).parent / "axe"
SCRIPT = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async () => (await axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
})).violations.map(({id, impact, nodes}) => `${impact}: ${id}: ${nodes.map(({html}) => html).join(" | ")}`)"""


@cache
def rules() -> str:
    """The script, installed as the lock file says. A test is skipped where it can't be had."""
    if not SCRIPT.is_file():
        npm = shutil.which("npm")
        if not npm:
            pytest.skip("needs npm on the path, for axe-core")
        command = [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            pytest.skip(f"npm could not install axe-core: {done.stderr.strip()[-300:]}")
    return SCRIPT.read_text(encoding="utf-8")


def findings(page: "Page") -> list[str]:
    """What breaks a rule of WCAG 2.2 AA, or of what is held to be good practice."""
    page.evaluate(rules())
    found: list[str] = page.evaluate(RUN)
    return found
