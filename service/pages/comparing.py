"""The page that puts runs side by side, and the same to take away."""

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from domain.errors import NotFound
from service.api.context import Context
from service.pages.answers import REVALIDATED, page
from service.pages.asking import show
from service.pages.parameters import found

SUFFIXES: Final[Mapping[str, tuple[str, str]]] = {
    "json": ("JSON", "application/json"),
    "md": ("MARKDOWN", "text/markdown; charset=utf-8"),
    "csv": ("CSV", "text/csv; charset=utf-8"),
}
REMEDY: Final = "give ids of runs: digests, prefixes of at least 8 hex digits, or aliases"


def asked_ids(request: Request) -> list[str]:
    """The ids in ``?id=…&id=…``; a form's one field may hold several, with spaces or commas between."""
    return [one for text in request.query_params.getlist("id") for one in re.split(r"[\s,]+", text) if one]


async def compare(request: Request, context: Context) -> Response:
    """``GET /compare?id=…&id=…``: what differs; ``&all=1`` shows what is equal too. Without ids, a form."""
    ids = asked_ids(request)
    every = request.query_params.get("all") == "1"
    if len(ids) < 2:
        return page(request, "compare-form.html", {**await show(request, context, "stamp", "Stamp"), "ids": ids})
    data = await show(request, context, "compare", "Compare", ids=ids, differing=not every)
    found(data["compare"], "runs", REMEDY)
    return page(request, "compare.html", {**data, "every": every, "query": _query(ids), "formats": list(SUFFIXES)})


async def export(request: Request, context: Context) -> Response:
    """``GET /compare.json``, ``.md`` or ``.csv``: the whole comparison as a document."""
    suffix = request.path_params["suffix"]
    if suffix not in SUFFIXES:
        raise NotFound.because("nothing is served at this path", remedy="ask for .json, .md or .csv")
    form, media_type = SUFFIXES[suffix]
    data = await show(request, context, "compare", "Export", ids=asked_ids(request), format=form)
    compared = found(data["compare"], "runs", REMEDY)
    headers = {"Cache-Control": REVALIDATED, "X-Content-Type-Options": "nosniff"}
    return Response(compared["export"], headers=headers, media_type=media_type)


def _query(ids: Sequence[str]) -> str:
    return urlencode([("id", one) for one in ids])
