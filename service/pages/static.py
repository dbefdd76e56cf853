"""The files that our pages load, each under the digest of its content.

A URL never means other content, so browsers and caches may keep it for ever, and a release needs no version to raise.
"""

import asyncio
import gzip
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from domain.errors import NotFound

FOLDER: Final = Path(__file__).parent / "assets"
PATH: Final = "/assets/{digest}/{name}"
MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
DIGEST_LENGTH: Final = 16
FOR_EVER: Final = "public, max-age=31536000, immutable"


class Asset(msgspec.Struct, frozen=True):
    """A file as it is served. ``digest`` is the first 16 hex digits of the SHA-256 of its content."""

    name: str
    content: bytes
    media_type: str
    digest: str

    @property
    def url(self) -> str:
        """The path of this very content."""
        return PATH.format(digest=self.digest, name=self.name)


@cache
def assets() -> Mapping[str, Asset]:
    """Every file of the folder that has a media type for browsers, by name."""
    files = (path for path in FOLDER.iterdir() if path.suffix in MEDIA_TYPES)
    return {path.name: _asset(path) for path in files}


def url_of(name: str) -> str:
    """Where a file is served. Raises ``KeyError`` for one that there is none of."""
    return assets()[name].url


async def serve(request: Request) -> Response:
    """``GET /assets/<digest>/<name>``. Raises ``NotFound`` for any digest but the content's own."""
    asset = assets().get(request.path_params["name"])
    if asset is None or asset.digest != request.path_params["digest"]:
        raise NotFound.because("no such file here", remedy="load the page again: it names the files of this release")
    headers = {
        "Cache-Control": FOR_EVER,
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    content = asset.content
    if takes_gzip(request.headers):
        content = await asyncio.to_thread(_gzipped, asset.name)
        headers["Content-Encoding"] = "gzip"
    return Response(content, media_type=asset.media_type, headers=headers)


def takes_gzip(headers: Headers) -> bool:
    """Whether ``Accept-Encoding`` (RFC 9110 section 12.5.3) names gzip, or takes anything, with a weight above zero."""
    weights: dict[str, bool] = {}
    for part in ",".join(headers.getlist("accept-encoding")).lower().split(","):
        coding, _, weight = part.replace(" ", "").partition(";q=")
        weights[coding] = weight.strip("0.") != "" if weight else True
    return weights.get("gzip", weights.get("*", False))


@cache
def _gzipped(name: str) -> bytes:
    return gzip.compress(assets()[name].content, mtime=0)


def _asset(path: Path) -> Asset:
    content = path.read_bytes()
    return Asset(path.name, content, MEDIA_TYPES[path.suffix], sha256(content).hexdigest()[:DIGEST_LENGTH])
