"""The pages of what runs refer to: operations, workloads, implementations, projects."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from service.api.context import Context
from service.pages.answers import page
from service.pages.asking import show
from service.pages.parameters import ROWS, after, field, found

GROUPS: Final = 25
"""How many groups or standings a page shows."""
BY_ID: Final = "give a digest, a prefix of at least 8 hex digits, or an alias"


async def operations(request: Request, context: Context) -> Response:
    """``GET /operations``: all of them by name, or those of one family."""
    family = field(request, "family") or None
    data = await show(request, context, "operations", "Operations", first=ROWS, after=after(request), family=family)
    return page(request, "operations.html", {**data, "family": family})


async def operation(request: Request, context: Context) -> Response:
    """``GET /operations/<slug>``."""
    slug = request.path_params["slug"]
    data = await show(request, context, "operation", "Operation", slug=slug, first=GROUPS, after=after(request))
    found(data["operation"], "operation", "look for it in /operations")
    return page(request, "operation.html", data)


async def workload(request: Request, context: Context) -> Response:
    """``GET /workloads/<id>``."""
    data = await show(
        request, context, "workload", "Workload", id=request.path_params["id"], first=GROUPS, after=after(request)
    )
    found(data["workload"], "workload", BY_ID)
    return page(request, "workload.html", data)


async def implementation(request: Request, context: Context) -> Response:
    """``GET /implementations/<id>``."""
    data = await show(
        request,
        context,
        "implementation",
        "Implementation",
        id=request.path_params["id"],
        first=GROUPS,
        after=after(request),
    )
    found(data["implementation"], "implementation", BY_ID)
    return page(request, "implementation.html", data)


async def project(request: Request, context: Context) -> Response:
    """``GET /projects/<id>``."""
    data = await show(
        request, context, "project", "Project", id=request.path_params["id"], first=GROUPS, after=after(request)
    )
    found(data["project"], "project", BY_ID)
    return page(request, "project.html", data)
