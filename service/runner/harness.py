"""Calling the harness: the program that measures. What it prints is checked before anyone else sees it."""

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from domain.errors import InvalidInput
from domain.json_text import MAX_BYTES, read_json
from domain.manifests import Kind, Manifest, read_manifest
from service.runner import guard
from service.runner.stopping import Stop, Stopped

TICK_S: Final = 1.0
SECRETS: Final = frozenset({"KERNELINDEX_KEY", "KERNELINDEX_KEY_SECRET"})
"""What a harness, which runs the code of others, has no business to know."""

Beat = Callable[[], float]
"""Called while the harness works; answers after how many seconds to call it again. It raises to stop the harness."""


class HarnessFailed(Exception):
    """The harness gave no usable result. Its text is public: it becomes the reason in the log."""


class Measured(msgspec.Struct, frozen=True):
    """What a harness measured, and the environment where it says that this one is new."""

    run: Manifest
    environment: Manifest | None = None


class Task(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What a harness reads from standard input: the request, the digest of its run, and all that this refers to.

    ``manifests`` are those of the run, implementation, workload, operation, protocol and environment, by these names.
    """

    rerun: str
    run: str
    log_id: str
    manifests: Mapping[str, msgspec.Raw]


class Harness:
    """A command that reads a :class:`Task` as JSON and prints a BenchmarkRun manifest, or ``{run, environment}``."""

    def __init__(self, command: Sequence[str], *, timeout_s: float, stop: Stop) -> None:
        self._command = list(command)
        self._timeout_s = timeout_s
        self._stop = stop

    def measure(self, task: Task, *, every_s: float, beat: Beat) -> Measured:
        """Have it measure, calling ``beat`` first after ``every_s``, then as that says.

        Raises :class:`HarnessFailed`, :class:`Stopped`, and whatever ``beat`` raises; the harness is ended then.
        """
        lifeline, ours = os.pipe()
        with tempfile.TemporaryFile() as given:
            given.write(msgspec.json.encode(task))
            given.seek(0)
            process = subprocess.Popen(  # noqa: S603 the operator's own command
                [sys.executable, "-I", guard.__file__, str(lifeline), *self._command],
                stdin=given,
                stdout=subprocess.PIPE,
                pass_fds=[lifeline],
                start_new_session=True,
                env={name: value for name, value in os.environ.items() if name not in SECRETS},
            )
        os.close(lifeline)
        try:
            printed = self._collect(process, every_s, beat)
        finally:
            os.close(ours)
            process.wait()
            if process.stdout:
                process.stdout.close()
        if process.returncode:
            raise HarnessFailed(f"the harness ended with status {process.returncode}")
        return read_result(printed)

    def _collect(self, process: "subprocess.Popen[bytes]", every_s: float, beat: Beat) -> bytes:
        """All that it prints until it ends."""
        if process.stdout is None:
            raise AssertionError("its output is a pipe")
        output, stop, printed = process.stdout.fileno(), self._stop.fileno(), bytearray()
        now = time.monotonic()
        deadline, next_beat = now + self._timeout_s, now + every_s
        while True:
            now = time.monotonic()
            if now >= deadline:
                raise HarnessFailed(f"the harness did not end within {self._timeout_s:g} s")
            if now >= next_beat:
                next_beat = now + beat()
            wait = min(TICK_S, deadline - now, max(next_beat - now, 0))
            ready, _, _ = select.select([output, stop], [], [], wait)
            if stop in ready:
                raise Stopped
            if output in ready:
                chunk = os.read(output, 65_536)
                if not chunk:
                    return bytes(printed)
                printed += chunk
                if len(printed) > MAX_BYTES:
                    raise HarnessFailed(f"the harness printed more than {MAX_BYTES} bytes")
            elif process.poll() is not None:
                # It has ended, and left somebody behind who holds its output open.
                return bytes(printed)


def read_result(printed: bytes) -> Measured:
    """What was printed, as manifests. Raises :class:`HarnessFailed` with the first thing that is wrong."""
    try:
        tree: Any = read_json(printed)
        if not isinstance(tree, dict) or "kind" in tree or "run" not in tree:
            return Measured(read_manifest(tree, kinds=[Kind.BENCHMARK_RUN]))
        if not tree.keys() <= {"run", "environment"}:
            raise HarnessFailed("the harness printed more than {run, environment}")
        run = read_manifest(tree["run"], document="run", kinds=[Kind.BENCHMARK_RUN])
        if "environment" not in tree:
            return Measured(run)
        kinds = [Kind.EXECUTION_ENVIRONMENT]
        return Measured(run, read_manifest(tree["environment"], document="environment", kinds=kinds))
    except InvalidInput as error:
        problem = error.problems[0]
        where = " ".join(part for part in (problem.document, problem.path) if part)
        raise HarnessFailed(f"the harness printed no BenchmarkRun: {where or 'it'}: {problem.message}") from None
