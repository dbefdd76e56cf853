"""What a person at the terminal is told on bad days: a line and an exit status, never a traceback."""

import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from service.sample import FILES
from tests.service.cli.conftest import Command, Outcome

MANIFESTS = Path(__file__).parents[2] / "fixtures" / "manifests"
COMMANDS = {
    "query": ("query", "{stamp{position}}"),
    "import": ("import", MANIFESTS),
    "dry run": ("import", MANIFESTS, "--dry-run"),
    "serve": ("serve", "--port", "0"),
}


def pages_overwritten(log: Path) -> None:
    with log.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xab" * (log.stat().st_size - 4096))


def cut_in_half(log: Path) -> None:
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size // 2)


def another_file(log: Path) -> None:
    log.write_bytes(b"\xab" * 10_000)


def event_overwritten(log: Path) -> None:
    with sqlite3.connect(log) as db:
        db.execute("UPDATE stored_events SET state = x'7b22' WHERE originator_id = 'log' AND originator_version = 2")
    for views in log.parent.glob("views-*"):
        views.unlink()


@pytest.mark.parametrize("damage", [pages_overwritten, cut_in_half, another_file, event_overwritten])
@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_damaged_log_is_said_in_a_line_and_the_process_ends(
    process: Command, data: Path, damage: Callable[[Path], None], arguments: tuple[object, ...]
) -> None:
    assert process("import", MANIFESTS).status == 0
    damage(data / "log.db")
    failed = process(*arguments)
    assert failed.status == 1
    assert [line[:7] for line in failed.err.splitlines()] == ["error: "]


def test_a_full_disk_is_said_and_what_was_recorded_before_is_still_there(process: Command, data: Path) -> None:
    assert process("import", MANIFESTS).status == 0
    before = process("query", "{runs{totalCount}}").out
    full = limited(1024 * 1024, "import", *FILES)
    assert full.status == 1
    assert full.err.splitlines()[-1].startswith("error: nothing was recorded: ")
    assert "Traceback" not in full.err
    after = process("query", "{runs{totalCount}}").out
    assert before.splitlines()[:5] == after.splitlines()[:5]
    assert process("import", *FILES).status == 0


def limited(size: int, *arguments: object) -> Outcome:
    """Run ``kernelindex`` where no file can grow beyond so many bytes."""
    ran = subprocess.run(
        [sys.executable, "-c", "from service.cli import main; main()", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )
    return Outcome(ran.returncode, ran.stdout, ran.stderr)
