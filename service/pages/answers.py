"""Pages as HTTP answers: what they may load, how long they may be kept, and what an error looks like."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from domain.errors import ErrorCode, KernelIndexError
from domain.identity import digest_of
from service.http.answers import Answer, apology, error_as_json, refusal
from service.http.negotiation import GRAPHQL_JSON, HTML, JSON, is_known, negotiate
from service.pages.rendering import render

SAFETY: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Stricter, and browsers would send the forms of our own pages with `Origin: null`.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
REVALIDATED: Final = "public, no-cache"
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


def page(request: Request, template: str, values: Mapping[str, Any]) -> Response:
    """The page, or 304 where the browser has it already."""
    content = render(template, {"path": request.url.path, "now": _now(request), **values})
    headers = {**SAFETY, "Cache-Control": REVALIDATED, "ETag": f'"{digest_of(content)}"'}
    if is_known(request.headers.get("if-none-match", ""), headers["ETag"]):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(content, headers=headers, media_type=HTML)


def _now(request: Request) -> str:
    """The address of the page as it is now: a place in a list of then is none in the list of now."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in ("at", "after")]
    return f"{quote(request.url.path)}{'?' if kept else ''}{urlencode(kept)}"


def error_answer(error: Exception, accept: str, path: str) -> Response:
    """The answer to a request that an error ended: a page for who prefers one, else JSON."""
    if negotiate(accept, (JSON, GRAPHQL_JSON, HTML)) != HTML:
        return error_as_json(error, accept, path)
    return _error_page(refusal(error) if isinstance(error, KernelIndexError) else apology(error), path)


def _error_page(answer: Answer, path: str) -> Response:
    error = answer.body["errors"][0]
    extensions = error["extensions"]
    values = {
        "path": path,
        "status": answer.status.value,
        "phrase": answer.status.phrase,
        "message": error["message"],
        "remedy": extensions.get("remedy", ""),
        "code": extensions["code"],
        "request_id": extensions.get("requestId", ""),
        "candidates": _DIGEST.findall(error["message"]) if extensions["code"] == ErrorCode.AMBIGUOUS_ID else [],
    }
    headers = {**SAFETY, "Cache-Control": "no-store", "Vary": "Accept", **answer.headers}
    return Response(render("error.html", values), answer.status, headers, HTML)
