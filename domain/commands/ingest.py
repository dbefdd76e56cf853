"""Taking in a bundle: its manifests, its run, its other names."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from domain.bundles import Bundle
from domain.commands.aliases import claims
from domain.commands.base import Command, Decision
from domain.commands.permits import require_own_name, require_scope, require_source
from domain.errors import ErrorCode, InvalidInput, Problem, raise_if_any
from domain.facts import Fact, ManifestRegistered, Primary, RunIngested
from domain.identity import canonical_json
from domain.manifests import Kind, Manifest
from domain.measurements import decimal_text, primary_measurement
from domain.outcomes import Ingested
from domain.principals import Principal, Scope
from domain.streams import ArtifactState, ManifestState, RunState, World

WORKLOADS: Final = (Kind.WORKLOAD_CASE, Kind.WORKLOAD_SUITE)


class Ingest(Command, frozen=True, kw_only=True):
    """Register what is new in a bundle, and publish its run. ``document`` names it in messages."""

    bundle: Bundle
    document: str = ""

    def reads(self) -> set[str]:
        bundle = self.bundle
        return {
            *(f"manifest/{manifest.digest}" for manifest in bundle.manifests),
            *(f"alias/{alias}" for alias, _ in bundle.aliases),
            *(artifact.stream for artifact in bundle.artifacts),
            *((f"run/{bundle.run.digest}",) if bundle.run else ()),
        }

    def decide(self, world: World, principal: Principal) -> Decision:
        bundle, run = self.bundle, self.bundle.run
        require_scope(principal, Scope.INGEST)
        raise_if_any(mismatched_digests(bundle, self.document))
        known = [world.get(ManifestState, f"manifest/{manifest.digest}") for manifest in bundle.manifests]
        existing = world.get(RunState, f"run/{run.digest}") if run else None
        if existing and bundle.aliases and existing.actor != principal.id:
            require_source(principal, existing.source, self.document, "record.aliases")
        claimed = tuple(claims(world, bundle.aliases, self.document))
        recorded = tuple(artifact for artifact in bundle.artifacts if not world.get(ArtifactState, artifact.stream))
        facts: list[Fact] = [*_registrations(bundle, known), *claimed, *recorded]
        if run and not existing:
            require_own_name(world, principal, run, self.document)
            facts.append(_run_ingested(bundle, run, principal, self.document))
        outcome = Ingested(
            run=run.digest if run else None,
            created=bool(run and not existing),
            registered=tuple((m.kind, m.digest) for m, state in zip(bundle.manifests, known, strict=True) if not state),
            unchanged=tuple((m.kind, m.digest) for m, state in zip(bundle.manifests, known, strict=True) if state),
            metadata_differs=any(
                state and state.metadata != canonical_json(manifest.metadata)
                for manifest, state in [*zip(bundle.manifests, known, strict=True), *([(run, existing)] if run else [])]
            ),
            aliases=tuple(claim.alias for claim in claimed),
            artifacts=tuple(artifact.digest for artifact in recorded),
        )
        return Decision(tuple(facts), outcome)


def _registrations(bundle: Bundle, known: Sequence[ManifestState | None]) -> Iterator[ManifestRegistered]:
    for manifest, state in zip(bundle.manifests, known, strict=True):
        project = bundle.project if manifest.kind is Kind.IMPLEMENTATION_REVISION else None
        if state is None or (project and state.project is None):
            yield ManifestRegistered(
                digest=manifest.digest,
                kind=manifest.kind.value,
                manifest=msgspec.Raw(manifest.canonical),
                project=project,
            )


def _run_ingested(bundle: Bundle, run: Manifest, principal: Principal, document: str) -> RunIngested:
    native = run.spec.get("sourceNative")
    source = native["source"] if native else principal.id
    if bundle.source not in (None, source):
        raise InvalidInput.because(
            f"the record names source {bundle.source}, its run belongs to {source}",
            path="record.source",
            document=document,
            remedy="name the run's own sourceNative.source; a run without one belongs to whoever ingests it",
        )
    if native:
        require_source(principal, source, document, "run.spec.sourceNative.source")
    primary = primary_measurement(run.spec)
    return RunIngested(
        digest=run.digest,
        manifest=msgspec.Raw(run.canonical),
        source=source,
        external_id=(native or {}).get("externalId") or bundle.external_id,
        producer=bundle.producer,
        published_at=bundle.published_at,
        primary=Primary(
            metric=primary.metric,
            statistic=primary.statistic,
            unit=primary.unit,
            value=decimal_text(primary.value),
        )
        if primary
        else None,
    )


def mismatched_digests(bundle: Bundle, document: str) -> Iterator[Problem]:
    """Embedded manifests must have the digests that they are referred to by."""
    for holder, reference, kinds in _references(bundle):
        embedded = bundle.part(*kinds)
        if embedded and embedded.digest != reference[1]:
            yield Problem(
                code=ErrorCode.DIGEST_MISMATCH,
                message=f"names {reference[1]}, but the bundle's {embedded.kind.value} has {embedded.digest}",
                path=f"{holder}.spec.{reference[0]}",
                document=document,
                remedy="embed the manifest that is referred to, unchanged, or leave it out",
            )


def _references(bundle: Bundle) -> Iterator[tuple[str, tuple[str, str], tuple[Kind, ...]]]:
    if bundle.run:
        spec = bundle.run.spec
        for field, kinds in (
            ("implementationDigest", (Kind.IMPLEMENTATION_REVISION,)),
            ("workloadDigest", WORKLOADS),
            ("protocolDigest", (Kind.BENCHMARK_PROTOCOL,)),
            ("environmentDigest", (Kind.EXECUTION_ENVIRONMENT,)),
        ):
            yield "run", (field, spec[field]), kinds
    if workload := bundle.part(*WORKLOADS):
        yield "workload", ("operationSpecDigest", workload.spec["operationSpecDigest"]), (Kind.OPERATION_SPEC,)
    if implementation := bundle.part(Kind.IMPLEMENTATION_REVISION):
        digest = implementation.spec["operation"]["specDigest"]
        yield "implementation", ("operation.specDigest", digest), (Kind.OPERATION_SPEC,)
