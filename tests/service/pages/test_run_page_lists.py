"""What a run's page holds more of than fits: its lists go on behind links, and its group's record stands on it."""

from collections.abc import Callable

import httpx
import pytest
from msgspec.structs import replace

from domain.commands import AttestRun, Command, ReportIssue, RequestRerun
from domain.facts import AttestationType, IssueCategory
from domain.identity import hex_of
from domain.principals import LOCAL
from tests.examples import ingest
from tests.service.api.asking import run_of
from tests.service.pages.reading import Page
from tests.service.pages.test_run_page import opened, record
from tests.service.site import Site

RUN = run_of(8000).digest
PATH = f"/runs/{hex_of(RUN)}"


def attestation(number: int) -> Command:
    return AttestRun(
        attestation=f"a{number:03}", run=RUN, type=AttestationType.REPRODUCED, note=f"Note {number}.", salt="s"
    )


def issue(number: int) -> Command:
    return ReportIssue(issue=f"i{number:03}", run=RUN, category=IssueCategory.OTHER, text=f"Note {number}.", salt="s")


def rerun(number: int) -> Command:
    return RequestRerun(rerun=f"r{number:03}", run=RUN, note=f"Note {number}.")


def numbers(page: Page, section: str) -> list[int]:
    return [int(one.text.split("Note ")[1].partition(".")[0]) for one in page.section(section).all("li")]


@pytest.mark.parametrize(
    ("section", "command", "count"),
    [("replications", attestation, 120), ("report", issue, 60), ("reruns", rerun, 60)],
)
async def test_all_entries_can_be_reached_now_and_as_of_then(
    here: Site, visitor: httpx.AsyncClient, section: str, command: Callable[[int], Command], count: int
) -> None:
    await record(here, ingest(8000), ingest(7000, by="tern"))
    people = (replace(LOCAL, id=f"p{number}") for number in range(count))
    then = 0
    for number, person in enumerate(people):
        await record(here, command(number), by=person)
    then = here.app.state.web._index.follower.head.position

    for path in (PATH, f"{PATH}/at/{then}"):
        page = await opened(visitor, path)
        seen = numbers(page, section)
        assert seen == sorted(seen)
        while "Those before" in page.links:
            link = next(one for one in page.section(section).all("a") if one.text == "Those before")
            page = await opened(visitor, link.attributes["href"].partition("#")[0])
            assert page.links["The last ones"] == f"{path}#{section}"
            seen = numbers(page, section) + seen
        assert seen == list(range(count)), path


@pytest.mark.parametrize("name", ["attestations", "reruns", "issues"])
async def test_a_place_in_a_list_that_is_none_is_an_error(here: Site, visitor: httpx.AsyncClient, name: str) -> None:
    await record(here, ingest(8000))

    response = await visitor.get(PATH, params={name: "nonsense"}, headers={"Accept": "text/html"})

    assert response.status_code == 400
    assert "INVALID_CURSOR" in response.text


async def test_the_record_of_its_group_stands_on_the_page_of_a_run(here: Site, visitor: httpx.AsyncClient) -> None:
    position = await record(here, ingest(9000, by="owl"), ingest(8000))
    await record(here, ingest(7000, by="tern"))

    now, then = await opened(visitor, PATH), await opened(visitor, f"{PATH}/at/{position}")

    values = [row.all("td")[1].text for row in now.section("record-known").one("tbody").all("tr")]
    assert values == ["9.00 µs", "8.00 µs", "7.00 µs"]
    assert now.root.one("figure", cls="chart").attributes["data-steps"] == "record-observed record-known"
    values = [row.all("td")[1].text for row in then.section("record-known").one("tbody").all("tr")]
    assert values == ["9.00 µs", "8.00 µs"]
    assert now.sections.index("history") < now.sections.index("record") < now.sections.index("manifest")


async def test_a_run_that_no_group_holds_has_no_record(here: Site, visitor: httpx.AsyncClient) -> None:
    await record(here, ingest(None))

    page = await opened(visitor, f"/runs/{hex_of(run_of(None).digest)}")

    assert not page.root.all(id="record")
