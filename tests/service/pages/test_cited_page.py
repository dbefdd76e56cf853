"""The page that checks a citation: whatever was pasted, the record as it stood, and what has changed since."""

from typing import Any

import httpx
import pytest

from domain.commands import AttestRun, RetractRun
from domain.facts import AttestationType
from domain.identity import hex_of, short_id
from service.pages.checking import read_citation
from tests.examples import FINCH, ingest
from tests.service.api.asking import run_of
from tests.service.pages.reading import Page
from tests.service.pages.test_run_page import BASE, opened, record
from tests.service.site import Site, asked

RUN = run_of(8000)
PATH = f"/runs/{hex_of(RUN.digest)}"
FORMATS = ("TEXT", "BIBTEX", "BIBLATEX", "CSL_JSON", "RIS", "SCHEMA_ORG")


async def checked(visitor: httpx.AsyncClient, status: int = 200, **given: Any) -> Page:
    response = await visitor.get("/cited", params=given, headers={"Accept": "text/html"})
    assert response.status_code == status, response.text
    return Page(response.text)


async def citations(visitor: httpx.AsyncClient) -> dict[str, str]:
    fields = " ".join(f"{name}: citation(format: {name}) {{ content }}" for name in FORMATS)
    answer = await asked(visitor, f'{{ run(id: "{RUN.digest}") {{ {fields} }} }}')
    return {name: one["content"] for name, one in answer.json()["data"]["run"].items()}


async def test_the_record_as_it_stood_and_what_has_happened_since(here: Site, visitor: httpx.AsyncClient) -> None:
    position = await record(here, ingest(8000))
    attested = AttestRun(attestation="a1", run=RUN.digest, type=AttestationType.REPRODUCED, note="Same.", salt="s")
    attested_at = await record(here, attested, by=FINCH)
    faster = await record(here, ingest(7000, by="tern"))
    retracted_at = await record(here, RetractRun(run=RUN.digest, reason="The wrong stream."))

    page = await checked(visitor, citation=f"{BASE}{PATH}/at/{position}", digest=RUN.digest)

    assert page.root.one("aside").text == f"The digest fits. What was cited is this record, byte for byte: {RUN.digest}"
    then, now = ({line[0]: line[1] for line in one.facts} for one in page.root.all("dl"))
    assert (then["status"], then["rank"], then["leader"]) == ("passed", "1 of 1", "this run")
    assert (now["status"], now["rank"]) == ("passed retracted", "not ranked")
    assert (then["attestations"], now["attestations"]) == ("none", "1 reproduced it")
    told = [row.text for row in page.root.one("tbody").all("tr")]
    day = "2026-09-01"
    assert f"{day} {attested_at} attestation: reproduced it" in told
    assert f"{day} {retracted_at} retracted: The wrong stream." in told
    leader = short_id(run_of(7000, by="tern").digest)
    assert any(f"leader of its group from {short_id(RUN.digest)} to {leader}" in line for line in told)
    assert page.links[str(faster)] == f"/audit/{faster}"


@pytest.mark.parametrize("form", FORMATS)
async def test_a_whole_citation_may_be_pasted_in_any_format(here: Site, visitor: httpx.AsyncClient, form: str) -> None:
    position = await record(here, ingest(8000))
    text = (await citations(visitor))[form]
    await record(here, RetractRun(run=RUN.digest, reason="The wrong stream."))

    page = await checked(visitor, citation=text)

    assert page.root.one("aside").text.startswith("The digest fits.")
    assert f"The permalink leads to log position {position}, 2026-09-01" in page.root.text
    assert any(row.text.endswith("retracted: The wrong stream.") for row in page.root.one("tbody").all("tr"))
    assert page.root.one("textarea").text == " ".join(text.split())


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "SCHEMA_ORG"])
async def test_the_day_of_access_is_read_from_it(here: Site, visitor: httpx.AsyncClient, form: str) -> None:
    await record(here, ingest(8000))

    assert read_citation((await citations(visitor))[form]).day == "2026-09-01"


async def test_a_digest_of_something_else_does_not_fit(here: Site, visitor: httpx.AsyncClient) -> None:
    await record(here, ingest(8000))
    other = f"sha256:{7:064x}"

    page = await checked(visitor, citation=f"{BASE}{PATH}", digest=other)

    assert page.root.one("aside").classes == ["banner", "bad"]
    assert other in page.root.one("aside").text
    assert RUN.digest in page.root.one("aside").text


@pytest.mark.parametrize(
    "given",
    [
        {"citation": RUN.digest},
        {"citation": hex_of(RUN.digest)[:8]},
        {"citation": f"{PATH}.bib"},
        {"citation": f"See {BASE}{PATH}/at/1, and more."},
        {"citation": f"\\url{{{BASE}{PATH}}}."},
        {"citation": "", "digest": RUN.digest},
        {"citation": "", "digest": hex_of(RUN.digest).upper()},
        {"citation": f"{BASE}{PATH}", "day": "2026-09-01"},
    ],
)
async def test_what_people_paste(here: Site, visitor: httpx.AsyncClient, given: dict[str, Any]) -> None:
    await record(here, ingest(8000))
    if "/at/1" in given["citation"]:
        # Position 1 is the opening of the log: the record was not there yet.
        page = await checked(visitor, 404, **given)
        assert "was not there at position" in page.root.text
        return

    page = await checked(visitor, **given)

    assert page.section("verdict").text.startswith(f"Run {short_id(RUN.digest)} run-heron")


async def test_of_a_day_its_last_state_is_shown(here: Site, visitor: httpx.AsyncClient) -> None:
    position = await record(here, ingest(8000))
    here.clock.forward(days=2)
    await record(here, RetractRun(run=RUN.digest, reason="The wrong stream."))

    page = await checked(visitor, citation=f"{BASE}{PATH}", day="2026-09-02")

    assert f"Of the day of access, 2026-09-02, the last log position is {position}" in page.root.text
    assert "No digest was given" in page.root.one("aside").text


async def test_another_indexs_address_is_pointed_out(here: Site, visitor: httpx.AsyncClient) -> None:
    await record(here, ingest(8000))

    page = await checked(visitor, citation=f"https://elsewhere.example{PATH}")

    assert "does not begin with the address of this index" in page.root.one(cls="caution").text


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"citation": "Heron, 2026. A fast kernel."}, 400),
        ({"citation": "https://kernels.example/"}, 400),
        ({"citation": PATH, "digest": "sha256:12"}, 400),
        ({"citation": PATH, "day": "2026-13-01"}, 400),
        ({"citation": PATH, "day": "2031-01-01"}, 400),
        ({"citation": f"{PATH}/at/999999"}, 404),
        ({"citation": f"/runs/{'0' * 64}"}, 404),
        ({"citation": f"{BASE}/runs/a b"}, 404),
        ({"citation": "x" * 30_000}, 400),
    ],
)
async def test_what_cannot_be_checked_is_said(
    here: Site, visitor: httpx.AsyncClient, given: dict[str, Any], status: int
) -> None:
    await record(here, ingest(8000))

    page = await checked(visitor, status, **given)

    assert page.root.one("h1").text in ("Bad Request", "Not Found")


async def test_with_nothing_pasted_it_is_a_form(visitor: httpx.AsyncClient) -> None:
    page = await opened(visitor, "/cited")

    assert {one.attributes["name"] for one in page.root.all() if "name" in one.attributes and one.tag != "meta"} == {
        "citation",
        "digest",
        "day",
    }
    assert not page.root.all("section")
