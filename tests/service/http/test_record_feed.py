"""The Atom feed of records: valid, newest first, under ids that stay whatever else changes."""

from pathlib import Path
from xml.etree import ElementTree as ET

import httpx

from domain.commands import Ingest, RetractRun
from domain.principals import LOCAL
from service.app import open_index
from service.settings import Settings
from tests.examples import Clock, Ids, bundle, run
from tests.service.site import site

ATOM = "{http://www.w3.org/2005/Atom}"
PATH = "/feeds/records.atom"


async def written(folder: Path, *values: int) -> None:
    async with open_index(Settings(data_dir=folder), now=Clock(), new_id=Ids()) as index:
        for value in values:
            await index.ledger.handle([Ingest(bundle=bundle(value))], LOCAL)


async def retracted(folder: Path, value: int) -> None:
    async with open_index(Settings(data_dir=folder)) as index:
        await index.ledger.handle([RetractRun(run=run(value).digest, reason="wrong stream")], LOCAL)


def forget_views(folder: Path) -> None:
    for views in folder.glob("views-*"):
        views.unlink()


async def feed_of(client: httpx.AsyncClient, **query: str) -> ET.Element:
    answer = await client.get(PATH, params=query)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/atom+xml"
    return ET.fromstring(answer.content)


def texts(feed: ET.Element, name: str) -> list[str]:
    return [entry.findtext(f"{ATOM}{name}") or "" for entry in feed.findall(f"{ATOM}entry")]


async def test_each_change_of_a_record_is_an_entry_newest_first(tmp_path: Path) -> None:
    await written(tmp_path, 300, 400, 200)
    await retracted(tmp_path, 200)
    async with site(tmp_path) as (_, client):
        feed = await feed_of(client)
    assert texts(feed, "title") == [
        "Record 300 ns (was 200 ns): RMSNorm h4096",
        "Record 200 ns (was 300 ns): RMSNorm h4096",
        "Record 300 ns: RMSNorm h4096",
    ]
    assert "RETRACTION" in texts(feed, "summary")[0]
    assert feed.findtext(f"{ATOM}updated") == texts(feed, "updated")[0]
    assert all(feed.find(f"{ATOM}{name}") is not None for name in ("id", "title", "author", "link"))


async def test_ids_stay_when_more_is_written_and_when_the_index_moves(tmp_path: Path) -> None:
    await written(tmp_path, 300, 200)
    async with site(tmp_path) as (_, client):
        before = texts(await feed_of(client), "id")
    await written(tmp_path, 100)
    forget_views(tmp_path)
    async with site(tmp_path, base_url="https://elsewhere.example") as (_, client):
        feed = await feed_of(client)
    assert texts(feed, "id")[1:] == before
    assert len(set(texts(feed, "id"))) == 3
    assert before[0].startswith("tag:kernelindex.localhost,2026-09-01:")


async def test_one_group_can_be_followed_and_what_is_no_key_is_refused(tmp_path: Path) -> None:
    await written(tmp_path, 300)
    async with site(tmp_path) as (_, client):
        (only,) = texts(await feed_of(client), "id")
        key = f"sha256:{only.split('/')[-2]}"
        assert texts(await feed_of(client, comparisonKey=key), "id") == [only]
        assert texts(await feed_of(client, comparisonKey=f"sha256:{'0' * 64}"), "id") == []
        refused = await client.get(PATH, params={"comparisonKey": "nonsense"})
    assert (refused.status_code, refused.json()["errors"][0]["extensions"]["code"]) == (400, "INVALID_ARGUMENT")


async def test_an_unchanged_feed_is_not_sent_again(tmp_path: Path) -> None:
    await written(tmp_path, 300)
    async with site(tmp_path) as (_, client):
        tag = (await client.get(PATH)).headers["etag"]
        assert (await client.get(PATH, headers={"If-None-Match": tag})).status_code == 304


async def test_an_empty_log_has_an_empty_feed(tmp_path: Path) -> None:
    async with site(tmp_path / "empty") as (_, client):
        assert texts(await feed_of(client), "id") == []
