"""What is sent in, and how it is read: every problem of an input is named at once, each at its field."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import strawberry

from domain.bundles import PARTS, bundle_of, read_bundle
from domain.errors import InvalidInput, KernelIndexError, Problem
from domain.json_text import Json, check_tree
from domain.manifests import Kind, Manifest, read_manifest
from service.api.scalars import Date, DateTime, ManifestText
from service.api.types.described import input_type
from service.documents import read_document
from service.intake import Item


@input_type("How the source and other indexes speak of a run.")
class RecordInput:
    source: str | None = strawberry.field(default=None, description="The slug of its source.")
    external_id: str | None = strawberry.field(default=None, description="The id that the source gave it.")
    aliases: list[str] | None = strawberry.field(default=None, description="Other permanent ids of it; at most 100.")
    published_on: Date | None = strawberry.field(default=None, description="The UTC day of its first publication.")
    published_at: DateTime | None = strawberry.field(default=None, description="The instant of its first publication.")
    producer: str | None = strawberry.field(default=None, description="Who produced the result.")


@input_type("A run and any of the manifests that it refers to, as text.")
class BundleInput:
    run: ManifestText = strawberry.field(description="The run.")
    protocol: ManifestText | None = strawberry.field(default=None, description="Its protocol.")
    environment: ManifestText | None = strawberry.field(default=None, description="Its environment.")
    implementation: ManifestText | None = strawberry.field(default=None, description="Its implementation.")
    workload: ManifestText | None = strawberry.field(default=None, description="Its workload.")
    operation: ManifestText | None = strawberry.field(default=None, description="The operation of its workload.")
    project: ManifestText | None = strawberry.field(default=None, description="The project of its implementation.")
    record: RecordInput | None = strawberry.field(default=None, description="How others speak of it.")


@input_type("A run to record.")
class IngestRunInput(BundleInput):
    idempotency_key: str = strawberry.field(description="1 to 128 characters; a retry with the same key is safe.")


@input_type("Runs to record.")
class IngestRunsInput:
    bundles: list[BundleInput] = strawberry.field(description="1 to 500 runs, each with its own result.")
    idempotency_key: str = strawberry.field(description="1 to 128 characters; a retry with the same key is safe.")
    dry_run: bool = strawberry.field(default=False, description="Say what would happen, and record nothing.")


@input_type("A manifest to register.")
class ManifestInput:
    manifest: ManifestText = strawberry.field(description="The manifest, of any kind but a run.")
    project: ManifestText | None = strawberry.field(default=None, description="Of an implementation its project.")


@input_type("Manifests to register.")
class RegisterManifestsInput:
    manifests: list[ManifestInput] = strawberry.field(description="1 to 500 manifests, each with its own result.")
    idempotency_key: str = strawberry.field(description="1 to 128 characters; a retry with the same key is safe.")
    dry_run: bool = strawberry.field(default=False, description="Say what would happen, and record nothing.")


def bundle_item(given: BundleInput) -> Item:
    """The bundle, or every problem of its parts."""
    tree: dict[str, Json] = {}
    problems: list[Problem] = []
    for part in PARTS:
        if (text := getattr(given, part)) is not None:
            with _collected(problems, part):
                tree[part] = read_document(text)
    if given.record:
        stated: dict[str, Any] = strawberry.asdict(given.record)
        tree["record"] = {_RECORD_FIELDS[name]: value for name, value in stated.items() if value is not None}
        with _collected(problems, ""):
            check_tree({"record": tree["record"]})
    if not problems:
        with _collected(problems, ""):
            return read_bundle(tree)
    return InvalidInput(*problems)


_RECORD_FIELDS = {
    "source": "source",
    "external_id": "externalId",
    "aliases": "aliases",
    "published_on": "publishedOn",
    "published_at": "publishedAt",
    "producer": "producer",
}


def manifest_item(given: ManifestInput) -> Item:
    """The manifest with its project as a bundle, or every problem of both."""
    read: list[Manifest] = []
    problems: list[Problem] = []
    with _collected(problems, "manifest"):
        read.append(_registrable(read_document(given.manifest)))
    if given.project is not None:
        with _collected(problems, "project"):
            read.append(read_manifest(read_document(given.project), kinds=(Kind.SOFTWARE_PROJECT,)))
    if not problems and given.project is not None and read[0].kind is not Kind.IMPLEMENTATION_REVISION:
        return InvalidInput.because("only an implementation has a project", path="project", remedy="leave it out")
    return InvalidInput(*problems) if problems else bundle_of(*reversed(read))


def _registrable(tree: Json) -> Manifest:
    if isinstance(tree, dict) and tree.get("kind") == Kind.BENCHMARK_RUN:
        raise InvalidInput.because("a run is not registered, it is ingested", path="kind", remedy="use ingestRun")
    return read_manifest(tree)


@contextmanager
def _collected(problems: list[Problem], part: str) -> Iterator[None]:
    """Add the problems of a part to those of the others, so that one answer names them all."""
    try:
        yield
    except KernelIndexError as error:
        problems.extend(error.within(prefix=part).problems)
