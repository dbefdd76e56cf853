"""Sources, manifests, artifacts and aliases: what records are made of."""

from typing import Final

import msgspec

from domain.facts import (
    AliasClaimed,
    ArtifactRecorded,
    Fact,
    ManifestRegistered,
    MetadataRevised,
    SourcePolicyRevised,
    SourceRegistered,
)


class SourceState(msgspec.Struct, frozen=True):
    """A registered source; ``policy`` is canonical JSON."""

    policy: bytes


class ManifestState(msgspec.Struct, frozen=True):
    """A registered manifest. ``manifest`` is its canonical form with the first metadata, ``metadata`` what stands now.

    ``actor`` is who registered it.
    """

    kind: str
    manifest: bytes
    metadata: bytes
    project: str | None
    actor: str


class ArtifactState(msgspec.Struct, frozen=True):
    """A recorded artifact."""

    kind: str


class AliasState(msgspec.Struct, frozen=True):
    """The one object that an alias belongs to."""

    target: str


class _Editorial(msgspec.Struct):
    metadata: msgspec.Raw


_EDITORIAL: Final = msgspec.json.Decoder(_Editorial)


def metadata_of(manifest: bytes) -> bytes:
    """The canonical bytes of a canonical manifest's editorial part: all that two manifests of one digest differ in."""
    return bytes(_EDITORIAL.decode(manifest).metadata)


def evolve_source(state: SourceState | None, fact: Fact, _actor: str) -> SourceState | None:
    """The source after the fact."""
    match fact:
        case SourceRegistered() | SourcePolicyRevised():
            return SourceState(bytes(fact.policy))
        case _:
            return state


def evolve_manifest(state: ManifestState | None, fact: Fact, actor: str) -> ManifestState | None:
    """The manifest after the fact. A second registration can only name the project that the first one did not."""
    match fact:
        case ManifestRegistered() if state:
            return msgspec.structs.replace(state, project=state.project or fact.project)
        case ManifestRegistered():
            manifest = bytes(fact.manifest)
            return ManifestState(fact.kind, manifest, metadata_of(manifest), fact.project, actor)
        case MetadataRevised() if state:
            return msgspec.structs.replace(state, metadata=bytes(fact.metadata))
        case _:
            return state


def evolve_artifact(state: ArtifactState | None, fact: Fact, _actor: str) -> ArtifactState | None:
    """The artifact after the fact."""
    return ArtifactState(fact.kind) if isinstance(fact, ArtifactRecorded) else state


def evolve_alias(state: AliasState | None, fact: Fact, _actor: str) -> AliasState | None:
    """The alias after the fact."""
    return AliasState(fact.target) if isinstance(fact, AliasClaimed) else state
