"""An Atom feed (RFC 4287) of the changes of records as they became known, for people without a client."""

from typing import Any, Final
from urllib.parse import urlencode
from xml.etree import ElementTree as ET

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from domain.errors import ErrorCode, InvalidInput
from domain.identity import hex_of, is_digest
from domain.records import RecordBasis
from projections import records, saves
from projections.model import Doc
from projections.paging import Window, page
from service.api.context import Context
from service.api.snapshot import Snapshot

PATH: Final = "/feeds/records.atom"
SIZE: Final = 50
MEDIA_TYPE: Final = "application/atom+xml"
_ATOM: Final = "http://www.w3.org/2005/Atom"
ET.register_namespace("", _ATOM)


async def record_feed(request: Request, context: Context) -> Response:
    """The newest changes, of all groups or of the one that ``comparisonKey`` names."""
    key = request.query_params.get("comparisonKey")
    if key is not None and not is_digest(key):
        raise InvalidInput.because(
            f"{key[:100]!r} is not a comparison key",
            code=ErrorCode.INVALID_ARGUMENT,
            path="comparisonKey",
            remedy="take it from a run",
        )
    snapshot = context.snapshot
    listing = records.listing(RecordBasis.AS_KNOWN, key)
    found = await snapshot.read(lambda db: page(db, listing, Window(SIZE, backward=True), snapshot.position))
    changes = [snapshot.adopt(msgspec.json.decode(row.text)) for _, row in reversed(found.rows)]
    tag = f'"{snapshot.log_id}-{changes[0]["position"] if changes else 0}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    text = ET.tostring(await _feed(snapshot, changes, key), encoding="utf-8", xml_declaration=True)
    return Response(text, headers=headers, media_type=MEDIA_TYPE)


async def _feed(snapshot: Snapshot, changes: list[Doc], key: str | None) -> ET.Element:
    opened, beginning = await snapshot.read(_origin)
    about = f"tag:{opened},{beginning[:10]}:{snapshot.log_id}/records"
    feed = ET.Element(f"{{{_ATOM}}}feed")
    _add(feed, "id", f"{about}/{hex_of(key)}" if key else about)
    _add(feed, "title", "KernelIndex: records" if key is None else "KernelIndex: records of a group")
    own = f"{snapshot.base_url}{PATH}" + (f"?{urlencode({'comparisonKey': key})}" if key else "")
    _add(feed, "link", rel="self", href=own, type=MEDIA_TYPE)
    _add(feed, "link", rel="alternate", href=f"{snapshot.base_url}/")
    _add(_add(feed, "author"), "name", "KernelIndex")
    times = await snapshot.read(lambda db: [saves.end_of(db, one["position"]).known_at for one in changes])
    _add(feed, "updated", times[0] if times else beginning)
    for change, time in zip(changes, times, strict=True):
        await _entry(feed, about, snapshot, change, time)
    return feed


async def _entry(feed: ET.Element, about: str, snapshot: Snapshot, change: Doc, time: str) -> None:
    """An entry whose id is that of the group and the position: the same for ever, wherever the log is served."""
    key, position = change["comparisonKey"], change["position"]
    group = await snapshot.document("rankings", key) or {}
    operation = await snapshot.document("operations", group["operation"]) if group else None
    entry = _add(feed, "entry")
    _add(entry, "id", f"{about}/{hex_of(key)}/{position}")
    _add(entry, "updated", time)
    _add(entry, "title", f"{_what(change)}: {operation['name'] if operation else hex_of(key)[:8]}")
    holder = change["run"] or change["previousRun"]
    _add(entry, "link", rel="alternate", href=f"{snapshot.base_url}/runs/{hex_of(holder)}/at/{position}")
    run = await snapshot.document("runs", holder)
    _add(entry, "summary", f"{run['title'] if run else holder} ({change['cause']}, position {position} of the log)")


def _what(change: Doc) -> str:
    before, now = change["previousValue"], change["value"]
    if now is None:
        return f"No record any more (was {before['formatted']})"
    return f"Record {now['formatted']}" + (f" (was {before['formatted']})" if before else "")


def _origin(db: Any) -> tuple[str, str]:
    """The authority that named the log, and when it was opened."""
    origin = db.execute("SELECT origin FROM log").fetchone()[0]
    return str(origin).partition("/")[0], saves.end_of(db, 1).known_at


def _add(parent: ET.Element, name: str, text: str | None = None, **attributes: str) -> ET.Element:
    child = ET.SubElement(parent, f"{{{_ATOM}}}{name}", attributes)
    child.text = text
    return child
