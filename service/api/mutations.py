"""The root fields that write. Each takes one input with an idempotency key and goes through the ledger."""

from typing import Any

import strawberry
from strawberry.types import Info

from domain.bundles import read_bundle
from domain.commands import RegisterSource
from domain.errors import ErrorCode, InvalidInput, KernelIndexError, Problem
from domain.identity import canonical_json
from domain.json_text import Json, read_json
from domain.outcomes import Done, Ingested
from projections.model import Doc
from service.api.context import Context
from service.api.payloads import (
    IngestRunPayload,
    IngestRunsPayload,
    RegisterManifestsPayload,
    RegisterSourcePayload,
    failure,
)
from service.api.scalars import URL, Date, DateTime, ManifestText
from service.api.snapshot import KINDS
from service.api.types.base import loaded
from service.documents import read_document
from service.intake import Item, ingest, require_batch, require_key, require_writer
from service.ledger import Idempotency, Refusal, Result

Ask = Info[Context, Any]


@strawberry.input(description="How the source and other indexes speak of a run.")
class RecordInput:
    source: str | None = strawberry.field(default=None, description="The slug of its source.")
    external_id: str | None = strawberry.field(default=None, description="The id that the source gave it.")
    aliases: list[str] | None = strawberry.field(default=None, description="Other permanent ids of it; at most 100.")
    published_on: Date | None = strawberry.field(default=None, description="The UTC day of its first publication.")
    published_at: DateTime | None = strawberry.field(default=None, description="The instant of its first publication.")
    producer: str | None = strawberry.field(default=None, description="Who produced the result.")


@strawberry.input(description="A run and any of the manifests that it refers to, as text.")
class BundleInput:
    run: ManifestText = strawberry.field(description="The run.")
    protocol: ManifestText | None = strawberry.field(default=None, description="Its protocol.")
    environment: ManifestText | None = strawberry.field(default=None, description="Its environment.")
    implementation: ManifestText | None = strawberry.field(default=None, description="Its implementation.")
    workload: ManifestText | None = strawberry.field(default=None, description="Its workload.")
    operation: ManifestText | None = strawberry.field(default=None, description="The operation of its workload.")
    project: ManifestText | None = strawberry.field(default=None, description="The project of its implementation.")
    record: RecordInput | None = strawberry.field(default=None, description="How others speak of it.")


@strawberry.input(description="A run to record.")
class IngestRunInput(BundleInput):
    idempotency_key: str = strawberry.field(description="1 to 128 characters; a retry with the same key is safe.")


@strawberry.input(description="Runs to record.")
class IngestRunsInput:
    bundles: list[BundleInput] = strawberry.field(description="1 to 500 runs, each with its own result.")
    idempotency_key: str = strawberry.field(description="1 to 128 characters; a retry with the same key is safe.")
    dry_run: bool = strawberry.field(default=False, description="Say what would happen, and record nothing.")


@strawberry.input(description="A manifest to register.")
class ManifestInput:
    manifest: ManifestText = strawberry.field(description="The manifest, of any kind but a run.")
    project: ManifestText | None = strawberry.field(default=None, description="Of an implementation its project.")


@strawberry.input(description="Manifests to register.")
class RegisterManifestsInput:
    manifests: list[ManifestInput] = strawberry.field(description="1 to 500 manifests, each with its own result.")
    idempotency_key: str = strawberry.field(description="1 to 128 characters; a retry with the same key is safe.")
    dry_run: bool = strawberry.field(default=False, description="Say what would happen, and record nothing.")


@strawberry.input(description="A source to register, or whose terms to revise.")
class RegisterSourceInput:
    slug: str = strawberry.field(description="Its name for URLs: lower-case letters, digits and hyphens.")
    name: str = strawberry.field(description="Its name.")
    kind: str = strawberry.field(description="What it is, such as `leaderboard` or `benchmark`.")
    homepage: URL | None = strawberry.field(default=None, description="Its home page.")
    policy: str | None = strawberry.field(default=None, description="Its terms, as a JSON object.")
    idempotency_key: str = strawberry.field(description="1 to 128 characters; a retry with the same key is safe.")


