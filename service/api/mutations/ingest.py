"""Sending in runs and manifests, alone or in batches of which each item has its own result."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import strawberry

from domain.errors import KernelIndexError
from domain.manifests import Kind
from domain.outcomes import Ingested
from projections.model import Doc
from service.api.context import Context
from service.api.mutations.failures import failure
from service.api.mutations.ingest_inputs import (
    IngestRunInput,
    IngestRunsInput,
    RegisterManifestsInput,
    bundle_item,
    manifest_item,
)
from service.api.mutations.ingest_payloads import IngestRunPayload, IngestRunsPayload, RegisterManifestsPayload
from service.api.mutations.writing import Ask, idempotency_of
from service.api.snapshot import KINDS
from service.api.types.base import loaded
from service.intake import Item, ingest, require_batch, require_writer
from service.ledger import Refusal, Result

T = TypeVar("T")


@strawberry.type
class IngestMutations:
    @loaded(IngestRunPayload, "Record a run.")
    async def ingest_run(self, info: Ask, input: IngestRunInput) -> Doc:  # noqa: A002 the schema's name
        try:
            results, position = await _ingest(info.context, "ingestRun", input, [input], bundle_item, documents=[""])
        except KernelIndexError as error:
            return failure(error)
        return _ingested(info.context, results[0], position)

    @loaded(IngestRunsPayload, "Record runs. Each has its own result.")
    async def ingest_runs(self, info: Ask, input: IngestRunsInput) -> Doc:  # noqa: A002 the schema's name
        try:
            require_batch(input.bundles, "input.bundles")
            results, position = await _ingest(
                info.context, "ingestRuns", input, input.bundles, bundle_item, dry_run=input.dry_run
            )
        except KernelIndexError as error:
            return failure(error)
        listed = [
            _ingested(info.context, result, position, f"bundles[{index}]") for index, result in enumerate(results)
        ]
        return {"@type": "IngestRunsSuccess", "results": listed, "position": position}

    @loaded(RegisterManifestsPayload, "Register manifests of any kind but runs. Each has its own result.")
    async def register_manifests(self, info: Ask, input: RegisterManifestsInput) -> Doc:  # noqa: A002
        try:
            require_batch(input.manifests, "input.manifests")
            results, position = await _ingest(
                info.context, "registerManifests", input, input.manifests, manifest_item, dry_run=input.dry_run
            )
        except KernelIndexError as error:
            return failure(error)
        listed = [
            _registered(info.context, result, position, f"manifests[{index}]") for index, result in enumerate(results)
        ]
        return {"@type": "RegisterManifestsSuccess", "results": listed, "position": position}


async def _ingest(
    context: Context,
    mutation: str,
    given: Any,
    parts: Sequence[T],
    read: Callable[[T], Item],
    *,
    documents: Sequence[str] = (),
    dry_run: bool = False,
) -> tuple[list[Result], int | None]:
    principal = require_writer(context.principal)
    idempotency = idempotency_of(mutation, given)
    # Megabytes of YAML take seconds, in which the loop has others to serve.
    items = await asyncio.to_thread(lambda: [read(part) for part in parts])
    answer = await ingest(context.index.ledger, items, principal, idempotency, documents=documents, dry_run=dry_run)
    context.refresh()
    return answer


def _ingested(context: Context, result: Result, position: int | None, path: str = "") -> Doc:
    if not isinstance(result, Ingested):
        return _refused(result, path)
    doc = {
        "@type": "IngestRunSuccess",
        "digest": result.run,
        "created": result.created,
        "metadataDiffers": result.metadata_differs,
        "registered": [{"kind": kind.value, "digest": digest} for kind, digest in result.registered],
        "unchanged": [{"kind": kind.value, "digest": digest} for kind, digest in result.unchanged],
        "position": position,
    }
    return context.snapshot.adopt(doc)


def _registered(context: Context, result: Result, position: int | None, path: str) -> Doc:
    if not isinstance(result, Ingested):
        return _refused(result, path)
    kind, digest = _asked_for(result)
    doc = {
        "@type": "RegisterManifestSuccess",
        "digest": digest,
        "kind": kind.value,
        "created": (kind, digest) in result.registered,
        "metadataDiffers": result.metadata_differs,
        "position": position,
        "@table": KINDS[kind],
    }
    return context.snapshot.adopt(doc)


def _asked_for(result: Ingested) -> tuple[Kind, str]:
    """The manifest that a result is about: the only one, or the implementation that came with its project."""
    named = (*result.registered, *result.unchanged)
    return next((one for one in named if one[0] is not Kind.SOFTWARE_PROJECT), named[0])


def _refused(result: Result, path: str) -> Doc:
    if not isinstance(result, Refusal):
        raise TypeError(f"{type(result).__name__} is no answer to an ingest")
    return failure(result.error().within(prefix=path))
