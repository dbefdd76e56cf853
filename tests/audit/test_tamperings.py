"""Every way to tamper with a log, a folder each, is found: under its own code, with the event and what to do."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from domain.audit.findings import REMEDIES, Tampering
from service.audit.exporting import read_exported
from service.event_log import EventLog
from tests.service.cli.conftest import Command, cli, data  # noqa: F401 fixtures

HERE = Path(__file__).parent
FOLDERS = sorted(path.parent for path in HERE.glob("*/expected.json"))
LOGS = [folder for folder in FOLDERS if not (folder / "edit.sql").exists()]


def expected(folder: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads((folder / "expected.json").read_text())
    return said


def arguments(folder: Path) -> list[object]:
    return [
        folder / "log.jsonl",
        "--checkpoint",
        folder / "checkpoint",
        "--key",
        folder / "vkey",
        "--kept",
        folder / "kept",
    ]


@pytest.mark.parametrize("folder", LOGS, ids=lambda folder: folder.name)
def test_what_was_done_to_a_log_is_found(cli: Command, folder: Path) -> None:  # noqa: F811
    said = expected(folder)
    ran = cli("audit", "verify", *arguments(folder), "--json")
    answer = json.loads(ran.out)

    assert ran.status == said["status"]
    assert answer["verified"] is (said["status"] == 0)
    if said["status"]:
        assert (answer["code"], answer["position"]) == (said["code"], said["position"]), answer["message"]
        assert said["says"] in answer["message"]
        assert answer["status"] == ran.status == Tampering[said["code"]]


@pytest.mark.parametrize("folder", LOGS, ids=lambda folder: folder.name)
def test_people_are_told_what_was_found_and_what_to_do(cli: Command, folder: Path) -> None:  # noqa: F811
    said = expected(folder)
    ran = cli("audit", "verify", *arguments(folder))

    assert said["says"] in (ran.err if said["status"] else ran.out)
    if said["status"]:
        assert ran.err.startswith(f"{said['code']}: ")
        assert REMEDIES[Tampering(said["status"])] in ran.err
        assert ran.out == ""


def test_there_is_a_folder_for_every_code() -> None:
    assert {expected(folder)["status"] for folder in FOLDERS} == {0, *Tampering}


@pytest.mark.parametrize("name", ["payload-and-hash-altered", "recorded-at-of-a-whole-save-altered", "end-removed"])
def test_without_kept_checkpoints_it_is_found_too(cli: Command, name: str) -> None:  # noqa: F811
    folder = HERE / name
    ran = cli("audit", "verify", *arguments(folder)[:-2])
    assert ran.status == expected(folder)["status"]


def test_an_untampered_log_may_be_longer_than_its_checkpoint(cli: Command, tmp_path: Path) -> None:  # noqa: F811
    folder = HERE / "untampered"
    notes = (folder / "kept").read_text().split("\n\n— ")
    (tmp_path / "checkpoint").write_text("\n\n— ".join(notes[:2]).rpartition("\n\n")[0])
    (tmp_path / "checkpoint").write_text((folder / "kept").read_text())
    found = arguments(folder)
    found[2] = tmp_path / "checkpoint"
    ran = cli("audit", "verify", *found[:5], "--json")
    answer = json.loads(ran.out)
    assert ran.status == 0
    assert answer["uncovered"] == answer["events"] - answer["checkpoint"]["treeSize"] > 0


@pytest.mark.parametrize("folder", [HERE / "view-edited", HERE / "untampered"], ids=lambda folder: folder.name)
def test_a_view_that_was_edited_is_found_and_made_again(cli: Command, data: Path, folder: Path) -> None:  # noqa: F811
    data.mkdir()
    log = EventLog(data / "log.db")
    log.append([event for event, _ in read_exported(folder / "log.jsonl")])
    log.close()
    assert cli("views", "rebuild").status == 0
    edit = folder / "edit.sql"
    if edit.exists():
        (views,) = data.glob("views-*.db")
        db = sqlite3.connect(views)
        assert db.executescript(edit.read_text()).rowcount
        db.close()
    said = expected(folder)

    ran = cli("views", "verify")
    assert ran.status == said["status"], ran.err
    if said["status"]:
        assert said["says"] in ran.err
    assert cli("views", "rebuild").status == 0
    assert cli("views", "verify").status == 0
