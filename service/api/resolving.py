"""From what clients write to what is recorded: ids, slugs, filters."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from domain.display.names import slugify
from domain.errors import ErrorCode, InvalidInput, NotFound, Problem
from domain.facts import EVENTS
from domain.identity import digest_prefix, is_digest, unpinned
from domain.instants import instant_key
from domain.json_text import shown
from domain.manifests import Kind
from projections import rankings
from projections.events import Criteria
from projections.identities import Match
from projections.model import Doc
from projections.paging import Listing
from service.api.snapshot import KINDS, Snapshot

WORKLOADS: Final = (Kind.WORKLOAD_CASE, Kind.WORKLOAD_SUITE)
EVERYTHING: Final = (*KINDS, "Source")
NAMED: Final[Mapping[str, str]] = {
    "hardware": "hardware",
    "rerun": "reruns",
    "runner": "runners",
    "attestation": "attestations",
    "issue": "issues",
}
"""What ids of the form ``<kind>/<name>`` are found in."""


_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
_PIN: Final = re.compile(r"@[0-9]{1,16}\Z")


def meant(snapshot: Snapshot, text: str, path: str) -> tuple[Snapshot, str]:
    """Where an id is to be looked up, and the bare id: a pinned one in the snapshot that it names, wherever it stands.

    Raises ``POSITION_IN_FUTURE`` where the log has not come so far.
    """
    pin = unpinned(text)
    return (snapshot.pinned_at(pin[1], path), pin[0]) if pin else (snapshot, text)


async def resolve_id(snapshot: Snapshot, text: str, kinds: Collection[str], path: str = "id") -> str | None:
    """The digest that an id means among objects of these kinds, or None. An ambiguous prefix is refused."""
    snapshot, text = meant(snapshot, text, path)
    found = [match for match in await snapshot.matches(text, kinds) if match.kind in kinds]
    if len(found) > 1:
        raise _ambiguous(text, path, found)
    if not found:
        await _require_not_erased(snapshot, text, path)
    return found[0].id if found else None


async def _require_not_erased(snapshot: Snapshot, text: str, path: str) -> None:
    """Say of what was erased that it was there: a permalink to it answers 410, not 404, for ever."""
    digest = text if is_digest(text) else await snapshot.target(text) or digest_prefix(text)
    if digest and (erasure := await snapshot.erasure(digest)):
        raise NotFound.because(
            f"this record was erased at {erasure.recorded_at}: {erasure.legal_basis}",
            code=ErrorCode.GONE,
            path=path,
            remedy="it will not come back; cite another record",
        )


async def require_id(snapshot: Snapshot, text: str, kinds: Collection[str], path: str) -> str:
    """The digest that an id in a filter means; one that means nothing is an error, not an empty list.

    A whole digest of what is not registered passes: runs may refer to it all the same.
    """
    snapshot, text = meant(snapshot, text, path)
    digest = await resolve_id(snapshot, text, kinds, path)
    if digest is None and is_digest(text) and not await snapshot.matches(text, EVERYTHING):
        return text
    if digest is None:
        raise NotFound.because(
            f"{text[:100]!r} names nothing here",
            path=path,
            remedy="give a digest, a prefix of at least 8 hex digits, or an alias",
        )
    return digest


def bare_id(kind: str, text: str, path: str | None = None) -> str:
    """The name in an id of something that is not a manifest, given as ``<kind>/<name>`` or as the name alone."""
    name = _PIN.sub("", text.removeprefix(f"{kind}/"))
    if not _NAME.match(name):
        raise NotFound.because(
            f"{shown(text)} names no {kind}", path=path or kind, remedy=f"give an id such as {kind}/…"
        )
    return name


async def document_of(snapshot: Snapshot, text: str, kinds: Collection[str]) -> Doc | None:
    """The document that an id means among manifests of these kinds."""
    snapshot, text = meant(snapshot, text, "id")
    table = KINDS[next(iter(kinds))]
    # A record's own id means that record, whatever else is called so.
    if is_digest(text) and (own := await snapshot.document(table, text)):
        return own
    digest = await resolve_id(snapshot, text, kinds)
    return await snapshot.document(table, digest) if digest else None


async def node(snapshot: Snapshot, text: str) -> Doc | None:
    """The document of any node by its id."""
    snapshot, text = meant(snapshot, text, "id")
    kind, _, slug = text.partition("/")
    if kind == "source" and slug:
        source = await snapshot.source(slug)
        return source if source["registered"] else None
    if (table := NAMED.get(kind)) and slug:
        return await snapshot.document(table, slug)
    found = await snapshot.matches(text, EVERYTHING)
    if len(found) > 1:
        raise _ambiguous(text, "id", found)
    if found and found[0].kind == "Source":
        return await node(snapshot, found[0].id)
    if found:
        return await snapshot.document(KINDS[found[0].kind], found[0].id)
    await _require_not_erased(snapshot, text, "id")
    digest = text if is_digest(text) else await snapshot.target(text)
    return (await snapshot.document("artifacts", digest) or await ranking(snapshot, digest)) if digest else None


async def ranking(snapshot: Snapshot, comparison_key: str) -> Doc | None:
    """The document of a group that has ranked runs."""
    standing = await snapshot.standing(comparison_key)
    return await snapshot.document("rankings", comparison_key) if standing else None


async def run_criteria(snapshot: Snapshot, given: Mapping[str, Any]) -> dict[str, Any]:
    """The criteria of :func:`projections.runs.listing` from a filter's fields that were given."""
    return {name: await _criterion(snapshot, name, value) for name, value in given.items()}


