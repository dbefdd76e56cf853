"""``kernelindex runner``, up to where it asks an index; the rest is seen in tests/e2e/test_reruns.py."""

import base64
from pathlib import Path

import pytest

from service.runner import key_file
from tests.service.cli.conftest import Command


@pytest.fixture
def key(tmp_path: Path) -> Path:
    key_file.make(tmp_path / "runner.key")
    return tmp_path / "runner.key"


def test_a_key_is_made_and_its_public_half_printed(cli: Command, tmp_path: Path) -> None:
    made = cli("runner", "key", tmp_path / "new.key")
    assert made.status == 0
    assert len(base64.b64decode(made.out.strip(), validate=True)) == 32
    assert made.out.strip() == key_file.public_text(key_file.read(tmp_path / "new.key"))


def test_a_key_is_not_made_twice(cli: Command, key: Path) -> None:
    before = key.read_bytes()
    again = cli("runner", "key", key)
    assert (again.status, again.out) == (1, "")
    assert again.err == f"error: {key}: File exists\n"
    assert key.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no COMMAND is given"),
        (["--", "no-such-harness"], "no-such-harness can't be run"),
        (["--poll-s", "0", "--", "true"], "--poll-s: 0.0 is no number of seconds"),
        (["--timeout-s", "nan", "--", "true"], "--timeout-s: nan is no number of seconds"),
    ],
)
def test_what_can_not_work_is_said_before_anything_is_asked_for(
    arguments: list[str], said: str, cli: Command, key: Path
) -> None:
    ran = cli("runner", "run", "--server", "http://127.0.0.1:9", "--key", key, "--runner", "r", *arguments)
    assert ran.status == 1
    assert ran.err.startswith("error: ")
    assert said in ran.err


def test_a_key_that_others_can_read_is_not_used(cli: Command, key: Path) -> None:
    key.chmod(0o644)
    ran = cli("runner", "run", "--server", "http://127.0.0.1:9", "--key", key, "--runner", "r", "--", "true")
    assert ran.status == 1
    assert "others can read or change it (mode 0644)" in ran.err
