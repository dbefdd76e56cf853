"""What all commands have in common: help, exit statuses, errors in a line."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from service.cli.failures import lines_of
from service.sample import FILES
from tests.service.cli.conftest import Command

COMMANDS = ("import", "serve", "query", "compare", "push", "demo", "schema", "manifest", "sources", "keys")


def test_help_names_every_command(cli: Command) -> None:
    shown = cli("--help")
    assert shown.status == 0
    assert all(command in shown.out for command in COMMANDS)
    assert "KERNELINDEX_DATA_DIR" in shown.out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(cli: Command, command: str) -> None:
    shown = cli(command, "--help")
    assert shown.status == 0
    assert shown.out.startswith(f"Usage: kernelindex {command}")


@pytest.mark.parametrize(
    "arguments",
    [("impart",), ("import",), ("import", "--unknown", "x"), ("push", "x"), ("serve", "--port", "many"), ("query",)],
    ids=" ".join,
)
def test_misuse_is_status_2_and_says_why(cli: Command, arguments: tuple[str, ...]) -> None:
    misused = cli(*arguments)
    assert misused.status == 2
    assert misused.err


def test_a_setting_that_can_not_be_is_told_by_its_name(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELINDEX_PORT", "eighty")
    failed = cli("serve")
    assert failed.status == 1
    assert failed.err.startswith("error: KERNELINDEX_PORT: ")


def test_a_data_folder_that_can_not_be_made_is_told_in_a_line(
    cli: Command, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data.write_text("a file")
    failed = cli("import", FILES[1])
    assert failed.status == 1
    assert failed.err.splitlines() == [f"error: {data}: File exists"]


def test_a_log_that_is_no_database_is_told_in_a_line(cli: Command, data: Path) -> None:
    data.mkdir()
    (data / "log.db").write_text("certainly no database" * 100)
    failed = cli("import", FILES[1])
    assert failed.status == 1
    assert failed.err.count("\n") == 1
    assert "not a database" in failed.err


def test_a_failure_that_nobody_foresaw_keeps_its_traceback() -> None:
    assert lines_of(ZeroDivisionError()) == []
    assert lines_of(sqlite3.OperationalError("disk full")) == ["error: the data folder can't be used: disk full"]


def test_the_program_runs_from_a_shell_and_a_reader_may_stop_reading(process: Command) -> None:
    whole = process("schema")
    assert whole.status == 0
    assert "type Query" in whole.out
    script = f"{sys.executable} -c 'from service.cli import main; main()' schema | head -c 10"
    stopped = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert stopped.stderr == ""
