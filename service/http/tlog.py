"""The log as C2SP tlog-tiles: ``/checkpoint``, ``/tile/…``, and ``/vkey`` with the key to check checkpoints by."""

from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from domain.audit.tiles import Tile
from domain.errors import ErrorCode
from projections import tree
from service.app import Index
from service.errors_out import refused

TILE: Final = "/tile/{path:path}"
MOVES: Final = {"Cache-Control": "public, max-age=2"}
STAYS: Final = {"Cache-Control": "public, max-age=31536000, immutable"}


async def checkpoint(index: Index) -> Response:
    """The newest checkpoint, a signed note."""
    return PlainTextResponse(str(await index.proving.checkpoint()), headers=MOVES)


async def vkey(index: Index) -> Response:
    """The verifier key, one line."""
    return PlainTextResponse(f"{index.proving.verifier}\n", headers={"Cache-Control": "public, max-age=60"})


async def tile(index: Index, request: Request) -> Response:
    """A tile of hashes or a bundle of entries, whole or partial. What is served once never changes."""
    wanted = Tile.parse(request.path_params["path"])
    head = index.follower.head.position
    if wanted is None or not wanted.is_in(head):
        raise refused(
            ErrorCode.NOT_FOUND,
            "the log has no such tile",
            remedy="take sizes from /checkpoint; paths are those of c2sp.org/tlog-tiles",
        )
    found = await index.views.read(lambda db: tree.tile(db, wanted))
    return Response(found, media_type="application/octet-stream", headers=STAYS)
