"""Sources of records, and the reading of their files."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from domain.commands.aliases import claims
from domain.commands.base import Command, Decision
from domain.commands.permits import require_scope, require_source
from domain.errors import ErrorCode, InvalidInput, Problem, raise_if_any
from domain.facts import Fact, SourceImported, SourcePolicyRevised, SourceRegistered
from domain.identity import canonical_json
from domain.json_text import Json, check_tree, read_json
from domain.manifests.common import Line50, Line200, Slug
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


@with_config(ConfigDict(extra="forbid", strict=True))
class _Source(TypedDict):
    slug: Slug
    name: Annotated[Line200, Field(min_length=1)]
    kind: Annotated[Line50, Field(min_length=1)]


_SOURCE: Final = TypeAdapter(_Source)
_ON_ONE_LINE: Final = "give it on one line, not empty and not longer than this"
_REMEDIES: Final = {
    "slug": "write lower-case letters, digits and hyphens, not beginning with one; at most 100",
    "name": f"{_ON_ONE_LINE}: 200 characters",
    "kind": f"{_ON_ONE_LINE}: 50 characters",
}


def read_source(*, slug: str, name: str, kind: str, homepage: str | None, policy: str | None) -> RegisterSource:
    """The command from what people wrote; ``policy`` is JSON text. Raises :class:`InvalidInput` with every problem."""
    problems: list[Problem] = []
    stated: dict[str, Json] = {"slug": slug, "name": name, "kind": kind}
    terms: bytes | None = None
    try:
        check_tree(stated)
        _SOURCE.validate_python(stated)
    except InvalidInput as error:
        problems.extend(error.problems)
    except ValidationError as error:
        problems.extend(_source_problem(detail) for detail in error.errors(include_url=False))
    try:
        terms = _policy(policy) if policy is not None else None
    except InvalidInput as error:
        problems.extend(error.within(prefix="policy").problems)
    raise_if_any(problems)
    return RegisterSource(slug=slug, name=name, kind=kind, homepage=homepage, policy=terms)


def _source_problem(detail: Mapping[str, Any]) -> Problem:
    field = str(detail["loc"][0])
    message = f"is refused: {str(detail['msg']).lower()}"
    return Problem(code=ErrorCode.INVALID_VALUE, message=message, path=field, remedy=_REMEDIES[field])


def _policy(text: str) -> bytes:
    tree = read_json(text)
    if not isinstance(tree, dict):
        raise InvalidInput.because("the policy is not a JSON object", code=ErrorCode.INVALID_VALUE, remedy="write {…}")
    return canonical_json(tree)
