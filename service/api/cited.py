"""What became of a record that somebody cited: as it stood then, whether the citation fits, and what has changed."""

import re
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec

from domain.errors import ErrorCode, InvalidInput, NotFound
from domain.events import timestamp
from domain.identity import unpinned
from domain.manifests import Kind
from projections.model import Doc
from service.api.citing import accessed_on as day_of_access
from service.api.context import Context
from service.api.resolving import document_of
from service.api.since import changes_since
from service.api.snapshot import Snapshot
from service.citations import CitationFormat

PERMALINK: Final = re.compile(r"(?:.*/)?runs/([^/]+?)(?:/at/([1-9][0-9]{0,15}))?\Z")
SUFFIXES: Final = re.compile(rf"(?:{'|'.join(re.escape(one.value.suffix) for one in CitationFormat)}|\.json)\Z")


class Permalink(msgspec.Struct, frozen=True):
    """What a permalink names: the id of a run, and the position that it is pinned to, if it is."""

    id: str
    position: int | None


async def cited_record(context: Context, permalink: str, digest: str | None, day: str | None) -> Doc | None:
    """The document of a cited record; None where no run has the id.

    Raises :class:`InvalidInput` for a permalink that is none, a position or day that has not come yet; ``NotFound``
    where the record was not there at that moment.
    """
    link = parsed(permalink)
    accessed = day_of_access(context, day) if day is not None else None
    now = await document_of(context.snapshot, link.id, (Kind.BENCHMARK_RUN,))
    if now is None:
        return None
    snapshot, basis = _moment(context, link, accessed)
    then = await document_of(snapshot, now["digest"], (Kind.BENCHMARK_RUN,))
    if then is None:
        raise NotFound.because(
            f"the record was not there at position {snapshot.position}",
            path="permalink" if link.position else "accessedOn",
            remedy=f"it was recorded on {now['recordedAt'][:10]} (UTC), at position {now['position']}",
        )
    return {
        "basis": basis,
        "run": then,
        "present": now,
        "position": snapshot.position,
        "asOf": snapshot.known_at,
        "digestFits": None if digest is None else digest == now["digest"],
        "addressFits": permalink.startswith(f"{snapshot.base_url}/"),
        "changedOnThatDay": await _changed_on(context, accessed, then) if basis == "ACCESS_DATE" else None,
        "changes": await changes_since(then, now, context),
    }


def parsed(permalink: str) -> Permalink:
    """The parts of ``…/runs/<id>`` or ``…/runs/<id>/at/<position>``, whatever form of the record it asks for."""
    try:
        path = SUFFIXES.sub("", unquote(urlsplit(permalink).path).rstrip("/"))
    except ValueError:
        path = ""
    match = PERMALINK.match(path)
    if match is None:
        raise InvalidInput.because(
            f"{permalink[:200]!r} is not the permalink of a run",
            code=ErrorCode.INVALID_ARGUMENT,
            path="permalink",
            remedy="write it as it was cited: …/runs/<64 hex digits>/at/<position>",
        )
    if match[2] is None and (pinned := unpinned(match[1])):
        return Permalink(*pinned)
    return Permalink(match[1], int(match[2]) if match[2] else None)


def _moment(context: Context, link: Permalink, day: str | None) -> tuple[Snapshot, str]:
    """Which moment the citation means, and by what: its position, else the end of its day, else the present."""
    if link.position is not None:
        return context.pinned_at(link.position, "permalink"), "PERMALINK"
    if day is not None:
        end_of_day = min(f"{day}T23:59:59.999999Z", timestamp(context.accessed_at))
        return context.pinned_known_at(end_of_day, "accessedOn"), "ACCESS_DATE"
    return context.pinned_at(context.snapshot.position, "permalink"), "PRESENT"


async def _changed_on(context: Context, day: str | None, end: Doc) -> bool:
    """Whether the record changed on that day: then the citation may mean another state of it than its last one."""
    # As text, a day's beginning sorts before all of its instants and after those of the day before.
    before = context.pinned_known_at(f"{day}T", "accessedOn")
    start = await document_of(before, end["digest"], (Kind.BENCHMARK_RUN,))
    return start is None or bool(await changes_since(start, end, context))
