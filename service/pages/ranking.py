"""The page of a group: its order with each run's bar against the leader's, and the steps of its record."""

import re
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from projections.model import Doc
from service.api.context import Context
from service.pages.answers import page
from service.pages.asking import show
from service.pages.parameters import ROWS, after, found

HEX: Final = re.compile(r"[0-9a-f]{64}")
MIN_STEPS: Final = 3
"""How many values a record must have had before a drawing says more than its table."""


async def ranking(request: Request, context: Context) -> Response:
    """``GET /rankings/<key>``: the group whose comparison key has these 64 hex digits; ``?after=`` goes on in it."""
    key = request.path_params["key"].removeprefix("sha256:")
    data: Doc = {"ranking": None}
    if HEX.fullmatch(key):
        data = await show(request, context, "ranking", "Ranking", key=f"sha256:{key}", first=ROWS, after=after(request))
    group = found(data["ranking"], "group with ranked runs", "open it from the page of a run or an operation")
    entries = group["entries"]["nodes"]
    return page(
        request,
        "ranking.html",
        {
            **data,
            "entries": [(entry, bar(entry, group)) for entry in entries],
            "continued": after(request) is not None,
            **steps(data),
        },
    )


def steps(data: Doc) -> Doc:
    """What the part of a page that tells the record of a group is given; nothing where there is no record."""
    records = {basis: data[basis] for basis in ("observed", "known") if basis in data}
    most = max((len(changes["nodes"]) for changes in records.values()), default=0)
    return {"records": records if most else {}, "drawn": most >= MIN_STEPS}


def bar(entry: Doc, group: Doc) -> dict[str, Any] | None:
    """How much of the leader's performance a run reaches, in percent, and where its interval lies if it states one."""
    ratio = entry["ratioToLeader"]
    if not ratio:
        return None
    reached = {"length": _percent(1 / ratio), "low": None, "high": None}
    measured, best = entry["run"]["primary"], group["leader"]["primary"]
    if measured and measured["interval"] and best and best["number"] > 0:
        ends = [float(measured["interval"][end]) for end in ("low", "high")]
        shares = [best["number"] / end if group["lowerIsBetter"] else end / best["number"] for end in ends if end > 0]
        if len(shares) == len(ends):
            reached |= {"low": _percent(min(shares)), "high": _percent(max(shares))}
    return reached


def _percent(share: float) -> float:
    return round(max(0.0, min(share, 1.0)) * 100, 2)
