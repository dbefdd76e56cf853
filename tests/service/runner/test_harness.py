"""Calling a harness: what it is given, what is taken from it, and that it never outlives its call."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from domain.errors import Conflict
from domain.json_text import MAX_BYTES
from service.runner import guard
from service.runner.harness import Harness, HarnessFailed, Measured, Task, read_result
from service.runner.stopping import Stop, Stopped
from tests import examples

RUN = examples.run().canonical.decode()
ENVIRONMENT = examples.ENVIRONMENT.canonical.decode()
TASK = Task(rerun="r1", run=examples.run().digest, log_id="log-1", manifests={"run": msgspec.Raw(RUN.encode())})


@pytest.fixture
def stop() -> Iterator[Stop]:
    with Stop() as flag:
        yield flag


Measure = Callable[..., Measured]


@pytest.fixture
def measure(stop: Stop) -> Measure:
    """Call a harness that is this Python program."""

    def call(
        program: str, *, timeout_s: float = 30, every_s: float = 60, beat: Callable[[], float] = lambda: 60.0
    ) -> Measured:
        return Harness([sys.executable, "-c", program], timeout_s=timeout_s, stop=stop).measure(
            TASK, every_s=every_s, beat=beat
        )

    return call


def gone(pid: int) -> bool:
    """Whether the process ends, or has ended, soon."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    return False


def pid_in(file: Path) -> int:
    """The process id that a program writes to the file."""
    deadline = time.monotonic() + 20
    while not (file.exists() and file.read_text().endswith("\n")) and time.monotonic() < deadline:
        time.sleep(0.02)
    return int(file.read_text())


def waiting(file: Path) -> str:
    """A program that starts another, whose process id it writes to the file, and waits for it for long."""
    return (
        "import subprocess, sys, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(file)!r}).write_text(f'{{child.pid}}\\n')\n"
        "child.wait()"
    )


def test_it_reads_the_request_and_prints_a_run(measure: Measure) -> None:
    measured = measure("import json, sys; print(json.dumps(json.load(sys.stdin)['manifests']['run']))")
    assert measured == Measured(examples.run())


def test_it_may_print_a_new_environment_too() -> None:
    measured = read_result(f'{{"run": {RUN}, "environment": {ENVIRONMENT}}}'.encode())
    assert measured == Measured(examples.run(), examples.ENVIRONMENT)


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("", "no BenchmarkRun: it"),
        ("Traceback", "no BenchmarkRun: it"),
        ("null", "no BenchmarkRun: it"),
        ('["run"]', "no BenchmarkRun: it"),
        (ENVIRONMENT, "no BenchmarkRun: kind"),
        ('{"run": 1}', "no BenchmarkRun: run"),
        (f'{{"run": {RUN}, "environment": {RUN}}}', "no BenchmarkRun: environment kind"),
        (f'{{"run": {RUN}, "note": 1}}', r"more than \{run, environment\}"),
        (RUN.replace('"passed"', '"fine"'), "no BenchmarkRun: spec.status"),
        (RUN + RUN, "no BenchmarkRun: it"),
        (RUN.replace("8120", "NaN"), "no BenchmarkRun"),
    ],
)
def test_what_is_no_run_is_a_failure_that_says_where(printed: str, said: str) -> None:
    with pytest.raises(HarnessFailed, match=said):
        read_result(printed.encode())


def test_bytes_that_are_no_text_are_a_failure() -> None:
    with pytest.raises(HarnessFailed):
        read_result(b"\xff\xfe{}")


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("raise SystemExit(3)", "ended with status 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended with status 139"),
        (f"print('x' * {MAX_BYTES + 1})", "printed more than"),
        ("while True: print('x' * 65536)", "printed more than"),
    ],
)
def test_a_harness_that_fails_says_so_with_its_status_or_what_it_printed(
    program: str, said: str, measure: Measure
) -> None:
    with pytest.raises(HarnessFailed, match=said):
        measure(program)


def test_a_command_that_can_not_be_run_is_a_failure(stop: Stop) -> None:
    with pytest.raises(HarnessFailed, match=f"status {guard.CANT_RUN}"):
        Harness(["/no/such/harness"], timeout_s=30, stop=stop).measure(TASK, every_s=60, beat=lambda: 60.0)


def test_it_knows_no_secrets(measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELINDEX_KEY", "ki_secret")
    monkeypatch.setenv("HARNESS_SETTING", "yes")
    program = f"import os; assert os.environ['HARNESS_SETTING'] and 'KERNELINDEX_KEY' not in os.environ; print({RUN!r})"
    assert measure(program) == Measured(examples.run())


def test_what_it_leaves_behind_is_ended_with_it(measure: Measure, tmp_path: Path) -> None:
    program = waiting(tmp_path / "pid").replace("child.wait()", f"print({RUN!r})")
    assert measure(program) == Measured(examples.run())
    assert gone(pid_in(tmp_path / "pid"))


def test_it_is_ended_when_it_takes_too_long(measure: Measure, tmp_path: Path) -> None:
    with pytest.raises(HarnessFailed, match=r"did not end within 3 s"):
        measure(waiting(tmp_path / "pid"), timeout_s=3)
    assert gone(pid_in(tmp_path / "pid"))


def test_it_is_ended_when_the_runner_is_to_stop(measure: Measure, stop: Stop, tmp_path: Path) -> None:
    def beat() -> float:
        pid_in(tmp_path / "pid")
        stop.set()
        return 60.0

    with pytest.raises(Stopped):
        measure(waiting(tmp_path / "pid"), every_s=0.01, beat=beat)
    assert gone(pid_in(tmp_path / "pid"))


def test_it_is_ended_when_a_beat_raises(measure: Measure, tmp_path: Path) -> None:
    def beat() -> float:
        pid_in(tmp_path / "pid")
        raise Conflict.because("another runner has it")

    with pytest.raises(Conflict):
        measure(waiting(tmp_path / "pid"), every_s=0.01, beat=beat)
    assert gone(pid_in(tmp_path / "pid"))


def test_beats_come_while_it_works(measure: Measure, tmp_path: Path) -> None:
    """As often as they ask for, without waiting for the harness to print anything."""
    beats = 0

    def beat() -> float:
        nonlocal beats
        beats += 1
        if beats == 3:
            (tmp_path / "go").touch()
        return 0.01 if beats < 3 else 60.0

    program = f"import os, time\nwhile not os.path.exists({str(tmp_path / 'go')!r}): time.sleep(0.01)\nprint({RUN!r})"
    assert measure(program, every_s=0.01, beat=beat) == Measured(examples.run())
    assert beats == 3


def test_it_is_ended_when_its_runner_is_killed(tmp_path: Path) -> None:
    runner = f"""
import sys
from service.runner.harness import Harness
from service.runner.stopping import Stop
from tests.service.runner.test_harness import TASK
with Stop() as stop:
    Harness([sys.executable, "-c", {waiting(tmp_path / "pid")!r}], timeout_s=600, stop=stop).measure(
        TASK, every_s=600, beat=lambda: 600.0)
"""
    process = subprocess.Popen([sys.executable, "-c", runner])
    pid = pid_in(tmp_path / "pid")
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    assert gone(pid)
