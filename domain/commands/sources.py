"""Sources of records, and the reading of their files."""

import msgspec

from domain.commands.aliases import claims
from domain.commands.base import Command, Decision
from domain.commands.permits import require_scope, require_source
from domain.facts import Fact, SourceImported, SourcePolicyRevised, SourceRegistered
from domain.outcomes import Done
from domain.principals import Principal, Scope
from domain.streams import SourceState, World


class RegisterSource(Command, frozen=True, kw_only=True):
    """Make a source known, or revise the terms of a known one. ``policy`` is canonical JSON.

    An administrator may for any source, whoever writes for it for that one.
    """

    slug: str
    name: str
    kind: str
    homepage: str | None = None
    policy: bytes | None = None
    aliases: tuple[str, ...] = ()

    def reads(self) -> set[str]:
        return {f"source/{self.slug}", *(f"alias/{alias}" for alias in self.aliases)}

    def decide(self, world: World, principal: Principal) -> Decision:
        require_scope(principal, Scope.INGEST, Scope.ADMIN)
        if Scope.ADMIN not in principal.scopes:
            require_source(principal, self.slug, path="slug")
        stream = f"source/{self.slug}"
        known = world.get(SourceState, stream)
        policy = msgspec.Raw(self.policy or b"null")
        facts: list[Fact] = []
        if known is None:
            facts.append(
                SourceRegistered(slug=self.slug, name=self.name, kind=self.kind, homepage=self.homepage, policy=policy)
            )
        elif self.policy is not None and self.policy != known.policy:
            facts.append(SourcePolicyRevised(slug=self.slug, policy=policy))
        facts += claims(world, ((alias, stream) for alias in self.aliases))
        return Decision(tuple(facts), Done(self.slug, created=known is None))


class RecordImport(Command, frozen=True, kw_only=True):
    """Note that a file of a source was read, and what became of its records."""

    slug: str
    file_digest: str
    importer: str
    importer_version: str
    counts: dict[str, int]

    def reads(self) -> set[str]:
        return {f"source/{self.slug}"}

    def decide(self, world: World, principal: Principal) -> Decision:  # noqa: ARG002 an import is a fact of its own
        require_scope(principal, Scope.INGEST)
        require_source(principal, self.slug)
        fact = SourceImported(
            slug=self.slug,
            file_digest=self.file_digest,
            importer=self.importer,
            importer_version=self.importer_version,
            counts=self.counts,
        )
        return Decision((fact,), Done(self.slug, created=True))
