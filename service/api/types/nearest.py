"""The neighbours of a case that nobody has measured."""

import sqlite3
from typing import Final

from domain.display.names import slugify
from domain.errors import NotFound
from domain.manifests import Kind
from domain.neighbours import Neighbour, case_of, nearest
from projections import identities, runs
from projections.model import Doc
from service.api import resolving
from service.api.scalars import BigInt
from service.api.snapshot import Snapshot
from service.api.types.base import Root, loaded, picked, snapshot_of
from service.api.types.catalogue import Hardware, WorkloadCase
from service.api.types.described import object_type

MAX_NEIGHBOURS: Final = 100


@object_type("A measured neighbour of a case that is not measured: it differs in the size of one axis.")
class NearestCase:
    axis: str = picked("The one axis in which it differs.")
    wanted: BigInt = picked("The size of that axis in the case that was asked for.")
    size: BigInt = picked("The size of that axis here.")
    run_count: int = picked("How many runs on it may be ranked, on the hardware that was asked for.")
    note: str = picked("What it is, in words: a neighbour, not an answer.")

    @loaded(WorkloadCase, "The neighbour.")
    async def workload(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("workloads", root["@workload"])

    @loaded(Hardware | None, "The hardware that was asked for; null where none was.")
    async def hardware(self, root: Root) -> Doc | None:
        slug = root["@hardware"]
        return await snapshot_of(root).document("hardware", slug) if slug else None


async def nearest_cases(snapshot: Snapshot, workload: str, hardware: str | None) -> list[Doc]:
    """The documents of the neighbours; none where the case itself is measured, and of a suite, which has no sizes."""
    digest = await resolving.resolve_id(snapshot, workload, resolving.WORKLOADS, "workload")
    if digest is None:
        raise NotFound.because(
            f"{workload[:100]!r} names no workload here",
            path="workload",
            remedy="give a digest, a prefix of at least 8 hex digits, or an alias",
        )
    slug = slugify(hardware) if hardware is not None else None
    found, counts = await snapshot.read(lambda db: _neighbours(db, digest, slug, snapshot.position))
    return [snapshot.adopt(_document(one, counts[one.digest], slug)) for one in found[:MAX_NEIGHBOURS]]


def _neighbours(
    db: sqlite3.Connection, digest: str, hardware: str | None, position: int
) -> tuple[list[Neighbour], dict[str, int]]:
    asked = identities.registered_of(db, [digest], position)[digest].manifest
    counts = runs.measured_workloads(db, asked.spec["operationSpecDigest"], hardware, position)
    if digest in counts or asked.kind is not Kind.WORKLOAD_CASE:
        return [], counts
    measured = identities.registered_of(db, counts, position)
    cases = [
        case_of(key, one.manifest.spec) for key, one in measured.items() if one.manifest.kind is Kind.WORKLOAD_CASE
    ]
    return nearest(case_of(digest, asked.spec), cases), counts


def _document(one: Neighbour, run_count: int, hardware: str | None) -> Doc:
    return {
        "axis": one.axis,
        "wanted": str(one.wanted),
        "size": str(one.size),
        "runCount": run_count,
        "note": f"a neighbour: {one.axis} is {one.size} where {one.wanted} was asked for, which nobody has measured",
        "@workload": one.digest,
        "@hardware": hardware,
    }