@strawberry.type(description="What can be written.")
class Mutation:
    @loaded(IngestRunPayload, "Record a run.")
    async def ingest_run(self, info: Ask, input: IngestRunInput) -> Doc:  # noqa: A002 the schema's name
        try:
            results, position = await _ingest(info.context, "ingestRun", input, [_bundle(input, "")], dry_run=False)
        except KernelIndexError as error:
            return failure(error)
        return _ingested(info.context, results[0], position)

    @loaded(IngestRunsPayload, "Record runs. Each has its own result.")
    async def ingest_runs(self, info: Ask, input: IngestRunsInput) -> Doc:  # noqa: A002 the schema's name
        try:
            require_batch(input.bundles, "bundles")
            bundles = [_bundle(bundle, f"bundles[{index}]") for index, bundle in enumerate(input.bundles)]
            results, position = await _ingest(info.context, "ingestRuns", input, bundles, dry_run=input.dry_run)
        except KernelIndexError as error:
            return failure(error)
        listed = [_ingested(info.context, result, position) for result in results]
        return {"@type": "IngestRunsSuccess", "results": listed, "position": position}

    @loaded(RegisterManifestsPayload, "Register manifests of any kind but runs. Each has its own result.")
    async def register_manifests(self, info: Ask, input: RegisterManifestsInput) -> Doc:  # noqa: A002
        try:
            require_batch(input.manifests, "manifests")
            items = [_manifest(one, f"manifests[{index}]") for index, one in enumerate(input.manifests)]
            results, position = await _ingest(info.context, "registerManifests", input, items, dry_run=input.dry_run)
        except KernelIndexError as error:
            return failure(error)
        listed = [_registered(info.context, result, position) for result in results]
        return {"@type": "RegisterManifestsSuccess", "results": listed, "position": position}

    @loaded(RegisterSourcePayload, "Register a source, or revise the terms of a registered one.")
    async def register_source(self, info: Ask, input: RegisterSourceInput) -> Doc:  # noqa: A002
        context = info.context
        try:
            principal = require_writer(context.principal)
            command = RegisterSource(
                slug=input.slug,
                name=input.name,
                kind=input.kind,
                homepage=input.homepage,
                policy=_policy(input.policy),
            )
            answer = await context.index.ledger.handle([command], principal, _idempotency("registerSource", input))
            outcome = answer.results[0]
            if isinstance(outcome, Refusal):
                raise outcome.error()
        except KernelIndexError as error:
            return failure(error)
        context.refresh()
        created = isinstance(outcome, Done) and outcome.created
        return context.snapshot.adopt(
            {
                "@type": "RegisterSourceSuccess",
                "created": created,
                "position": answer.position,
                "@slug": input.slug,
            }
        )


async def _ingest(
    context: Context, mutation: str, given: Any, items: list[Item], *, dry_run: bool
) -> tuple[list[Result], int | None]:
    principal = require_writer(context.principal)
    idempotency = _idempotency(mutation, given)
    answer = await ingest(context.index.ledger, items, principal, idempotency, dry_run=dry_run)
    context.refresh()
    return answer


def _idempotency(mutation: str, given: Any) -> Idempotency:
    body = strawberry.asdict(given)
    key = require_key(str(body.pop("idempotency_key")), "input.idempotencyKey")
    return Idempotency(mutation, key, canonical_json(body))


def _bundle(given: BundleInput, path: str) -> Item:
    parts: dict[str, Json] = {}
    problems: list[Problem] = []
    for part in ("run", "protocol", "environment", "implementation", "workload", "operation", "project"):
        if (text := getattr(given, part)) is not None:
            _read(text, part, parts, problems)
    if given.record:
        stated: dict[str, Any] = strawberry.asdict(given.record)
        parts["record"] = {_RECORD_FIELDS[name]: value for name, value in stated.items() if value is not None}
    return _item(parts, problems, path)


_RECORD_FIELDS = {
    "source": "source",
    "external_id": "externalId",
    "aliases": "aliases",
    "published_on": "publishedOn",
    "published_at": "publishedAt",
    "producer": "producer",
}


def _manifest(given: ManifestInput, path: str) -> Item:
    parts: dict[str, Json] = {}
    problems: list[Problem] = []
    _read(given.manifest, "manifest", parts, problems)
    tree = parts.pop("manifest", None)
    kind = tree.get("kind") if isinstance(tree, dict) else None
    if kind == "BenchmarkRun":
        return InvalidInput.because(
            "a run is not registered, it is ingested", path=f"{path}.manifest", remedy="use ingestRun"
        )
    if given.project is None:
        return _item(tree, problems, f"{path}.manifest")
    if kind != "ImplementationRevision":
        return InvalidInput.because(
            "only an implementation has a project", path=f"{path}.project", remedy="leave it out"
        )
    _read(given.project, "project", parts, problems)
    return _item({"implementation": tree, **parts}, problems, path)


def _read(text: str, part: str, parts: dict[str, Json], problems: list[Problem]) -> None:
    try:
        parts[part] = read_document(text)
    except KernelIndexError as error:
        problems.extend(error.within(prefix=part).problems)


def _item(tree: Json, problems: list[Problem], path: str) -> Item:
    try:
        if problems:
            raise InvalidInput(*problems)
        return read_bundle(tree)
    except KernelIndexError as error:
        return error.within(prefix=path)


def _ingested(context: Context, result: Result, position: int | None) -> Doc:
    if not isinstance(result, Ingested):
        return _refused(result)
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


def _registered(context: Context, result: Result, position: int | None) -> Doc:
    if not isinstance(result, Ingested):
        return _refused(result)
    kind, digest = (*result.registered, *result.unchanged)[-1]
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


def _refused(result: Result) -> Doc:
    if not isinstance(result, Refusal):
        raise TypeError(f"{type(result).__name__} is no answer to an ingest")
    return failure(result.error())


def _policy(text: str | None) -> bytes | None:
    if text is None:
        return None
    tree = read_json(text)
    if not isinstance(tree, dict):
        raise InvalidInput.because(
            "the policy is not a JSON object", code=ErrorCode.INVALID_VALUE, path="input.policy", remedy="write {…}"
        )
    return canonical_json(tree)
