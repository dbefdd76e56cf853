"""The log as people read it: its events, filtered and paged, and the proof of each."""

from base64 import b64decode, b64encode
from hashlib import sha256

import httpx
import pytest

from domain.commands import RetractRun
from domain.identity import hex_of
from domain.principals import LOCAL
from service.pages.parameters import ROWS
from tests.examples import ingest
from tests.service.api.asking import run_of
from tests.service.pages.reading import Page
from tests.service.pages.test_run_page import opened, record
from tests.service.site import Site

RUN = run_of(8000)


def positions(page: Page) -> list[int]:
    return [int(row.one("th").text.replace("\u202f", "")) for row in page.root.one("tbody").all("tr")]


def types(page: Page) -> list[str]:
    return [row.all("td")[1].text for row in page.root.one("tbody").all("tr")]


@pytest.mark.parametrize("together", [False, True])
async def test_it_opens_where_it_ends(here: Site, visitor: httpx.AsyncClient, together: bool) -> None:
    """However much was written at once: the log is shown event by event, not save by save."""
    whole = [ingest(8000 + number) for number in range(ROWS + 10)]
    if together:
        last = (await here.app.state.web._index.ledger.handle(whole, LOCAL)).position
    else:
        last = await record(here, *whole)

    page = await opened(visitor, "/audit")

    assert positions(page) == list(range(last - ROWS + 1, last + 1))
    assert "Further on" not in page.links


async def test_from_the_beginning_it_goes_on_to_the_end(here: Site, visitor: httpx.AsyncClient) -> None:
    last = await record(here, *(ingest(8000 + number) for number in range(ROWS + 10)))

    page = await opened(visitor, (await opened(visitor, "/audit")).links["from the beginning"])
    seen = positions(page)
    while further := page.links.get("Further on"):
        page = await opened(visitor, further)
        seen += positions(page)

    assert seen == list(range(1, last + 1))


async def test_filters_hold_together_and_on_the_next_page(here: Site, visitor: httpx.AsyncClient) -> None:
    await record(here, *(ingest(8000 + number) for number in range(ROWS + 10)))

    page = await opened(visitor, "/audit?type=RunIngested&actor=local&stream=&run=&from=")
    assert types(page) == ["RunIngested"] * ROWS
    page = await opened(visitor, page.links["Further on"])

    assert types(page) == ["RunIngested"] * 10
    (chosen,) = [one.text for one in page.root.one("select").all("option") if "selected" in one.attributes]
    assert chosen == "RunIngested"
    assert page.root.one("input", name="actor").attributes["value"] == "local"


async def test_what_concerns_a_run_is_a_link_on_its_page(here: Site, visitor: httpx.AsyncClient) -> None:
    await record(here, ingest(8000), ingest(9000, by="tern"), RetractRun(run=RUN.digest, reason="Wrong."))
    run = await opened(visitor, f"/runs/{hex_of(RUN.digest)}")

    page = await opened(visitor, run.links["Every event that concerns it"])

    assert types(page) == ["RunIngested", "RunRetracted"]
    assert page.links[f"run/{hex_of(RUN.digest)[:8]}…"] == f"/runs/{hex_of(RUN.digest)}"


async def test_an_event_can_be_checked_by_hand_from_its_page(here: Site, visitor: httpx.AsyncClient) -> None:
    """Given only what the page shows: the canonical form hashes to the digest, that to the leaf, that to the root."""
    await record(here, ingest(8000), ingest(9000, by="tern"))
    log = await opened(visitor, "/audit")
    place = next(row for row in log.root.one("tbody").all("tr") if "RunIngested" in row.text)

    page = await opened(visitor, place.one("th").one("a").attributes["href"])

    facts = {line[0]: line[1] for line in page.root.facts}
    canonical = "".join(child for child in page.section("canonical-text").children if isinstance(child, str))
    digest = f"sha256:{sha256(canonical.encode()).hexdigest()}"
    node = sha256(b"\0" + digest.encode()).digest()
    assert facts["digest"] == digest
    assert facts["leaf hash"] == b64encode(node).decode()
    proof = "".join(child for child in page.section("proof-text").children if isinstance(child, str)).splitlines()
    start = next(number for number, line in enumerate(proof) if line.startswith("index "))
    index, path = int(proof[start].split()[1]), [b64decode(line) for line in proof[start + 1 : proof.index("", start)]]
    size, root = int(proof[proof.index("", start) + 2]), b64decode(proof[proof.index("", start) + 3])
    assert _root(node, index, size, path) == root
    assert b64encode(root).decode() in page.root.text


def _root(node: bytes, index: int, size: int, path: list[bytes]) -> bytes:
    """The root that an inclusion proof leads to (RFC 9162, section 2.1.3.2)."""
    last = size - 1
    for sibling in path:
        if index % 2 or index == last:
            node = sha256(b"\1" + sibling + node).digest()
            while index % 2 == 0 and index:
                index, last = index // 2, last // 2
        else:
            node = sha256(b"\1" + node + sibling).digest()
        index, last = index // 2, last // 2
    return node


async def test_the_checkpoint_is_the_one_that_is_served(here: Site, visitor: httpx.AsyncClient) -> None:
    await record(here, ingest(8000))

    page = await opened(visitor, "/audit")

    note = "".join(child for child in page.section("note").children if isinstance(child, str))
    assert note == (await visitor.get("/checkpoint")).text
    assert (await visitor.get("/vkey")).text.strip() in page.root.text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/audit?after=zzz", 400),
        ("/audit?type=Nothing", 400),
        ("/audit?from=-1", 400),
        ("/audit?from=1e3", 400),
        ("/audit?from=99999999999999999999999", 400),
        ("/audit?from=999999", 400),
        ("/audit?run=nonsense", 404),
        ("/audit/0", 404),
        ("/audit/999999", 404),
        ("/audit/nonsense", 400),
        ("/audit?stream=nowhere", 200),
        ("/audit?from=0", 200),
    ],
)
async def test_whatever_is_asked_is_answered(visitor: httpx.AsyncClient, path: str, status: int) -> None:
    assert (await visitor.get(path, headers={"Accept": "text/html"})).status_code == status
