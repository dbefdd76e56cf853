"""``kernelindex demo``."""

import asyncio
import sys
from hashlib import sha256
from pathlib import Path
from shlex import join, quote

from domain.facts import SourceImported
from service.app import Index, open_index
from service.cli.output import print_report, progress
from service.cli.serving import listen, run, with_address
from service.event_log import EventLog
from service.importing.jobs import import_into
from service.logs import quiet_logs
from service.sample import FILES, FIRST_RUN
from service.settings import Settings
from service.sources.known import KNOWN
from service.web import create_app

QUERY = "{ runs(first: 3) { nodes { shortId title primary { formatted } ranking { rank groupSize } } } }"


def demo(*, port: int | None = None) -> int:
    """Import the sample and serve it, for trying things out.

    It is served on 127.0.0.1 only, and whoever is at this machine may write to it. It can be run again.

    Parameters
    ----------
    port
        The port to serve on; by default KERNELINDEX_PORT, else 8000. 0 takes a free one.
    """
    quiet_logs()
    settings = with_address(Settings(), "127.0.0.1", port)
    with listen(settings) as listener:
        settings = with_address(settings, None, listener.getsockname()[1])
        app = create_app(settings, demo=True)
        asyncio.run(_fill(settings))
        return run(app, listener, _welcome(settings))


async def _fill(settings: Settings) -> None:
    async with open_index(settings, follow=False) as index:
        missing = await asyncio.to_thread(_missing, index)
        if missing:
            with progress(missing) as advance:
                print_report(await import_into(index, missing, advance=advance))


def _missing(index: Index) -> list[Path]:
    """The files of the sample that the log does not say it has read."""
    read = _files_read(index.log)
    return [path for path in FILES if f"sha256:{sha256(path.read_bytes()).hexdigest()}" not in read]


def _files_read(log: EventLog) -> set[str]:
    histories = log.load([f"source/{slug}" for slug in KNOWN]).values()
    facts = (event.fact for history in histories for event in history)
    return {fact.file_digest for fact in facts if isinstance(fact, SourceImported)}


def _welcome(settings: Settings) -> str:
    url = settings.public_url
    return f"""
Open      {url}/
A run     {url}/runs/{FIRST_RUN}
From here curl -s {url}/graphql -H 'Content-Type: application/json' -d '{{"query": "{QUERY}"}}'
To paste  {QUERY}
Cite it   {_cite_command(settings)}

The data is in {settings.data_dir}. Ctrl-C stops the demo."""


def _cite_command(settings: Settings) -> str:
    """A command that cites the first run of this very index, wherever it is pasted."""
    given = {"KERNELINDEX_DATA_DIR": str(settings.data_dir.absolute()), "KERNELINDEX_BASE_URL": settings.public_url}
    beside = Path(sys.executable).with_name("kernelindex")
    command = [str(beside) if beside.exists() else "kernelindex", "cite", FIRST_RUN[:8], "--format", "bibtex"]
    return " ".join([*(f"{name}={quote(value)}" for name, value in given.items()), join(command)])
