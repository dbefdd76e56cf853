"""Erasure: a payload goes, its digest stays, and nothing shows what it said, at any position."""

import asyncio
from pathlib import Path

import pytest

from domain import facts
from domain.commands import AttestRun, EraseEvent
from domain.errors import ErrorCode
from domain.events import event_digest
from domain.facts import AttestationType, Erased
from domain.identity import hex_of
from domain.principals import LOCAL
from projections import saves
from projections.digests import view_digests
from projections.views import Views
from service.api.execute import execute
from service.app import Index, open_index
from service.ledger import Refusal
from service.settings import Settings
from tests.examples import FINCH, Clock, ingest, run
from tests.service.site import site

SECRET = "Written by Quilla Ferrand, Rue du Bac 7"
FAST, SLOW = ingest(100, by="heron"), ingest(200, by="stork")


def attestation(note: str = SECRET) -> AttestRun:
    return AttestRun(
        attestation="a-1", run=run(100, by="heron").digest, type=AttestationType.REPRODUCED, note=note, salt="7f3a"
    )


@pytest.fixture
async def told(index: Index) -> tuple[Index, int]:
    """An index in which somebody wrote what must go, and the position of that."""
    await index.ledger.handle([FAST], LOCAL)
    answer = await index.ledger.handle([attestation()], FINCH)
    await index.ledger.handle([SLOW], LOCAL)
    return index, answer.position


async def erase(index: Index, position: int) -> int:
    event = index.log.at(position)
    assert event
    answer = await index.ledger.handle(
        [EraseEvent(position=position, stream=event.stream, legal_basis="GDPR Art. 17")], LOCAL
    )
    assert not isinstance(answer.results[0], Refusal)
    return answer.position


def files_that_hold(folder: Path, text: str) -> list[str]:
    return [path.name for path in folder.iterdir() if path.is_file() and text.encode() in path.read_bytes()]


async def test_the_payload_is_gone_from_every_file_and_its_digest_stays(told: tuple[Index, int]) -> None:
    index, position = told
    folder = index.settings.data_dir
    assert files_that_hold(folder, SECRET)
    event = index.log.at(position)
    assert event

    await erase(index, position)

    assert files_that_hold(folder, SECRET) == []
    remains = index.log.at(position)
    assert remains
    assert isinstance(remains.fact, Erased)
    assert event_digest(remains) == event_digest(event)
    assert (remains.type, remains.recorded_at, remains.cause) == (event.type, event.recorded_at, event.cause)


async def test_the_views_go_on_without_it_at_all_positions(told: tuple[Index, int]) -> None:
    index, position = told
    last = await erase(index, position)
    assert index.follower.head.position == last
    assert index.views.peek(lambda db: db.execute("SELECT count(*) FROM attestations").fetchone()) == (0,)
    await index.ledger.handle([ingest(300, by="crane")], LOCAL)
    assert index.views.peek(saves.head).position > last


async def test_views_made_later_are_equal(told: tuple[Index, int], tmp_path: Path) -> None:
    index, position = told
    await erase(index, position)
    live = await index.views.read(view_digests)
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    views = await Views.open(fresh)
    await views.apply(saves.NOTHING, index.log.read(0, 1000))
    assert await views.read(view_digests) == live
    await views.close()


async def test_another_process_forgets_it_too(told: tuple[Index, int]) -> None:
    """It follows the same log with views of its own; so does one that was down meanwhile."""
    index, position = told
    async with open_index(Settings(data_dir=index.settings.data_dir), now=Clock()) as other:
        await erase(index, position)
        async with asyncio.timeout(20):
            while other.views.generation == 0 or other.follower.head != index.follower.head:
                await asyncio.sleep(0.01)
        assert other.views.peek(lambda db: db.execute("SELECT count(*) FROM attestations").fetchone()) == (0,)


async def test_the_record_of_an_erased_run_is_gone_and_says_so(told: tuple[Index, int]) -> None:
    index, _ = told
    digest = run(100, by="heron").digest
    events = [index.log.at(position) for position in range(1, index.follower.head.position + 1)]
    [position] = [
        one.position for one in events if one and isinstance(one.fact, facts.RunIngested) and one.fact.digest == digest
    ]
    await erase(index, position)

    query = "query($id: ID!) { run(id: $id) { id } runs { nodes { digest ranking { rank } } } }"
    names = (digest, hex_of(digest), hex_of(digest)[:8])
    for name in names:
        answer = await execute(index, query, {"id": name})
        assert answer["errors"][0]["extensions"]["code"] == "GONE", name
        assert answer["data"]["run"] is None
        assert answer["data"]["runs"]["nodes"] == [{"digest": run(200, by="stork").digest, "ranking": {"rank": 1}}]
    again = await index.ledger.handle([FAST], LOCAL)
    assert isinstance(again.results[0], Refusal)
    assert again.results[0].problems[0].code is ErrorCode.GONE
    async with site(index.settings.data_dir) as (_, client):
        for path in (f"/runs/{name}{pin}" for name in names for pin in ("", f"/at/{position}")):
            response = await client.get(path, headers={"Accept": "application/json"})
            assert response.status_code == 410, path
            assert response.json()["errors"][0]["extensions"]["code"] == "GONE"
            assert (await client.get(path, headers={"Accept": "text/html"})).status_code == 410, path


async def test_erased_twice_it_is_erased_once(told: tuple[Index, int]) -> None:
    index, position = told
    first = await erase(index, position)
    assert await erase(index, position) == first


async def test_views_that_a_killed_erasure_left_are_gone_after_the_next_start(told: tuple[Index, int]) -> None:
    """It was appended, and then the process died: the old views, and those of other releases, still hold the words."""
    index, position = told
    folder = index.settings.data_dir
    await index.views.close()
    left = {path.name: path.read_bytes() for path in folder.glob("views-*.db")}
    other_release = folder / "views-0123456789ab.db"
    async with open_index(Settings(data_dir=folder), now=Clock()) as again:
        await erase(again, position)
    for name, content in left.items():
        (folder / name).write_bytes(content)
    other_release.write_bytes(SECRET.encode())
    assert files_that_hold(folder, SECRET)

    async with open_index(Settings(data_dir=folder), now=Clock()):
        assert files_that_hold(folder, SECRET) == []
