"""Which path shows which page. Another page is a handler here, a document, a template and a line of ``PAGES``."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from service.api.context import Context
from service.pages.answers import page
from service.pages.asking import show
from service.pages.auditing import event, log
from service.pages.catalogue import implementation, operation, operations, project, workload
from service.pages.checking import cited
from service.pages.comparing import compare, export
from service.pages.parameters import after
from service.pages.ranking import ranking
from service.pages.searching import search

Handler = Callable[[Request, Context], Awaitable[Response]]


async def home(request: Request, context: Context) -> Response:
    """``GET /``: the latest runs; ``?after=`` goes on in the list."""
    data = await show(request, context, "home", "Home", after=after(request))
    return page(request, "home.html", {**data, "live": not (data["pinned"] or after(request))})


PAGES: Final[Mapping[str, Handler]] = {
    "/": home,
    "/rankings/{key:str}": ranking,
    "/operations": operations,
    "/operations/{slug:str}": operation,
    "/workloads/{id:alias}": workload,
    "/implementations/{id:alias}": implementation,
    "/projects/{id:alias}": project,
    "/compare": compare,
    "/compare.{suffix:str}": export,
    "/search": search,
    "/cited": cited,
    "/audit": log,
    "/audit/{position:str}": event,
}
