"""The page of a run: everything that is known of it, now or as it stood at a position."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, cast

import msgspec

from domain.identity import hex_of
from projections import saves
from projections.model import Doc
from service.api.context import Context
from service.api.snapshot import Snapshot
from service.api.types.base import snapshot_of
from service.citations import CitationFormat
from service.pages.asking import ask
from service.pages.ranking import steps
from service.pages.rendering import render

FORMATS: Final = (
    ("bibtex", "BibTeX", CitationFormat.BIBTEX),
    ("biblatex", "BibLaTeX", CitationFormat.BIBLATEX),
    ("cslJson", "CSL-JSON", CitationFormat.CSL_JSON),
    ("ris", "RIS", CitationFormat.RIS),
    ("schemaOrg", "JSON-LD (schema.org)", CitationFormat.SCHEMA_ORG),
)
"""The field of the page's document, the name, and the format."""
LISTS: Final = ("attestations", "reruns", "issues")
"""The lists that may be longer than the page, as parameters of its address."""
MOST_SHOWN: Final = 64 * 1024
"""Characters of a manifest: one may have a mebibyte, which is nothing to read."""


async def run_page(run: Doc, context: Context, given: Mapping[str, str]) -> bytes:
    """The page of a run, as of the snapshot in which its document was read.

    ``given`` are the cursors before which its lists end, by the names of ``LISTS``: without, they show their last.
    """
    snapshot, digest, key = snapshot_of(run), run["digest"], run["comparisonKey"]
    permalink = f"{snapshot.base_url}/runs/{hex_of(digest)}"
    first = f"{permalink}/at/{(await _shown_at(snapshot, [run['position']]))[run['position']]}"
    ends = {name: given.get(name) or None for name in LISTS}
    asked = {"id": digest, "first": first, "key": key, "grouped": key is not None, **ends}
    if snapshot.pinned:
        at = {"pinned": f"{permalink}/at/{snapshot.position}", "asOf": {"position": snapshot.position}}
        data = await ask(context, "run", "RunAt", **asked, **at)
        data = {**data, **data["at"], "pinned": data["at"]["stamp"]}
    else:
        data = {**await ask(context, "run", "Run", **asked), "pinned": None}
    told = [*data["run"]["evidence"]["reasons"], *data["history"]["changes"], run]
    shown_at = await _shown_at(snapshot, [one["position"] for one in told])
    # A page of this size takes some milliseconds to write, in which others are to be served.
    return await asyncio.to_thread(_written, {**data, "ends": ends, "shown_at": shown_at})


async def _shown_at(snapshot: Snapshot, positions: Sequence[int]) -> Mapping[int, int]:
    """From which positions on the index shows these events: inside of a save it shows nothing."""
    return cast(
        "Mapping[int, int]",
        await snapshot.read(lambda db: {one: saves.end_of(db, one).position for one in set(positions)}),
    )


def _written(data: Doc) -> bytes:
    run, pinned, changes = data["run"], data["pinned"], data["history"]["changes"]
    if pinned:
        # Where it stands in its group is told as what has changed up to the present: no part of what was known then.
        changes = [
            one for one in changes if one["position"] <= pinned["position"] and one["aspect"] not in ("RANK", "LEADER")
        ]
    path = f"/runs/{hex_of(run['digest'])}"
    values = {
        **data,
        **steps(data),
        "path": path,
        "now": path,
        "address": f"{path}/at/{pinned['position']}" if pinned else path,
        "since": data["since"]["changes"] if pinned else [],
        "history": changes,
        "formats": [(name, title, one.value.suffix) for name, title, one in FORMATS],
        "manifests": [(name, _readable(one["manifest"])) for name, one in _parts(run) if one],
    }
    return render("run.html", values)


def _parts(run: Doc) -> list[tuple[str, Doc | None]]:
    return [("run", run), ("protocol", run["protocol"]), ("environment", run["environment"])]


def _readable(manifest: str) -> str | None:
    return indented(manifest) if len(manifest) <= MOST_SHOWN else None


def indented(json_text: str) -> str:
    """JSON for people: the same text but for white space, so that numbers stay as they are written."""
    return msgspec.json.format(json_text, indent=2)
