"""Runs a harness so that it never outlives its runner: a program of its own, which needs nothing but Python.

``guard.py FD COMMAND…`` runs COMMAND in a session of its own and ends with its status. When the other end of the pipe
FD is closed, by the runner or because the runner is gone (``kill -9`` included), it ends COMMAND and all that it
started: a left-over harness would disturb the next measurement.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

GRACE_S = 5.0
CANT_RUN = 127


def main() -> int:
    """Run the command and answer its exit status (128 and the signal's number where one ended it)."""
    lifeline, command = int(sys.argv[1]), sys.argv[2:]
    try:
        child = subprocess.Popen(command, start_new_session=True)  # noqa: S603 this is what it is for
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)  # noqa: T201
        return CANT_RUN
    threading.Thread(target=_end_with, args=(lifeline, child.pid), daemon=True).start()
    status = child.wait()
    _signal(child.pid, signal.SIGKILL)
    return status if status >= 0 else 128 - status


def _end_with(lifeline: int, group: int) -> None:
    os.read(lifeline, 1)
    _signal(group, signal.SIGTERM)
    time.sleep(GRACE_S)
    _signal(group, signal.SIGKILL)


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


if __name__ == "__main__":
    sys.exit(main())
