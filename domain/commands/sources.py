"""Sources of records, and the reading of their files."""

from typing import Final

import msgspec

from domain.commands import words
from domain.commands.aliases import claims
from domain.commands.base import Command, Decision
from domain.commands.permits import require_scope, require_source
from domain.errors import ErrorCode, InvalidInput, raise_if_any
from domain.facts import Fact, SourceImported, SourcePolicyRevised, SourceRegistered
from domain.identity import canonical_json
from domain.json_text import read_json
from domain.outcomes import Done
from domain.principals import Principal, Scope
from domain.streams import SourceState, World


class RegisterSource(Command, frozen=True, kw_only=True):
    """Make a source known, or revise the terms of a known one. ``policy`` is canonical JSON.

    An administrator may for any source, whoever writes for it for that one. With ``revise`` false the terms of a source
    that is known stay: who only reads its files does not speak for it.
    """

    slug: str
    name: str
    kind: str
    homepage: str | None = None
    policy: bytes | None = None
    aliases: tuple[str, ...] = ()
    revise: bool = True

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
        elif self.revise and self.policy is not None and self.policy != known.policy:
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


MOST_NAME: Final = 200
MOST_KIND: Final = 50


def read_source(*, slug: str, name: str, kind: str, homepage: str | None, policy: str | None) -> RegisterSource:
    """The command from what people wrote; ``policy`` is JSON text. Raises :class:`InvalidInput` with every problem."""
    problems = [*words.slug(slug, "slug"), *words.line(name, "name", MOST_NAME), *words.line(kind, "kind", MOST_KIND)]
    terms: bytes | None = None
    try:
        terms = _policy(policy) if policy is not None else None
    except InvalidInput as error:
        problems.extend(error.within(prefix="policy").problems)
    raise_if_any(problems)
    return RegisterSource(slug=slug, name=name, kind=kind, homepage=homepage, policy=terms)


def _policy(text: str) -> bytes:
    tree = read_json(text)
    if not isinstance(tree, dict):
        raise InvalidInput.because("the policy is not a JSON object", code=ErrorCode.INVALID_VALUE, remedy="write {…}")
    return canonical_json(tree)
