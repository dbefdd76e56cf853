"""What the types share: documents as the sources of their fields, nodes, and manifests that stand behind nodes."""

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import msgspec
import strawberry
from strawberry.utils.str_converters import to_camel_case

from domain.identity import identity_bytes
from projections.model import Doc
from service.api.scalars import Digest
from service.api.snapshot import Snapshot

Root = strawberry.Parent[Doc]
"""A resolver's parent: the document that the type is read from."""

LazyRun = Annotated["Run", strawberry.lazy("service.api.types.runs")]  # type: ignore[name-defined] # noqa: F821
"""The type of runs, for types that runs refer to themselves."""


def picked(description: str) -> Any:
    """A field that is picked from the document, without code."""
    return strawberry.field(description=description)


def loaded(graphql_type: Any, description: str) -> Callable[[Callable[..., object]], Any]:
    """A field whose resolver answers documents of ``graphql_type``."""
    field: Callable[[Callable[..., object]], Any] = strawberry.field(description=description, graphql_type=graphql_type)
    return field


_camel = lru_cache(maxsize=None)(to_camel_case)


def pick(source: Any, name: str) -> Any:
    """The value of a field that has no code of its own: documents use the names of the schema."""
    return source[_camel(name)]


def snapshot_of(doc: Doc) -> Snapshot:
    """The snapshot in which a document was read."""
    snapshot: Snapshot = doc["@"]
    return snapshot


class Documented:
    """A type that is told by its document's ``@type``."""

    graphql_name: ClassVar[str | None] = None

    @classmethod
    def is_type_of(cls, obj: Any, _info: Any) -> bool:
        """Whether the document is of this type."""
        return bool(obj["@type"] == (cls.graphql_name or cls.__name__))


class Told:
    """An interface whose documents say what they are."""

    @classmethod
    def resolve_type(cls, obj: Any, _info: Any, _type: Any) -> str:
        """The name of the document's type."""
        return str(obj["@type"])


@strawberry.interface(description="Whatever has an id of its own.")
class Node(Told):
    id: strawberry.ID = picked(
        "A digest, a comparison key, or `source/`, `hardware/`, `rerun/`, `runner/`, `attestation/` or `issue/` and a"
        " name; of what is read as of an earlier moment, that and `@<position>`."
    )


@strawberry.type(description="A list that is too long to be shown whole.")
class CutList:
    path: str = picked("The field, such as `axes` or `cases[3].axes`.")
    count: int = picked("How many entries it has; the first 100 are shown.")


@strawberry.interface(description="What is registered as a manifest. Its id is the digest of what makes it itself.")
class Registered(Node):
    digest: Digest = picked("`sha256:` and the hex SHA-256 of `canonical`.")
    short_id: str = picked("The first eight hex digits of the digest, for people.")
    title: str = picked("The title that its registrant gave it; editorial, not part of its identity.")
    description: str | None = picked("What its registrant wrote about it; editorial.")

    @loaded(list[str], "Other names, for ever: ids that other indexes gave it, upstream names. The first 100.")
    async def aliases(self, root: Root) -> list[str]:
        return await snapshot_of(root).aliases(root["digest"])

    @loaded(list[CutList], "Its lists of more than 100 entries, of which the first 100 are shown; `manifest` has all.")
    async def cut_lists(self, root: Root) -> list[Doc]:
        cut: list[Doc] = root.get("cutLists", [])
        return cut

    @loaded(str, "The whole manifest, as canonical JSON text (RFC 8785), metadata included.")
    async def manifest(self, root: Root) -> str:
        return await snapshot_of(root).manifest(root["digest"])

    @loaded(str, "`{apiVersion, kind, spec}` as canonical JSON text: the SHA-256 of these bytes is the digest.")
    async def canonical(self, root: Root) -> str:
        manifest = msgspec.json.decode(await snapshot_of(root).manifest(root["digest"]), type=_Identity)
        return identity_bytes(manifest.api_version, manifest.kind, bytes(manifest.spec)).decode()


class _Identity(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    spec: msgspec.Raw


@strawberry.type(description="A line of a record's page.")
class Fact:
    key: str = picked("What the line is about, in the manifest's own words.")
    value: str = picked("What it says, as shown to people.")
