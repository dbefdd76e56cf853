"""``kernelindex replay``."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from service.app import utc_now
from service.cli.output import print_json
from service.data_folder import require_log
from service.event_log import EventLog
from service.logs import quiet_logs
from service.replay import Replayed, read_moment, replay
from service.settings import Settings


async def replay_until(*, until: str, output: Path | None = None, json: bool = False) -> None:
    """Make fresh views of the log as it stood at a moment, and print what they show.

    Equal digests mean equal views, however they came to be. The views that are served stay as they are.

    Parameters
    ----------
    until
        A position, or an instant such as 2026-08-01T12:00:00Z. A position inside what was written at once means the one
        before it.
    output
        The folder to make them in, where there are none yet; without it they are thrown away.
    json
        Print it as JSON.
    """
    quiet_logs()
    moment = read_moment(until)
    path = require_log(Settings().data_dir)
    with ExitStack() as stack:
        folder = output or Path(stack.enter_context(TemporaryDirectory(prefix="kernelindex-replay-")))
        log = EventLog(path)
        stack.callback(log.close)
        replayed = await replay(log, folder, moment, utc_now())
    if json:
        print_json(_document(replayed, kept=output is not None))
    else:
        _print(replayed, kept=output is not None)


def _document(replayed: Replayed, *, kept: bool) -> dict[str, object]:
    return {
        "logId": replayed.log_id or None,
        "position": replayed.head.position,
        "knownAt": replayed.head.known_at if replayed.head.position else None,
        "views": str(replayed.path) if kept else None,
        "tables": {name: {"rows": one.rows, "digest": one.digest} for name, one in replayed.tables.items()},
    }


def _print(replayed: Replayed, *, kept: bool) -> None:
    head = replayed.head
    moment = f"Position {head.position} of log {replayed.log_id}, as of {head.known_at}."
    # Not as a rich table: that one cuts digests short to fit the terminal.
    lines = [
        moment if head.position else "Nothing had been recorded: position 0.",
        f"{'table':<16} {'rows':>9}  digest",
        *(f"{name:<16} {one.rows:>9,}  {one.digest}" for name, one in replayed.tables.items()),
        *([f"The views are in {replayed.path}."] if kept else ()),
    ]
    print(*lines, sep="\n")  # noqa: T201
