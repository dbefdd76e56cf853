"""What the types share: documents as the sources of their fields, nodes, and manifests that stand behind nodes."""

from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Final

import msgspec
import strawberry
from strawberry.utils.str_converters import to_camel_case

from domain.identity import identity_bytes
from projections.model import Doc
from service.api.scalars import Digest
from service.api.snapshot import Snapshot
from service.api.types.described import interface_type, object_type

Root = strawberry.Parent[Doc]
"""A resolver's parent: the document that the type is read from."""

LazyRun = Annotated["Run", strawberry.lazy("service.api.types.runs")]  # type: ignore[name-defined] # noqa: F821
"""The type of runs, for types that runs refer to themselves."""


def picked(description: str) -> Any:
    """A field that is picked from the document, without code."""
    return strawberry.field(description=description)


Together = Callable[[Sequence[Doc]], Awaitable[Sequence[Any]]]

TOGETHER: Final = "together"
"""Metadata of a field: the function that answers it for several documents at once, in order."""
NEEDS: Final = "needs"
"""Metadata of a field: the names of all that its code reads of a document. Without it the whole document is decoded."""


def loaded(
    graphql_type: Any, description: str, *, together: Together | None = None, needs: Sequence[str] | None = None
) -> Callable[[Callable[..., object]], Any]:
    """A field whose resolver answers documents of ``graphql_type``.

    ``together`` answers what the resolver does, for several documents at once; ``needs`` names all that is read of one.
    """
    field: Callable[[Callable[..., object]], Any] = strawberry.field(
        description=description, graphql_type=graphql_type, metadata={TOGETHER: together, NEEDS: needs}
    )
    return field


def linked(graphql_type: Any, description: str, table: str, name: str) -> Any:
    """A field that shows the document in ``table`` whose key the document has under ``name``, if there is one."""

    async def resolve(root: Root) -> Doc | None:
        return await snapshot_of(root).document(table, root[name]) if root[name] else None

    async def together(roots: Sequence[Doc]) -> Sequence[Doc | None]:
        return await by_snapshot(
            roots, lambda snapshot, docs: snapshot.documents_now(table, [doc[name] for doc in docs])
        )

    return loaded(graphql_type, description, together=together, needs=(name,))(resolve)


name_in_document = lru_cache(maxsize=None)(to_camel_case)
"""Documents use the names of the schema."""


def pick(source: Any, name: str) -> Any:
    """The value of a field that has no code of its own."""
    return source[name_in_document(name)]


def snapshot_of(doc: Doc) -> Snapshot:
    """The snapshot in which a document was read."""
    snapshot: Snapshot = doc["@"]
    return snapshot


async def by_snapshot(
    docs: Sequence[Doc], answer: Callable[[Snapshot, Sequence[Doc]], Awaitable[Sequence[Any]]]
) -> Sequence[Any]:
    """Answers for several documents, in order, asked of each snapshot that some of them were read in."""
    snapshots = {id(doc["@"]): snapshot_of(doc) for doc in docs}
    if len(snapshots) == 1:
        return await answer(snapshot_of(docs[0]), docs)
    answers: dict[int, Any] = {}
    for snapshot in snapshots.values():
        there = [doc for doc in docs if doc["@"] is snapshot]
        answers |= zip(map(id, there), await answer(snapshot, there), strict=True)
    return [answers[id(doc)] for doc in docs]


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


@interface_type("Whatever has an id of its own.")
class Node(Told):
    id: strawberry.ID = picked(
        "A digest, a comparison key, or `source/`, `hardware/`, `rerun/`, `runner/`, `attestation/` or `issue/` and a"
        " name; of what is read as of an earlier moment, that and `@<position>`."
    )


@object_type("A list that is too long to be shown whole.")
class CutList:
    path: str = picked("The field, such as `axes` or `cases[3].axes`.")
    count: int = picked("How many entries it has; the first 100 are shown.")


@interface_type("What is registered as a manifest. Its id is the digest of what makes it itself.")
class Registered(Node):
    digest: Digest = picked("`sha256:` and the hex SHA-256 of `canonical`.")
    short_id: str = picked("The first eight hex digits of the digest, for people.")
    title: str = picked("The title that its registrant gave it; editorial, not part of its identity.")
    description: str | None = picked("What its registrant wrote about it; editorial.")

    @loaded(
        list[str],
        "Other names, for ever: ids that other indexes gave it, upstream names. The first 100.",
        needs=("digest",),
    )
    async def aliases(self, root: Root) -> list[str]:
        return await snapshot_of(root).aliases(root["digest"])

    @loaded(list[CutList], "Its lists of more than 100 entries, of which the first 100 are shown; `manifest` has all.")
    async def cut_lists(self, root: Root) -> list[Doc]:
        cut: list[Doc] = root.get("cutLists", [])
        return cut

    @loaded(str, "The whole manifest, as canonical JSON text (RFC 8785), metadata included.", needs=("digest",))
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


@object_type("A line of a record's page.")
class Fact:
    key: str = picked("What the line is about, in the manifest's own words.")
    value: str = picked("What it says, as shown to people.")
