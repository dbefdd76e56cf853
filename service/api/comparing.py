"""Comparing runs: what each of them says, looked up for :func:`domain.comparing.compare`."""

import asyncio
from collections.abc import Mapping, Sequence

from domain.comparing import LEAST, MOST, Comparison, Part, Section, Subject, compare
from domain.errors import ErrorCode, InvalidInput, NotFound
from domain.manifests import Kind
from domain.measurements import Measurement, primary_measurement
from projections import identities
from projections.identities import Registered
from projections.model import Doc
from service.api import resolving
from service.api.snapshot import Snapshot

REFERENCES = ("operation", "workload", "protocol", "environment", "implementation", "project")


async def comparison(snapshot: Snapshot, ids: Sequence[str]) -> Comparison:
    """Two to eight runs side by side."""
    if not LEAST <= len(ids) <= MOST:
        raise _invalid(f"{len(ids)} ids are given", f"give {LEAST} to {MOST} runs")
    digests = list(await asyncio.gather(*(_run(snapshot, text, place) for place, text in enumerate(ids))))
    if len(set(digests)) < len(digests):
        raise _invalid("one run is given twice", "give each run once")
    docs = [doc for doc in await snapshot.documents("runs", digests) if doc]
    named = {*digests, *(doc[field] for doc in docs for field in REFERENCES if doc[field])}
    registered = await snapshot.read(lambda db: identities.registered_of(db, named, snapshot.position))
    return compare(await asyncio.gather(*(_subject(snapshot, doc, registered) for doc in docs)))


async def _run(snapshot: Snapshot, text: str, place: int) -> str:
    path = f"ids[{place}]"
    digest = await resolving.resolve_id(snapshot, text, (Kind.BENCHMARK_RUN,), path)
    if digest is None:
        raise NotFound.because(
            f"{text[:100]!r} names no run here",
            path=path,
            remedy="give a digest, a prefix of at least 8 hex digits, or an alias",
        )
    return digest


async def _subject(snapshot: Snapshot, run: Doc, registered: Mapping[str, Registered]) -> Subject:
    standing = await snapshot.standing(run["comparisonKey"]) if run["comparisonKey"] else None
    placed = standing.place_of(run["digest"]) if standing else None
    primary = primary_measurement(registered[run["digest"]].manifest.spec)
    return Subject(
        digest=run["digest"],
        title=run["title"],
        comparison_key=run["comparisonKey"],
        primary=primary,
        rank=placed.rank if placed else None,
        tied=bool(placed and placed.tied),
        parts=_parts(run, registered, primary),
    )


def _parts(run: Doc, registered: Mapping[str, Registered], primary: Measurement | None) -> dict[Section, Part]:
    def part(digest: str | None, **also: str | None) -> Part:
        found = registered.get(digest or "")
        return Part(digest, {**also, **found.manifest.spec} if found else None)

    project = registered.get(run["project"] or "")
    return {
        Section.OPERATION: part(run["operation"]),
        Section.WORKLOAD: part(run["workload"]),
        Section.PROTOCOL: part(run["protocol"]),
        Section.ENVIRONMENT: part(run["environment"]),
        Section.METRIC: Part(None, _metric(primary)),
        Section.IMPLEMENTATION: part(
            run["implementation"],
            title=_title(registered.get(run["implementation"])),
            project=project.manifest.spec["name"] if project else None,
        ),
        Section.RUN: part(
            run["digest"],
            source=run["source"],
            externalId=run["externalId"],
            producer=run["producer"],
            publishedAt=run["publishedAt"],
            evidenceLevel=run["evidence"]["level"],
        ),
    }


def _title(of: Registered | None) -> str | None:
    return of.manifest.title if of else None


def _metric(primary: Measurement | None) -> dict[str, str]:
    return {"metric": primary.metric, "statistic": primary.statistic, "unit": primary.unit} if primary else {}


def _invalid(message: str, remedy: str) -> InvalidInput:
    return InvalidInput.because(message, code=ErrorCode.INVALID_ARGUMENT, path="ids", remedy=remedy)
