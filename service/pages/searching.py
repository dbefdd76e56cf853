"""The page that searches."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from projections.model import Doc
from service.api.context import Context
from service.pages.answers import page
from service.pages.asking import show
from service.pages.parameters import after, field
from service.pages.rendering import implementation_path, operation_path, project_path, run_path, workload_path

KINDS: Final[Mapping[str, str]] = {
    "Run": "run",
    "Operation": "operation",
    "WorkloadCase": "workload",
    "WorkloadSuite": "suite of workloads",
    "Implementation": "implementation",
    "Project": "project",
    "Hardware": "hardware",
    "Source": "source",
}


async def search(request: Request, context: Context) -> Response:
    """``GET /search?q=``: what was found, best first, with what matched. Without words, how to search."""
    text = field(request, "q")
    if not text:
        return page(request, "search.html", {"q": "", "search": None, **await show(request, context, "stamp", "Stamp")})
    data = await show(request, context, "search", "Search", text=text, after=after(request))
    hits = [(hit, *shown(hit["node"])) for hit in data["search"]["hits"]]
    return page(request, "search.html", {"q": text, **data, "hits": hits})


def shown(node: Doc) -> tuple[str, str, str]:
    """What kind of thing was found, what it is called, and where its page is; empty where it has none."""
    kind = node["__typename"]
    match kind:
        case "Run":
            return KINDS[kind], node["title"], run_path(node["digest"])
        case "Operation":
            return KINDS[kind], node["name"], operation_path(node["slug"])
        case "WorkloadCase" | "WorkloadSuite":
            return KINDS[kind], node["label"], workload_path(node["digest"])
        case "Implementation":
            return KINDS[kind], node["name"], implementation_path(node["digest"])
        case "Project":
            return KINDS[kind], node["name"], project_path(node["digest"])
        case "Hardware":
            return KINDS[kind], node["product"], f"/search?q={quote('gpu:' + node['slug'])}"
        case _:
            return KINDS[kind], node["name"], f"/search?q={quote('source:' + node['slug'])}"
