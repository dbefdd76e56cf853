"""What is ingested at once: a run with any of the manifests it refers to, and how its source speaks of it."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from domain.errors import ErrorCode, InvalidInput, Problem, raise_if_any
from domain.facts import ArtifactRecorded
from domain.instants import instant_of_date
from domain.json_text import Json
from domain.manifests import Kind, Manifest, read_manifest

if TYPE_CHECKING:
    from domain.bundle_records import Record

PARTS: Final[dict[str, tuple[Kind, ...]]] = {
    "project": (Kind.SOFTWARE_PROJECT,),
    "operation": (Kind.OPERATION_SPEC,),
    "workload": (Kind.WORKLOAD_CASE, Kind.WORKLOAD_SUITE),
    "implementation": (Kind.IMPLEMENTATION_REVISION,),
    "protocol": (Kind.BENCHMARK_PROTOCOL,),
    "environment": (Kind.EXECUTION_ENVIRONMENT,),
    "run": (Kind.BENCHMARK_RUN,),
}
"""The parts of a bundle, in the order in which they are registered."""

_ORDER: Final = {kind: place for place, kinds in enumerate(PARTS.values()) for kind in kinds}


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """Validated manifests and what goes with them. ``aliases`` are pairs of another name and the object it names."""

    manifests: tuple[Manifest, ...] = ()
    run: Manifest | None = None
    project: str | None = None
    aliases: tuple[tuple[str, str], ...] = ()
    artifacts: tuple[ArtifactRecorded, ...] = ()
    source: str | None = None
    external_id: str | None = None
    producer: str | None = None
    published_at: str | None = None

    def part(self, *kinds: Kind) -> Manifest | None:
        """The embedded manifest of one of these kinds, if there is one."""
        return next((manifest for manifest in self.manifests if manifest.kind in kinds), None)


def read_bundle(tree: Json, document: str = "", *, read: Callable[..., Manifest] = read_manifest) -> Bundle:
    """Validate a bundle, or a single manifest as a bundle of one. Raises :class:`InvalidInput` with every problem.

    ``read`` is for who reads the same parts again and again and keeps them.
    """
    if not isinstance(tree, dict) or "kind" in tree:
        return bundle_of(read(tree, document=document))
    problems: list[Problem] = list(_unknown_parts(tree, document))
    manifests: dict[str, Manifest] = {}
    for part, kinds in PARTS.items():
        if part in tree:
            try:
                manifests[part] = read(tree[part], document=document, kinds=kinds)
            except InvalidInput as error:
                problems.extend(error.within(document, part).problems)
    # Only now: loading its model takes long, and few who work with bundles read them.
    from domain.bundle_records import read_record  # noqa: PLC0415

    record: Record = {}
    try:
        record = read_record(tree.get("record", {}), document)
        raise_if_any(_nothing_to_name(tree, record, document))
    except InvalidInput as error:
        problems.extend(error.problems)
    if problems or not manifests:
        raise InvalidInput(*(problems or [_empty(document)]))
    return bundle_of(*manifests.values(), record=record)


def bundle_of(*manifests: Manifest, record: "Record | None" = None) -> Bundle:
    """A bundle of validated manifests, at most one of each part."""
    stated: Record = record if record is not None else {}
    run = next((manifest for manifest in manifests if manifest.kind is Kind.BENCHMARK_RUN), None)
    named = run or (manifests[0] if len(manifests) == 1 else None)
    project = next((manifest for manifest in manifests if manifest.kind is Kind.SOFTWARE_PROJECT), None)
    published_on = stated.get("publishedOn")
    return Bundle(
        manifests=tuple(sorted((one for one in manifests if one is not run), key=lambda one: _ORDER[one.kind])),
        run=run,
        project=project.digest if project else None,
        aliases=tuple((alias, named.digest) for alias in stated.get("aliases", ())) if named else (),
        source=stated.get("source"),
        external_id=stated.get("externalId"),
        producer=stated.get("producer"),
        published_at=stated.get("publishedAt") or (instant_of_date(published_on) if published_on else None),
    )


def _unknown_parts(tree: Mapping[str, Json], document: str) -> Iterator[Problem]:
    for part in tree:
        if part not in PARTS and part != "record":
            yield Problem(
                code=ErrorCode.UNKNOWN_FIELD,
                message="is not a part of a bundle",
                path=part[:100],
                document=document,
                remedy=f"the parts are {', '.join(reversed(PARTS))} and record; a single manifest needs its kind",
            )


def _nothing_to_name(tree: Mapping[str, Json], record: "Record", document: str) -> Iterator[Problem]:
    """Aliases name the run, or the only manifest; in a bundle of several it would be anybody's guess which."""
    if record.get("aliases") and "run" not in tree and len(tree.keys() & PARTS.keys()) > 1:
        yield Problem(
            code=ErrorCode.INVALID_VALUE,
            message="the bundle holds several manifests and no run, so these aliases name none of them",
            path="record.aliases",
            document=document,
            remedy="send the manifest that they name in a bundle of its own, or leave them out",
        )


def _empty(document: str) -> Problem:
    return Problem(
        code=ErrorCode.MISSING_FIELD,
        message="the bundle holds no manifest",
        document=document,
        remedy=f"give at least one of {', '.join(reversed(PARTS))}",
    )
