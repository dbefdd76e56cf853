"""A run's canonical record over HTTP: the bytes whose SHA-256 is its digest."""

from starlette.requests import Request
from starlette.responses import Response

from domain.errors import ErrorCode
from domain.manifests import Kind, stored_manifest
from service.api.resolving import resolve_id
from service.api.snapshot import Snapshot
from service.errors_out import refused


async def canonical_run(request: Request, snapshot: Snapshot, head: int) -> Response:
    """``{apiVersion, kind, spec}`` of the run, as it was known in the snapshot; ``head`` is the present position."""
    asked = request.path_params.get("position", head)
    if asked > head:
        raise refused(
            ErrorCode.NOT_FOUND,
            f"the log has not reached position {asked}",
            remedy=f"the present position is {head}",
        )
    digest = resolve_id(snapshot, request.path_params["id"], (Kind.BENCHMARK_RUN,))
    if digest is None:
        raise refused(ErrorCode.NOT_FOUND, "no run has this id", remedy="check the digits, or search for it")
    etag = f'"{digest}"'
    headers = {"ETag": etag, "Cache-Control": "public, max-age=60"}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    manifest = stored_manifest((await snapshot.manifest(digest)).encode(), digest)
    return Response(manifest.identity, headers=headers, media_type="application/json")
