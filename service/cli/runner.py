"""``kernelindex runner``: make a runner's key, and run it."""

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from domain.errors import InvalidInput
from service.cli.pushing import KEY
from service.logs import configure_logs
from service.memory import search_garbage_less
from service.runner import key_file
from service.runner.bell import Bell
from service.runner.client import GraphQLIndex
from service.runner.harness import Harness
from service.runner.loop import Runner
from service.runner.spool import Spool
from service.runner.stopping import stopped_by_signals

app = App(
    name="runner",
    help="Measure runs again, for an index that has approved this machine.",
    help_format="plaintext",
    default_parameter=Parameter(negative=""),
)


@app.command
def key(file: Annotated[Path, Parameter(name="FILE", help="Where to keep the private key.")]) -> None:
    """Make a runner's Ed25519 key in a new file, and print the public key that an administrator approves."""
    sys.stdout.write(key_file.public_text(key_file.make(file)) + "\n")


@app.command
def run(
    *command: Annotated[str, Parameter(name="COMMAND", allow_leading_hyphen=True)],
    server: Annotated[str, Parameter(name="--server")],
    key: Annotated[Path, Parameter(name="--key")],
    runner: Annotated[str, Parameter(name="--runner")],
    once: bool = False,
    poll_s: float = 30.0,
    timeout_s: float = 3600.0,
) -> None:
    """Take one open request after the other, have COMMAND measure it, sign and record what it prints.

    COMMAND reads a request with its manifests as JSON from standard input and prints a BenchmarkRun manifest, or
    {run, environment} where the environment is new. It comes last, after --. The API key of the runner's operator is
    taken from KERNELINDEX_KEY. What was begun when the runner was killed is finished when it is started again.

    Parameters
    ----------
    command
        The harness and its arguments.
    server
        The address of the index, such as https://index.example.
    key
        The file that `kernelindex runner key` made; FILE.spool beside it holds what is not recorded yet.
    runner
        The id under which the runner was approved.
    once
        Stop after one request.
    poll_s
        How many seconds to wait before looking again where nothing is to be done: new requests are heard of at once,
        ones whose lease has run out are found by looking.
    timeout_s
        How many seconds COMMAND may take; a request that takes longer is given back.
    """
    configure_logs()
    search_garbage_less()
    private = key_file.read(key)
    _require(command, poll_s, timeout_s)
    spool = Spool(key)
    with (
        spool.held(),
        stopped_by_signals() as stop,
        GraphQLIndex(server, os.environ.get(KEY), runner=runner, stop=stop) as index,
    ):
        harness = Harness(command, timeout_s=timeout_s, stop=stop)
        api_key = os.environ.get(KEY)
        Runner(index, harness, spool, private, stop, hang_up=lambda hardware: Bell(server, api_key, hardware)).run(
            poll_s=poll_s, once=once
        )


def _require(command: tuple[str, ...], poll_s: float, timeout_s: float) -> None:
    if not command:
        raise InvalidInput.because("no COMMAND is given", remedy="name the harness at the end: -- COMMAND")
    if shutil.which(command[0]) is None:
        raise InvalidInput.because(f"{command[0]} can't be run", path="COMMAND", remedy="name a program on the PATH")
    for name, seconds in (("--poll-s", poll_s), ("--timeout-s", timeout_s)):
        if not 0 < seconds < float("inf"):
            raise InvalidInput.because(f"{seconds} is no number of seconds", path=name, remedy="take one above 0")
