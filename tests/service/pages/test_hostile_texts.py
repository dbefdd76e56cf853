"""Whatever people write is shown as they wrote it: it never becomes part of the page."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from domain.bundles import Bundle, bundle_of
from domain.commands import AttestRun, CloseIssue, Ingest, OpenDispute, RegisterSource, ReportIssue, RetractRun
from domain.facts import AttestationType, IssueCategory, IssueOutcome
from domain.identity import hex_of
from service.pages.rendering import json_block, web_address
from tests.examples import ENVIRONMENT, OPERATION, PROTOCOL, WORKLOAD, implementation, manifest, run
from tests.service.pages.reading import Element, Page
from tests.service.pages.test_run_page import BASE, BROWSER, record
from tests.service.site import Site, site

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onfocus='alert(1)' autofocus='",
    "<!-- ",
    "]]>&lt;b&gt;&amp;",
    "{{ 7 * 7 }}{% raw %}${7*7}",
    "</textarea></pre></details></main><h1>Mine</h1>",
    "javascript:alert(1)",
    "a" * 180,
    "שלום <b>world</b>",
    "\\u003cscript\\u003e `x` $(x)",
]
TEMPLATES = Path(__file__).parents[3] / "service" / "pages" / "templates"


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[Site, httpx.AsyncClient]]:
    async with site(tmp_path, base_url=BASE) as (one, client):
        yield one, client


def hostile_bundle(text: str) -> Bundle:
    """A record in which every text that people choose is this one."""
    code = implementation("heron")
    named = {"name": "heron", "title": text, "description": text}
    spec: Any = run(8120, sourceNative={"source": "board", "externalId": text}).spec
    return bundle_of(
        manifest("OperationSpec", OPERATION.spec, **named),
        manifest("WorkloadCase", WORKLOAD.spec, **named),
        manifest("ImplementationRevision", code.spec, **named),
        manifest("BenchmarkProtocol", PROTOCOL.spec, **named),
        manifest("ExecutionEnvironment", ENVIRONMENT.spec, **named),
        manifest("BenchmarkRun", spec, authors=[{"name": text}], labels={"worker": "x"}, **named),
    )


def skeleton(element: Element) -> list[tuple[str, list[str]]]:
    """The elements and the names of their attributes: what no text may change, but for warnings about markup in it."""
    return [(one.tag, sorted(one.attributes)) for one in element.walk() if not _is_caution(one)]


def _is_caution(one: Element) -> bool:
    return "caution" in one.classes or bool(one.parent and "caution" in one.parent.classes)


async def said_everywhere(here: Site, text: str) -> str:
    """A record about which this text is said wherever people can say something; answers its path."""
    one = hostile_bundle(text)
    assert one.run
    digest = one.run.digest
    policy = json.dumps({"licence": text, "attribution": text, "url": "https://tern.example/"}).encode()
    await record(
        here,
        RegisterSource(slug="board", name=text, kind="person", policy=policy),
        Ingest(bundle=one),
        AttestRun(attestation="a1", run=digest, type=AttestationType.REPRODUCED, note=text, salt="s", environment=text),
        ReportIssue(issue="i1", run=digest, category=IssueCategory.OTHER, text=text, salt="s"),
        CloseIssue(issue="i1", outcome=IssueOutcome.NOTED, note=text),
        OpenDispute(run=digest, dispute="d1", blocking=True, reason=text),
        RetractRun(run=digest, reason=text),
    )
    return f"/runs/{hex_of(digest)}"


@pytest.mark.parametrize("text", HOSTILE)
async def test_a_record_full_of_it_is_the_same_page_with_other_words(
    served: tuple[Site, httpx.AsyncClient], tmp_path: Path, text: str
) -> None:
    here, client = served
    path = await said_everywhere(here, text)
    async with site(tmp_path / "harmless", base_url=BASE) as (other, other_client):
        harmless_path = await said_everywhere(other, "Harmless")
        harmless = Page((await other_client.get(harmless_path, headers={"Accept": BROWSER})).text)

    answer = await client.get(path, headers={"Accept": BROWSER})
    page = Page(answer.text)

    assert skeleton(page.root) == skeleton(harmless.root)
    folded = " ".join(text.split())
    assert page.section("replications").text.count(folded) == 2
    assert folded in page.section("report").text
    assert sum(folded in one.text for one in page.root.all("aside")) == 1
    assert folded in page.section("published").text
    home = Page((await client.get("/", headers={"Accept": BROWSER})).text)
    assert not [one for one in home.root.all("script") if "src" not in one.attributes]


@pytest.mark.parametrize("text", HOSTILE)
async def test_an_error_quotes_it(served: tuple[Site, httpx.AsyncClient], text: str) -> None:
    response = await served[1].get("/", params={"after": text}, headers={"Accept": BROWSER})

    assert response.status_code == 400
    tags = [tag for tag, _ in skeleton(Page(response.text).root)]
    assert tags.count("img") == 1  # ours, in the header
    assert [tag for tag in tags if tag in ("script", "b", "form", "textarea")] == []


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "JAVASCRIPT:alert(1)", " https://a.example", "data:text/html,x", "//a.example", "https:", "",
     "http://[", None, "file:///etc/passwd", "vbscript:x"],
)  # fmt: skip
def test_what_is_no_web_address_is_no_link(address: str | None) -> None:
    assert web_address(address) == ""


def test_a_web_address_stays_what_it_is() -> None:
    assert web_address("https://a.example/b?c=d&e=%20#f") == "https://a.example/b?c=d&e=%20#f"
    assert web_address('https://a.example/"><script>') == "https://a.example/%22%3E%3Cscript%3E"


def test_json_in_a_page_is_the_same_value() -> None:
    text = json.dumps({"a": "</script><!--"})
    assert "<" not in json_block(text)
    assert json.loads(json_block(text)) == json.loads(text)


def test_no_template_switches_escaping_off() -> None:
    for template in TEMPLATES.rglob("*.html"):
        text = template.read_text(encoding="utf-8")
        assert "|safe" not in text.replace(" ", ""), template
        assert "autoescape" not in text, template
        assert " style=" not in text, template
        assert " on" not in "".join(part.split(">")[0] for part in text.split("<button")[1:]), template
