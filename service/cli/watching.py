"""``kernelindex watch``."""

import os
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final

import httpx
from cyclopts import Parameter

from service.cli.output import print_json
from service.cli.pushing import KEY
from service.memory import search_garbage_less
from service.remote_stream import Message, follow

QUERY: Final = """
subscription Watch($filter: RunFilter) {
  newRuns(filter: $filter) {
    __typename
    ... on LogMessage { cursor position }
    ... on NewRun {
      run { digest shortId title permalink status recordedAt primary { formatted } ranking { rank groupSize } }
    }
  }
}
"""


def watch(
    *,
    server: Annotated[str, Parameter(name="--server")],
    operation: str | None = None,
    hardware: str | None = None,
    source: str | None = None,
    from_start: bool = False,
    state: Path | None = None,
    json: bool = False,
) -> int:
    """Print new runs of a running index as they are recorded, until Ctrl-C.

    Started again it goes on where it stopped, and the first time at the present. A line that is lost is found again.

    Parameters
    ----------
    server
        The address of the index, such as http://127.0.0.1:8000.
    operation
        Only runs of this operation.
    hardware
        Only runs on this product.
    source
        Only runs from the source of this slug.
    from_start
        Print every run that there is first, instead of going on where it stopped.
    state
        The file that keeps where it stopped; by default one for each server and filter, in ~/.local/state/kernelindex.
    json
        Print each run as JSON on a line.
    """
    search_garbage_less()
    given = {"operation": operation, "hardware": hardware, "source": source}
    chosen = {name: value for name, value in given.items() if value is not None}
    place = _Place(state or _default_state(server, chosen))
    cursor = "LOG_START" if from_start else place.cursor()
    key = os.environ.get(KEY)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with httpx.Client(base_url=server.rstrip("/"), headers=headers) as http:
        for message in follow(http, QUERY, {"filter": chosen}, cursor=cursor, pause=_pause):
            if message.doc["__typename"] == "NewRun":
                _print(message, as_json=json)
            place.keep(message.cursor)
    return 0


class _Place:
    """Where a watch stopped, kept in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def cursor(self) -> str | None:
        """The cursor that was kept, if there is one."""
        try:
            return self._path.read_text().strip() or None
        except FileNotFoundError:
            return None

    def keep(self, cursor: str) -> None:
        """Keep a cursor: whole or not at all, whenever this is killed."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        beside.write_text(f"{cursor}\n")
        beside.replace(self._path)


def _default_state(server: str, chosen: dict[str, str]) -> Path:
    home = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    name = sha256(repr((server.rstrip("/"), sorted(chosen.items()))).encode()).hexdigest()[:16]
    return home / "kernelindex" / f"watch-{name}"


def _print(message: Message, *, as_json: bool) -> None:
    run: dict[str, Any] | None = message.doc["run"]
    if run is None:
        return
    if as_json:
        print_json({**message.doc, "cursor": message.cursor}, pretty=False)
    else:
        ranking = run["ranking"]
        rank = f"rank {ranking['rank']} of {ranking['groupSize']}" if ranking["rank"] else run["status"].lower()
        value = run["primary"]["formatted"] if run["primary"] else "-"
        print(f"{run['recordedAt'][:19]}Z  {value:>10}  {rank:<14}  {run['title']}  {run['permalink']}")  # noqa: T201 results
    sys.stdout.flush()


def _pause(seconds: float, reason: str) -> None:
    print(f"{reason}; trying again in {seconds:g} s", file=sys.stderr, flush=True)  # noqa: T201 who watches should know
    time.sleep(seconds)
