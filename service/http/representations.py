"""The forms in which a run can be had over HTTP. Another form is another entry of ``REPRESENTATIONS``."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from domain.identity import hex_of
from domain.manifests import stored_manifest
from projections.model import Doc
from service.api import citing
from service.api.context import Context
from service.api.snapshot import Snapshot
from service.api.types.base import snapshot_of
from service.citations import CitationFormat
from service.http.negotiation import HTML, JSON
from service.pages.answers import SAFETY
from service.pages.run import run_page

FOR_EVER: Final = "public, max-age=31536000, immutable"
A_MINUTE: Final = "public, max-age=60"
REVALIDATED: Final = "public, no-cache"
"""May be kept, but is asked for again each time: it says on which day it was read."""


@dataclass(frozen=True, slots=True)
class Record:
    """A run, by its document as of a snapshot, as it was asked for."""

    run: Doc
    context: Context
    given: Mapping[str, str] = field(default_factory=dict)
    """The parameters of its address: a page takes from them where its lists go on."""

    @property
    def snapshot(self) -> Snapshot:
        """What it was read in."""
        return snapshot_of(self.run)

    @property
    def digest(self) -> str:
        """Its digest."""
        return str(self.run["digest"])

    @property
    def permalink(self) -> str:
        """Where it is found as it stands at any time."""
        return f"{self.snapshot.base_url}/runs/{hex_of(self.digest)}"

    @property
    def pinned_permalink(self) -> str:
        """Where it is found as it stood at the position of its snapshot."""
        return f"{self.permalink}/at/{self.snapshot.position}"

    @property
    def address(self) -> str:
        """Of the two the one that it was asked for by."""
        return self.pinned_permalink if self.snapshot.pinned else self.permalink


class Representation(msgspec.Struct, frozen=True):
    """A form: its media type, the suffix that asks for it, what writes it, and how long caches may keep it.

    ``headers`` go with it. ``is_record`` says that it is the record itself; the others describe it.
    """

    media_type: str
    suffix: str
    write: Callable[[Record], Awaitable[bytes]]
    keep: str = REVALIDATED
    keep_pinned: str = REVALIDATED
    is_record: bool = False
    headers: Mapping[str, str] = {}

    @property
    def content_type(self) -> str:
        """The media type as a header names it; JSON is UTF-8 by itself."""
        return self.media_type if "json" in self.media_type else f"{self.media_type}; charset=utf-8"


async def _canonical(record: Record) -> bytes:
    manifest = await record.snapshot.manifest(record.digest)
    return stored_manifest(manifest.encode(), record.digest).identity


def _cited(as_: CitationFormat) -> Callable[[Record], Awaitable[bytes]]:
    async def write(record: Record) -> bytes:
        citation = await citing.citation(record.run, record.context, as_)
        return str(citation["content"]).encode()

    return write


async def _page(record: Record) -> bytes:
    return await run_page(record.run, record.context, record.given)


REPRESENTATIONS: Final = (
    Representation(JSON, ".json", _canonical, A_MINUTE, FOR_EVER, is_record=True),
    *(Representation(one.value.media_type, one.value.suffix, _cited(one)) for one in CitationFormat),
    Representation(HTML, ".html", _page, headers=SAFETY),
)
"""The first is what whoever takes anything gets."""

_BY_LENGTH: Final = sorted(REPRESENTATIONS, key=lambda one: -len(one.suffix))


def split_suffix(text: str) -> tuple[str, Representation | None]:
    """The text without the suffix of a representation, and that one: ``x.csl.json`` is CSL-JSON, not JSON."""
    for one in _BY_LENGTH:
        if text.endswith(one.suffix):
            return text.removesuffix(one.suffix), one
    return text, None