async def ranking_listing(snapshot: Snapshot, given: Mapping[str, Any]) -> Listing:
    """The groups that a filter's given fields choose."""
    return rankings.listing({name: await _criterion(snapshot, name, value) for name, value in given.items()})


async def event_criteria(snapshot: Snapshot, given: Mapping[str, Any]) -> Criteria:
    """The events that a filter's given fields choose."""
    criteria = dict(given)
    if unknown := set(criteria.get("types", ())) - EVENTS.keys():
        raise InvalidInput.because(
            f"{min(unknown)[:100]!r} is no type of events",
            code=ErrorCode.INVALID_ARGUMENT,
            path="filter.types",
            remedy=f"the types are {', '.join(EVENTS)}",
        )
    if run := criteria.pop("run", None):
        criteria["record"] = await require_id(snapshot, run, (Kind.BENCHMARK_RUN,), "filter.run")
    for name in ("recorded_from", "recorded_to"):
        if name in criteria:
            criteria[name] = instant_key(criteria[name])
    return Criteria(**criteria | {"types": tuple(criteria["types"]) if "types" in criteria else None})


_REFERENCES: Final[Mapping[str, Collection[str]]] = {
    "operation": (Kind.OPERATION_SPEC,),
    "implementation": (Kind.IMPLEMENTATION_REVISION,),
    "project": (Kind.SOFTWARE_PROJECT,),
    "workload": WORKLOADS,
}


async def _criterion(snapshot: Snapshot, name: str, value: Any) -> Any:
    if kinds := _REFERENCES.get(name):
        return await require_id(snapshot, value, kinds, f"filter.{name}")
    if name == "hardware":
        return slugify(value)
    if name == "status":
        return value.lower()
    if name.endswith(("_from", "_to")):
        return instant_key(value)
    return value


def _ambiguous(text: str, path: str, found: Iterable[Match]) -> InvalidInput:
    candidates = ", ".join(match.id for match in found)
    return InvalidInput(
        Problem(
            code=ErrorCode.AMBIGUOUS_ID,
            message=f"{text!r} begins the ids of several records: {candidates}",
            path=path,
            remedy="give more digits",
        )
    )
