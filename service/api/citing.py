"""From a run's document to its citation: what it says is gathered in batches, the formats are pure."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from domain.errors import ErrorCode, InvalidInput, KernelIndexError, NotFound, Problem
from domain.identity import hex_of, short_id
from domain.manifests import Kind
from projections.model import Doc
from service.api import resolving
from service.api.context import Context
from service.api.snapshot import Snapshot
from service.citations import CitationFormat, Cited, Entry, Warned, bibliography, cite, require_style_fits
from service.citations.cited import Name, Result

MAX_IDS: Final = 100
MAX_STYLED: Final = 20
MAX_STYLED_WITH_KEY: Final = 100


async def citation(
    run: Doc, context: Context, as_: CitationFormat, style: str | None = None, day: str | None = None
) -> Doc:
    """The document of one run's citation."""
    cited = await cited_run(run, context, accessed_on(context, day))
    entry = await _written(lambda: cite(cited, as_, style), style, context)
    return {
        **_document(entry, as_),
        "key": cited.key,
        "permalink": cited.permalink,
        "digest": cited.digest,
        "position": cited.position,
        "evidenceLevel": cited.evidence_level,
        "accessedOn": cited.accessed_on,
    }


async def export(
    ids: Sequence[str], snapshot: Snapshot, context: Context, as_: CitationFormat, style: str | None, day: str | None
) -> Doc:
    """The document of an export: the runs that these ids mean, and what is wrong with the other ids."""
    if len(ids) > MAX_IDS:
        raise InvalidInput.because(
            f"{len(ids)} ids are too many",
            code=ErrorCode.INVALID_ARGUMENT,
            path="ids",
            remedy=f"ask for at most {MAX_IDS} at a time",
        )
    require_style_fits(as_, style)
    accessed = accessed_on(context, day)
    found = await asyncio.gather(*(_run_or_problem(snapshot, one) for one in ids))
    runs = [one for one in found if not isinstance(one, Problem)]
    several = await asyncio.gather(*(cited_run(run, context, accessed) for run in runs))
    problems = [_problem(id_, one) for id_, one in zip(ids, found, strict=True) if isinstance(one, Problem)]
    return {
        **_document(await _written(lambda: bibliography(several, as_, style), style, context, len(several)), as_),
        "keys": list(dict.fromkeys(cited.key for cited in several)),
        "problems": problems,
    }


def accessed_on(context: Context, day: str | None) -> str:
    """The UTC day of access: today unless another is given. One that has not come yet is refused."""
    today = context.today
    if day is not None and day > today:
        raise InvalidInput.because(
            f"{day} has not come yet",
            code=ErrorCode.INVALID_ARGUMENT,
            path="accessedOn",
            remedy=f"leave it out, or give a day up to {today} (UTC)",
        )
    return day or today


async def cited_run(run: Doc, context: Context, day: str) -> Cited:
    """What a citation says of a run as of the snapshot in which its document was read."""
    snapshot: Snapshot = run["@"]
    implementation, operation, environment, source, manifest, changed_at = await asyncio.gather(
        snapshot.document("implementations", run["implementation"]),
        _optional(snapshot, "operations", run["operation"]),
        snapshot.document("conditions", run["environment"]),
        snapshot.source(run["source"]),
        snapshot.manifest(run["digest"]),
        snapshot.changed_at(run["digest"]),
    )
    hardware = await snapshot.document("hardware", environment["hardware"]) if environment else None
    name = implementation["name"] if implementation else f"unresolved implementation {short_id(run['implementation'])}"
    about = [
        operation["name"] if operation else "unresolved operation",
        run["workloadLabel"],
        hardware["product"] if hardware else f"unresolved environment {short_id(run['environment'])}",
    ]
    primary = run["primary"]
    policy = source["policy"] or {}
    return Cited(
        digest=run["digest"],
        position=snapshot.position,
        permalink=f"{snapshot.base_url}/runs/{hex_of(run['digest'])}/at/{snapshot.position}",
        title=f"{name}: {', '.join(about)}",
        authors=_authors(manifest, implementation, source),
        result=Result(**{field: primary[field] for field in Result.__struct_fields__}) if primary else None,
        status=run["status"],
        source=source["name"],
        evidence_level=run["evidence"]["level"],
        issued_on=run["publishedAt"][: len("2026-08-01")],
        changed_on=changed_at[: len("2026-08-01")],
        accessed_on=day,
        standing=_standing(run),
        licence=policy.get("url"),
        known_on=snapshot.known_at[: len("2026-08-01")],
        is_public=context.is_public,
    )


class _Author(msgspec.Struct):
    name: str = ""
    github: str = ""


class _Metadata(msgspec.Struct):
    authors: list[_Author] = []


class _Edited(msgspec.Struct):
    metadata: _Metadata


def _authors(manifest: str, implementation: Doc | None, source: Doc) -> tuple[Name, ...]:
    """The run's authors, else those of its implementation, else its source."""
    stated = [one.name or one.github for one in msgspec.json.decode(manifest, type=_Edited).metadata.authors]
    names = [name for name in stated if name] or (implementation or {}).get("authors") or [source["name"]]
    return tuple(Name(literal=name) for name in names)


def _standing(run: Doc) -> tuple[str, ...]:
    decided = run["lifecycle"]
    states = {
        "contested": run["evidence"]["contested"],
        "retracted": decided["retracted"],
        "superseded": decided["supersededBy"],
    }
    return tuple(state for state, holds in states.items() if holds)


async def _optional(snapshot: Snapshot, table: str, digest: str | None) -> Doc | None:
    return await snapshot.document(table, digest) if digest else None


async def _written(write: Callable[[], Entry], style: str | None, context: Context, count: int = 1) -> Entry:
    if style is None:
        return write()
    context.styled += count
    most = MAX_STYLED_WITH_KEY if context.is_known else MAX_STYLED
    if context.styled > most:
        raise InvalidInput.because(
            f"an operation may ask for {most} citations in a style, not {context.styled}",
            code=ErrorCode.QUERY_TOO_COMPLEX,
            path="style",
            remedy="ask for fewer at a time, or take CSL_JSON to a citation processor",
        )
    # A style takes so long that others must be served meanwhile; our own formats take less than the way to a thread.
    return await asyncio.to_thread(write)


def _document(entry: Entry, as_: CitationFormat) -> Doc:
    return {
        "content": entry.content,
        "mediaType": as_.value.media_type,
        "warnings": [_warning(warned) for warned in entry.warnings],
    }


def _warning(warned: Warned) -> Doc:
    return {"code": warned.code, "message": warned.message}


async def _run_or_problem(snapshot: Snapshot, text: str) -> Doc | Problem:
    try:
        found = await resolving.document_of(snapshot, text, (Kind.BENCHMARK_RUN,))
    except KernelIndexError as error:
        return error.problems[0]
    if found is None:
        remedy = "give a digest, a prefix of at least 8 hex digits, or an alias"
        return NotFound.because(f"no run has the id {text[:100]!r}", remedy=remedy).problems[0]
    return found


def _problem(id_: str, problem: Problem) -> Doc:
    return {"id": id_, "code": problem.code, "message": problem.message, "remedy": problem.remedy}
