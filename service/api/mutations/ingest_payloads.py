"""What is answered to what was sent in. Errors of an item don't spoil its batch."""

from typing import Annotated

import strawberry

from projections.model import Doc
from service.api.mutations.failures import Failure
from service.api.scalars import Digest, Position
from service.api.types.base import Documented, Node, Root, loaded, picked, snapshot_of
from service.api.types.described import object_type
from service.api.types.enums import Kind
from service.api.types.runs import Run


@object_type("A manifest by kind and digest.")
class ManifestReference:
    kind: Kind = picked("Its kind.")
    digest: Digest = picked("Its digest.")


@object_type("A run that is recorded, by this request or an earlier one.")
class IngestRunSuccess(Documented):
    digest: Digest = picked("The run's digest.")
    created: bool = picked("Whether this request recorded it; false where it was recorded already.")
    metadata_differs: bool = picked("Whether an editorial part differs from the one that stands.")
    registered: list[ManifestReference] = picked("The manifests that this request registered.")
    unchanged: list[ManifestReference] = picked("The embedded manifests that were registered already.")
    position: Position | None = picked("A position at which all of it can be seen; null in a dry run.")

    @loaded(Run | None, "The run; null in a dry run that would record it.")
    async def run(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("runs", root["digest"])


@object_type("A manifest that is registered, by this request or an earlier one.")
class RegisterManifestSuccess(Documented):
    digest: Digest = picked("The manifest's digest.")
    kind: Kind = picked("The manifest's kind.")
    created: bool = picked("Whether this request registered it; false where it was registered already.")
    metadata_differs: bool = picked("Whether its editorial part differs from the one that stands.")
    position: Position | None = picked("A position at which it can be seen; null in a dry run.")

    @loaded(Node | None, "What it shows as; null in a dry run that would register it.")
    async def node(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document(root["@table"], root["digest"])


IngestRunPayload = Annotated[
    IngestRunSuccess | Failure, strawberry.union("IngestRunPayload", description="What became of a run.")
]
RegisterManifestPayload = Annotated[
    RegisterManifestSuccess | Failure,
    strawberry.union("RegisterManifestPayload", description="What became of a manifest."),
]


@object_type("What became of each run of a batch.")
class IngestRunsSuccess(Documented):
    results: list[IngestRunPayload] = picked("One for each bundle, in the order given.")
    position: Position | None = picked("A position at which all of it can be seen; null in a dry run.")


@object_type("What became of each manifest of a batch.")
class RegisterManifestsSuccess(Documented):
    results: list[RegisterManifestPayload] = picked("One for each manifest, in the order given.")
    position: Position | None = picked("A position at which all of it can be seen; null in a dry run.")


IngestRunsPayload = Annotated[
    IngestRunsSuccess | Failure, strawberry.union("IngestRunsPayload", description="What became of a batch of runs.")
]
RegisterManifestsPayload = Annotated[
    RegisterManifestsSuccess | Failure,
    strawberry.union("RegisterManifestsPayload", description="What became of a batch of manifests."),
]
