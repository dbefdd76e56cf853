"""``kernelindex replay``: fresh views of the log up to a moment."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from domain.commands import EraseEvent
from domain.events import timestamp
from domain.principals import LOCAL
from projections.digests import view_digests
from service.app import open_index
from service.settings import Settings
from tests.examples import START, Clock, Ids, ingest, run
from tests.service.cli.conftest import Command

Shown = dict[int, dict[str, str]]


@pytest.fixture
def shown(data: Path) -> Shown:
    """Five saves, a second after each other from ``START`` on; the digests of the live views after each."""

    async def write() -> Shown:
        found = {}
        async with open_index(Settings(data_dir=data), now=Clock(), new_id=Ids()) as index:
            found[index.follower.head.position] = await index.views.read(view_digests)
            for number in range(4):
                answer = await index.ledger.handle([ingest(100 - number, by=f"n{number}")], LOCAL)
                found[answer.position] = await index.views.read(view_digests)
        return found

    return asyncio.run(write())


def replayed(cli: Command, *arguments: object) -> dict[str, Any]:
    ran = cli("replay", "--json", *arguments)
    assert ran.status == 0, ran.err
    document: dict[str, Any] = json.loads(ran.out)
    return document


def digests(document: dict[str, Any]) -> dict[str, str]:
    return {name: table["digest"] for name, table in document["tables"].items()}


def test_views_made_anew_up_to_a_position_equal_those_that_were_served_there(cli: Command, shown: Shown) -> None:
    for number, (position, live) in enumerate(shown.items()):
        document = replayed(cli, "--until", position)
        assert (document["position"], document["logId"], document["views"]) == (position, "id-1", None)
        assert digests(document) == live
        assert document["tables"]["runs"]["rows"] == number


def test_a_position_inside_a_save_means_the_end_of_the_one_before(cli: Command, shown: Shown) -> None:
    before = 0
    for position in range(max(shown) + 1):
        before = position if position in shown else before
        assert replayed(cli, "--until", position)["position"] == before


def test_an_instant_means_what_was_known_then(cli: Command, shown: Shown) -> None:
    for second, position in enumerate(shown):
        for fraction in ("", ".999999"):
            instant = f"2026-09-01T12:00:{second:02}{fraction}Z"
            document = replayed(cli, "--until", instant)
            assert (document["position"], digests(document)) == (position, shown[position]), instant
    assert replayed(cli, "--until", "2026-09-01T14:00:01+02:00")["position"] == list(shown)[1]
    nothing = replayed(cli, "--until", "2020-01-01T00:00:00Z")
    assert (nothing["position"], nothing["knownAt"], nothing["tables"]["saves"]["rows"]) == (0, None, 0)


def test_it_does_not_touch_the_views_that_are_served(cli: Command, shown: Shown, data: Path) -> None:
    before = {path.name: path.stat().st_size for path in data.glob("views-*.db")}
    replayed(cli, "--until", min(shown))
    assert {path.name: path.stat().st_size for path in data.glob("views-*.db")} == before


def test_the_views_are_kept_where_an_output_is_named_and_never_written_over(
    cli: Command, shown: Shown, tmp_path: Path
) -> None:
    position = list(shown)[2]
    document = replayed(cli, "--until", position, "--output", tmp_path / "then")

    with closing(sqlite3.connect(document["views"])) as db:
        assert view_digests(db) == shown[position]
    again = cli("replay", "--until", position, "--output", tmp_path / "then")
    assert (again.status, "has views already" in again.err) == (1, True)


def test_what_was_erased_since_is_not_shown_at_any_position(
    cli: Command, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The views that are served are made anew without it, and a replay makes the same."""

    async def write() -> tuple[int, dict[str, str]]:
        async with open_index(Settings(data_dir=data), now=Clock(), new_id=Ids()) as index:
            position = (await index.ledger.handle([ingest(100)], LOCAL)).position
            stream = f"run/{run(100).digest}"
            await index.ledger.handle([EraseEvent(position=position, stream=stream, legal_basis="a court")], LOCAL)
            return position, await index.views.read(view_digests)

    position, live = asyncio.run(write())
    capsys.readouterr()

    then, now = replayed(cli, "--until", position), replayed(cli, "--until", position + 1)
    assert (then["position"], then["tables"]["runs"]["rows"]) == (position, 0)
    assert (now["position"], digests(now)) == (position + 1, live)


def test_people_see_the_moment_the_counts_and_whole_digests(cli: Command, shown: Shown, tmp_path: Path) -> None:
    position = list(shown)[1]
    ran = cli("replay", "--until", position, "--output", tmp_path / "then")

    assert ran.out.startswith(f"Position {position} of log id-1, as of {timestamp(START).replace(':00.', ':01.')}.")
    lines = {line.split()[0]: line.split()[1:] for line in ran.out.splitlines()}
    assert lines["runs"] == ["1", shown[position]["runs"]]
    assert str(tmp_path / "then") in ran.out
    assert "position 0" in cli("replay", "--until", 0).out


@pytest.mark.parametrize(
    ("until", "says"),
    [
        ("1000000", "has not reached position 1000000"),
        ("9" * 40, "has not reached position"),
        ("9999-01-01T00:00:00Z", "has not come yet"),
        ("yesterday", "neither a position nor an instant"),
        ("2026-09-01T12:00:00", "neither a position nor an instant"),
        ("2026-09-01", "neither a position nor an instant"),
        ("-1", ""),
        ("²", "neither a position nor an instant"),
        ("", "neither a position nor an instant"),
    ],
)
def test_the_future_and_what_is_no_moment_are_refused_in_a_line(
    cli: Command, shown: Shown, tmp_path: Path, until: str, says: str
) -> None:
    ran = cli("replay", f"--until={until}", "--output", tmp_path / "then")

    assert ran.status == 1
    assert says in ran.err + ran.out
    assert "Traceback" not in ran.err
    assert not (tmp_path / "then").exists()


def test_where_there_is_no_index_it_makes_none(cli: Command, data: Path) -> None:
    ran = cli("replay", "--until", 1)

    assert (ran.status, "there is no index" in ran.err, data.exists()) == (1, True, False)


def test_a_replay_that_fails_leaves_nothing_behind(cli: Command, shown: Shown, data: Path, tmp_path: Path) -> None:
    """A policy that this release doesn't know stops it, as it stops the follower."""
    with closing(sqlite3.connect(data / "log.db")) as db:
        (events,) = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE '%events'").fetchone()
        db.execute(f"UPDATE {events} SET state = replace(state, 'ranking-v1', 'ranking-v9')")
        db.commit()

    ran = cli("replay", "--until", max(shown), "--output", tmp_path / "then")

    assert (ran.status, "ranking-v9" in ran.err) == (1, True)
    assert list((tmp_path / "then").glob("*")) == []
