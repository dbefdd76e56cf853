"""A run's canonical record over HTTP: the bytes whose SHA-256 is its digest."""

import re
from http import HTTPStatus
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from domain.errors import ErrorCode
from domain.manifests import Kind, stored_manifest
from service.api.context import Context
from service.api.resolving import meant, resolve_id
from service.api.snapshot import Snapshot
from service.errors_out import refused

_POSITION: Final = re.compile(r"[1-9][0-9]{0,15}\Z")


async def canonical_run(request: Request, context: Context) -> Response:
    """``{apiVersion, kind, spec}`` of the run, as it is known now or was at the position in the path."""
    snapshot = _snapshot(context, request.path_params.get("position"))
    snapshot, text = meant(snapshot, request.path_params["id"], "id")
    digest = await resolve_id(snapshot, text, (Kind.BENCHMARK_RUN,))
    if digest is None:
        raise refused(ErrorCode.NOT_FOUND, "no run has this id", remedy="check the digits, or search for it")
    headers = {"ETag": f'"{digest}"', "Cache-Control": "public, max-age=60"}
    if _is_known(request.headers.get("if-none-match", ""), headers["ETag"]):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    manifest = stored_manifest((await snapshot.manifest(digest)).encode(), digest)
    return Response(manifest.identity, headers=headers, media_type="application/json")


def _snapshot(context: Context, asked: str | None) -> Snapshot:
    if asked is None:
        return context.snapshot
    if not _POSITION.match(asked):
        raise refused(
            ErrorCode.NOT_FOUND,
            f"the log has no position {asked[:20]}",
            remedy=f"the first position is 1, the present one is {context.snapshot.position}",
        )
    return context.pinned_at(int(asked), "position")


def _is_known(if_none_match: str, etag: str) -> bool:
    """Whether the client has this entity already (RFC 9110, section 13.1.2: by weak comparison)."""
    known = (tag.strip().removeprefix("W/") for tag in if_none_match.split(","))
    return any(tag in ("*", etag) for tag in known)
