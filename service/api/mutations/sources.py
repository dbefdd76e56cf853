"""Sources of records."""

import strawberry

from domain.commands import RegisterSource
from domain.commands.sources import read_source
from projections.model import Doc
from service.api.context import Context
from service.api.mutations.answers import Written
from service.api.mutations.failures import payload
from service.api.mutations.reading import idempotency_key
from service.api.mutations.writing import Ask, written
from service.api.scalars import URL
from service.api.types.base import Root, loaded, snapshot_of
from service.api.types.catalogue import Source
from service.api.types.described import input_type, object_type
from service.intake import require_no_principal, require_writer


@input_type("A source to register, or whose terms to revise.")
class RegisterSourceInput:
    slug: str = strawberry.field(description="Its name for URLs: lower-case letters, digits and hyphens.")
    name: str = strawberry.field(description="Its name.")
    kind: str = strawberry.field(description="What it is, such as `leaderboard` or `benchmark`.")
    homepage: URL | None = strawberry.field(default=None, description="Its home page.")
    policy: str | None = strawberry.field(default=None, description="Its terms, as a JSON object.")
    idempotency_key: str = idempotency_key()

    async def command(self, context: Context) -> RegisterSource:
        require_no_principal(context.index.keys, self.slug, require_writer(context.principal))
        return read_source(slug=self.slug, name=self.name, kind=self.kind, homepage=self.homepage, policy=self.policy)


@object_type("A source that is registered.")
class RegisterSourceSuccess(Written):
    @loaded(Source, "The source.")
    async def source(self, root: Root) -> Doc:
        return await snapshot_of(root).source(root["@subject"])


@strawberry.type
class SourceMutations:
    @loaded(
        payload(RegisterSourceSuccess, "What became of a source."),
        "Register a source, or revise the terms of a registered one.",
    )
    async def register_source(self, info: Ask, input: RegisterSourceInput) -> Doc:  # noqa: A002 the schema's name
        return await written(info, input)
