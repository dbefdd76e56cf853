"""What inputs have in common: what ids mean, how manifests are read, the idempotency key."""

import asyncio
import re
from typing import Any, Final

import strawberry

from domain.errors import KernelIndexError, NotFound
from domain.json_text import shown
from domain.manifests import Kind, Manifest, read_manifest

from service.api.resolving import require_id
from service.api.snapshot import Snapshot
from service.documents import read_document

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}\Z")


def idempotency_key() -> Any:
    """The field that every input has."""
    return strawberry.field(description="1 to 128 characters; a retry with the same key is safe.")


async def run_digest(snapshot: Snapshot, text: str, path: str = "run") -> str:
    """The digest of the run that an id means: a digest, a unique prefix of one, or an alias."""
    return await require_id(snapshot, text, (Kind.BENCHMARK_RUN,), path)


async def manifest_of(text: str, path: str, *kinds: Kind) -> Manifest:
    """The manifest of that text, of one of these kinds where any are named; problems are located under ``path``."""

    def read() -> Manifest:
        tree = read_document(text)
        return read_manifest(tree, kinds=kinds) if kinds else read_manifest(tree)

    try:
        # A megabyte of YAML takes a second, in which the loop has others to serve.
        return await asyncio.to_thread(read)
    except KernelIndexError as error:
        raise error.within(prefix=path) from None


def bare_id(kind: str, text: str) -> str:
    """The id of something that is not a manifest, given as ``<kind>/<id>`` or as ``<id>`` alone."""
    name = text.removeprefix(f"{kind}/")
    if not _NAME.match(name):
        raise NotFound.because(f"{shown(text)} names no {kind}", path=kind, remedy=f"give the id of a {kind}")
    return name
