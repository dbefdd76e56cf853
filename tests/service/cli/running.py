"""Servers as they are started from a shell."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Server:
    """A running ``kernelindex serve`` or ``demo``. ``lines`` is what it has printed so far."""

    def __init__(self, *arguments: str, data: Path, **environment: str) -> None:
        self.lines: list[str] = []
        self._said = threading.Condition()
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from service.cli import main; main()", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ
            | {"KERNELINDEX_DATA_DIR": str(data), "KERNELINDEX_REQUESTS_PER_MINUTE": "1000000"}
            | environment,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def url(self, timeout_s: float = 30) -> str:
        """Its address, once it has printed one and said that Ctrl-C ends it."""
        with self._said:
            started = self._said.wait_for(lambda: any("Ctrl-C" in line for line in self.lines), timeout_s)
        text = "".join(self.lines)
        found = re.search(r"http://127\.0\.0\.1:[0-9]+", text)
        if not started or not found:
            raise RuntimeError(f"it did not start: {text}")
        return found[0]

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send it a signal and wait for its end. Answers its exit status."""
        self._process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """Wait for its end. Answers its exit status."""
        status = self._process.wait(timeout=30)
        self._reader.join(timeout=10)
        return status

    def close(self) -> None:
        """End it whatever it does."""
        if self._process.poll() is None:
            self._process.kill()
        self.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            with self._said:
                self.lines.append(line)
                self._said.notify_all()


@contextmanager
def running(*arguments: str, data: Path, **environment: str) -> Iterator[Server]:
    """Start ``kernelindex`` with these arguments; it ends with the context."""
    server = Server(*arguments, data=data, **environment)
    try:
        yield server
    finally:
        server.close()
