"""``Link`` headers of a record (RFC 8288): signposts for machines, and its place in time (RFC 7089)."""

from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import quote

from service.http.representations import REPRESENTATIONS, Record, Representation

IN_URL: Final = "/:?#[]@!$&'()*+,;=%~-._"
TYPES: Final = ("https://schema.org/Dataset", "https://schema.org/AboutPage")


class _Link(NamedTuple):
    target: str
    relation: str
    media_type: str = ""

    def __str__(self) -> str:
        kind = f'; type="{self.media_type}"' if self.media_type else ""
        return f'<{self.target}>; rel="{self.relation}"{kind}'


async def link_header(record: Record, asked_for: Representation | None) -> str:
    """The header; ``asked_for`` is the form that a suffix asked for, None at the address of the record as such."""
    links = [_Link(record.pinned_permalink, "cite-as"), *_signposts(record, asked_for)]
    if licence := await _licence(record):
        links.append(_Link(licence, "license"))
    latest = " latest-version" if record.snapshot.pinned else ""
    links.append(_Link(record.permalink, f"original timegate{latest}"))
    return ", ".join(map(str, links))


def _signposts(record: Record, asked_for: Representation | None) -> Iterator[_Link]:
    if asked_for is not None:
        yield _Link(record.address, "collection" if asked_for.is_record else "describes")
        return
    for kind in TYPES:
        yield _Link(kind, "type")
    for form in REPRESENTATIONS:
        relation = "item" if form.is_record else "describedby"
        yield _Link(f"{record.address}{form.suffix}", relation, form.media_type)


async def _licence(record: Record) -> str | None:
    """Where the terms of the run's source are published, with whatever could end the header's value escaped."""
    source = await record.snapshot.source(record.run["source"])
    url = str((source["policy"] or {}).get("url") or "")
    return quote(url, safe=IN_URL) if url.startswith(("https://", "http://")) else None
