"""The log as people read it: its events, the proof that each is in it, and what the log promises."""

from typing import Any, Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from domain.errors import NotFound
from domain.facts import EVENTS
from service.api.context import Context
from service.api.cursors import log_cursor
from service.pages.answers import page
from service.pages.asking import ask
from service.pages.parameters import ROWS, after, field, position
from service.pages.run import indented

FILTERS: Final = ("type", "stream", "actor", "run")


async def log(request: Request, context: Context) -> Response:
    """``GET /audit``: events by type, stream, actor or run, from a position on; without any of these, the last ones."""
    given = {name: field(request, name) for name in FILTERS}
    start = _start(request, context, filtered=any(given.values()))
    data = await ask(context, "audit", "Log", filter=_filter(given), first=ROWS, after=start)
    values = {
        "given": {**given, "from": field(request, "from")},
        "types": sorted(EVENTS),
        "query": urlencode([(name, value) for name, value in given.items() if value]),
    }
    return page(request, "audit.html", {**data, **values})


async def event(request: Request, context: Context) -> Response:
    """``GET /audit/<position>``: one event, its hashes, and the proof that it is in the log."""
    place = position(request.path_params["position"], "position")
    if not 1 <= place <= context.snapshot.position:
        raise NotFound.because(
            f"the log has no position {place}", remedy="the foot of this index's pages says where it ends"
        )
    data = await ask(context, "audit", "Event", id=f"event/{place}", position=place)
    text = data["node"]["data"]
    return page(request, "event.html", {**data, "event": data["node"], "text": indented(text) if text else None})


def _filter(given: dict[str, str]) -> dict[str, Any]:
    asked: dict[str, Any] = {name: given[name] for name in ("stream", "actor", "run") if given[name]}
    return asked | ({"types": [given["type"]]} if given["type"] else {})


def _start(request: Request, context: Context, *, filtered: bool) -> str | None:
    """The cursor of the place after which the page begins."""
    if cursor := after(request):
        return cursor
    snapshot = context.snapshot
    if wanted := field(request, "from"):
        return log_cursor(snapshot.log_id, max(position(wanted, "from") - 1, 0))
    return None if filtered else log_cursor(snapshot.log_id, max(snapshot.position - ROWS, 0))
