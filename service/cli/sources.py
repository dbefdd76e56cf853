"""``kernelindex sources``."""

from typing import Any

from rich.console import Console
from rich.table import Table

from domain.errors import ErrorCode, InvalidInput
from service.cli.output import print_json
from service.sources.base import Source
from service.sources.known import KNOWN
from service.sources.registry import SOURCES


def list_sources(*, json: bool = False) -> None:
    """List the formats of sources that `import` reads.

    Parameters
    ----------
    json
        Print them as JSON.
    """
    if json:
        print_json([_described(source) for source in SOURCES.values()])
        return
    table = Table("name", "records of", "reads", box=None, pad_edge=False)
    for source in SOURCES.values():
        table.add_row(source.name, source.slug, source.reads)
    Console(highlight=False).print(table)


def describe_source(name: str, *, json: bool = False) -> None:
    """Say what one of them reads, what it needs to be told, and which conventions it follows.

    Parameters
    ----------
    name
        Its name, as `list` shows it.
    json
        Print it as JSON.
    """
    source = SOURCES.get(name)
    if source is None:
        raise InvalidInput.because(
            f"there is no source called {name}",
            code=ErrorCode.NOT_FOUND,
            remedy=f"the sources are {', '.join(SOURCES)}",
        )
    if json:
        print_json(_described(source))
        return
    known = KNOWN[source.slug]
    lines = [
        f"{source.name}, version {source.version}",
        f"records of: {known.name} ({source.slug}), {known.homepage}",
        f"reads: {source.reads}",
        f"needs: {source.needs}",
        *(f"* {convention}" for convention in source.conventions),
    ]
    Console(highlight=False, soft_wrap=True).print(*lines, sep="\n", markup=False)


def _described(source: Source) -> dict[str, Any]:
    return {
        "name": source.name,
        "slug": source.slug,
        "version": source.version,
        "reads": source.reads,
        "needs": source.needs,
        "conventions": source.conventions,
    }
