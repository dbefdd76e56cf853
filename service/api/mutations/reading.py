"""What inputs have in common: what ids mean, how manifests are read, the idempotency key."""

import asyncio
from typing import Any

import strawberry

from domain.errors import KernelIndexError
from domain.manifests import Kind, Manifest, read_manifest
from service.api.resolving import require_id
from service.api.snapshot import Snapshot
from service.documents import read_document


def idempotency_key() -> Any:
    """The field that every input has."""
    return strawberry.field(description="1 to 128 characters; a retry with the same key is safe.")


async def run_digest(snapshot: Snapshot, text: str, path: str = "run") -> str:
    """The digest of the run that an id means: a digest, a unique prefix of one, or an alias."""
    return await require_id(snapshot, text, (Kind.BENCHMARK_RUN,), path)


async def manifest_of(text: str, path: str, *kinds: Kind) -> Manifest:
    """The manifest of that text, of one of these kinds where any are named; problems are located under ``path``."""

    def read() -> Manifest:
        return read_manifest(read_document(text), kinds=kinds or None)

    try:
        # A megabyte of YAML takes a second, in which the loop has others to serve.
        return await asyncio.to_thread(read)
    except KernelIndexError as error:
        raise error.within(prefix=path) from None
