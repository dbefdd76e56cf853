"""The page of a run: everything that is known of it, now or as it stood at a position."""

import asyncio
import sqlite3
from collections.abc import Mapping
from typing import Final

import msgspec

from domain.identity import hex_of
from projections import saves
from projections.model import Doc
from service.api.context import Context
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

    def first_shown(db: sqlite3.Connection) -> int:
        return saves.end_of(db, run["position"]).position

    first = f"{permalink}/at/{await snapshot.read(first_shown)}"
    asked = {"id": digest, "first": first, "key": key, "grouped": key is not None}
    ends = {name: given.get(name) or None for name in LISTS}
    if not snapshot.pinned:
        data = await ask(context, "run", "Run", **asked, **ends)
        return await _written({**data, "pinned": None}, ends)
    at = {"pinned": f"{permalink}/at/{snapshot.position}", "asOf": {"position": snapshot.position}}
    data = await ask(context, "run", "RunAt", **asked, **ends, **at)
    return await _written({**data, **data["at"], "pinned": data["at"]["stamp"]}, ends)


async def _written(data: Doc, ends: Doc) -> bytes:
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
        "ends": ends,
        "since": data["since"]["changes"] if pinned else [],
        "history": changes,
        "formats": [(name, title, one.value.suffix) for name, title, one in FORMATS],
        "manifests": [(name, _readable(one["manifest"])) for name, one in _parts(run) if one],
    }
    # A page of this size takes some milliseconds to write, in which others are to be served.
    return await asyncio.to_thread(render, "run.html", values)


def _parts(run: Doc) -> list[tuple[str, Doc | None]]:
    return [("run", run), ("protocol", run["protocol"]), ("environment", run["environment"])]


def _readable(manifest: str) -> str | None:
    return indented(manifest) if len(manifest) <= MOST_SHOWN else None


def indented(json_text: str) -> str:
    """JSON for people: the same text but for white space, so that numbers stay as they are written."""
    return msgspec.json.format(json_text, indent=2)
