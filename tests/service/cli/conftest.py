"""The command line, run in this process or as one of its own."""

import logging
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from service.cli import main
from service.logs import NAME

Ran = tuple[int, str, str]
Command = Callable[..., "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    status: int
    out: str
    err: str


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of a test, not made yet."""
    folder = tmp_path / "data"
    monkeypatch.setenv("KERNELINDEX_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def cli(data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run ``kernelindex`` with these arguments, in this process."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["kernelindex", *map(str, arguments)])
        logger = logging.getLogger(NAME)
        before = logger.level, logger.handlers
        with pytest.raises(SystemExit) as ended:
            main()
        logger.setLevel(before[0])
        logger.handlers = before[1]
        out, err = capsys.readouterr()
        status = ended.value.code
        return Outcome(status if isinstance(status, int) else int(status is not None), out, err)

    return run


@pytest.fixture
def process(data: Path) -> Command:
    """Run ``kernelindex`` with these arguments as it is run from a shell."""

    def run(*arguments: object) -> Outcome:
        command = [sys.executable, "-c", "from service.cli import main; main()", *map(str, arguments)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        return Outcome(ran.returncode, ran.stdout, ran.stderr)

    return run
