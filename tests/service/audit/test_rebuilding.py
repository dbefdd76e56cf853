"""Views are made again while the index is in use: nobody sees half of them, nothing is applied twice (case 35)."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from domain.audit.findings import Tampered, Tampering
from domain.commands import Ingest
from domain.principals import LOCAL
from projections.digests import view_digests
from service.app import Index, open_index
from service.audit.rebuilding import rebuild_views, verify_views
from service.settings import Settings
from tests.examples import Clock, Ids, bundle
from tests.service.api.asking import ask

CASE = json.loads((Path(__file__).parents[2] / "fixtures/cases/35-rebuild-under-load.json").read_bytes())

CASE_EXPECTED = [500, 400, 300, 290]


@pytest.fixture
async def held(tmp_path: Path) -> AsyncIterator[Index]:
    """An index that doesn't follow its log by itself: a handler can be held back."""
    async with open_index(Settings(data_dir=tmp_path), now=Clock(), new_id=Ids(), follow=False) as index:
        yield index


def publish(index: Index, number: int) -> None:
    """Put a run of the case into the log."""
    run = bundle(CASE["values_ns"][number - 1], by=f"n{number}")
    results, _ = index.ledger.record([Ingest(bundle=run)], LOCAL)
    assert len(results) == 1


async def ranks(index: Index) -> list[tuple[int, int]]:
    query = "{ rankings { nodes { entries(first: 10) { nodes { rank run { primary { value } } } } } } }"
    (group,) = (await ask(index, query))["rankings"]["nodes"]
    return [(entry["rank"], int(entry["run"]["primary"]["value"])) for entry in group["entries"]["nodes"]]


async def history(index: Index) -> list[int]:
    """The values that led the group, one after the other."""
    query = "SELECT value FROM records_known WHERE to_position IS NULL ORDER BY from_position"
    return [int(value) for (value,) in await index.views.read(lambda db: db.execute(query).fetchall())]


async def digests(index: Index) -> dict[str, str]:
    found: dict[str, str] = await index.views.read(view_digests)
    return found


async def test_a_rebuild_while_an_event_is_in_flight_loses_and_doubles_nothing(held: Index, tmp_path: Path) -> None:
    for number in (1, 2, 3, 4):
        publish(held, number)
    await held.follower.catch_up()
    before = await ranks(held)
    publish(held, 5)  # in the log; the handler of the live views is held
    await rebuild_views(tmp_path)
    assert await ranks(held) == before
    await held.follower.catch_up()
    publish(held, 6)
    await held.follower.catch_up()
    live = await digests(held)
    await rebuild_views(tmp_path)
    await held.follower.catch_up()

    assert await ranks(held) == [(1, 290), (2, 300), (3, 350), (4, 400), (5, 450), (6, 500)]
    assert await history(held) == CASE_EXPECTED
    assert await digests(held) == live
    assert (await verify_views(tmp_path)).position == held.follower.head.position


async def test_a_query_sees_the_whole_group_at_every_moment_of_a_rebuild(tmp_path: Path) -> None:
    async with open_index(Settings(data_dir=tmp_path), now=Clock(), new_id=Ids()) as index:
        for number in range(1, 7):
            publish(index, number)
        await index.follower.reach(index.follower.head.position, 5)
        await index.ledger.handle([Ingest(bundle=bundle(1000, by="last"))], LOCAL)
        whole = await ranks(index)
        opened = index.views._opened
        rebuilding = [asyncio.create_task(rebuild_views(tmp_path))]
        seen, asked = [], 0
        while asked < 30 or not rebuilding[0].done() or index.views._opened == opened:
            seen.append(await ranks(index))
            await asyncio.sleep(0.005)
            asked += 1
            assert asked < 2000
        await rebuilding[0]

        assert len(whole) == 7
        assert all(one == whole for one in seen)
        answer = await index.ledger.handle([Ingest(bundle=bundle(2000, by="later"))], LOCAL)
        assert answer.position == index.follower.head.position
        assert len(await ranks(index)) == 8


async def test_verifying_leaves_out_what_is_written_meanwhile(held: Index, tmp_path: Path) -> None:
    publish(held, 1)
    await held.follower.catch_up()
    publish(held, 2)  # in the log, not in the views
    assert (await verify_views(tmp_path)).position == held.follower.head.position


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ("UPDATE manifests SET manifest = replace(manifest, 'tern', 'term')", "view manifests"),
        ("DELETE FROM event_subjects WHERE subject = 'log'", "view event_subjects: the row of log is missing"),
        ("INSERT INTO event_subjects VALUES ('another', 1, 0)", "the row of another is one too many"),
        ("UPDATE tree SET digests = zeroblob(32) WHERE position = (SELECT min(position) FROM tree)", "view tree"),
    ],
)
async def test_a_row_that_was_written_by_hand_is_named(held: Index, tmp_path: Path, edit: str, says: str) -> None:
    publish(held, 1)
    await held.follower.catch_up()
    db = sqlite3.connect(held.views.path)
    db.execute(edit)
    db.commit()
    db.close()
    with pytest.raises(Tampered) as found:
        await verify_views(tmp_path)
    assert found.value.kind is Tampering.VIEW_ALTERED
    assert says in str(found.value)
