"""``kernelindex push``."""

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from service.cli.output import print_json, print_report, progress
from service.importing.files import find
from service.importing.sending import Sender

KEY = "KERNELINDEX_KEY"


def push(path: Path, /, *paths: Path, server: Annotated[str, Parameter(name="--server")], json: bool = False) -> int:
    """Send bundles to a running index.

    The key that it asks for is taken from KERNELINDEX_KEY. What was sent before is not recorded twice. The exit status
    is 1 when something was refused.

    Parameters
    ----------
    path
        A file of one bundle (.json, .yaml), of bundles a line (.jsonl), compressed or not (.zst), or a folder of them.
    paths
        More of them.
    server
        The address of the index, such as http://127.0.0.1:8000.
    json
        Print the whole report as JSON.
    """
    wanted = [path, *paths]
    files, _ = find(wanted)
    with progress(files) as advance:
        report = Sender(server, os.environ.get(KEY), advance=advance).send(wanted)
    if json:
        print_json(report.to_json())
    else:
        print_report(report)
    return 1 if report.refused else 0
