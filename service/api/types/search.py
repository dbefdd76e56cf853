"""Search: what was found, why, and hints about what could not be understood."""

from typing import Any, Final

import msgspec

from domain.search_text import read_search
from projections import paging, search
from projections.model import Doc
from projections.paging import Window
from projections.search import Explained
from service.api import cursors
from service.api.context import Context
from service.api.cursors import PageCursor
from service.api.scalars import Position
from service.api.snapshot import Snapshot
from service.api.types.base import Node, Root, loaded, picked, snapshot_of
from service.api.types.connections import PageArguments, PageInfo, page_info, paged
from service.api.types.described import object_type

TABLES: Final = {
    "Run": "runs",
    "Operation": "operations",
    "WorkloadCase": "workloads",
    "WorkloadSuite": "workloads",
    "Implementation": "implementations",
    "Project": "projects",
    "Hardware": "hardware",
    "Source": "sources",
}
NOTHING: Final = "nothing here matches all of it: leave something out"
BY_ID: Final = Explained(("id",), "")


@object_type("Something that was found.")
class SearchHit:
    cursor: str = picked("Its place among the hits, opaque.")
    matched: list[str] = picked("Where the search matched: `name`, `op`, `gpu` and so on, `axis`, or `id`.")
    snippet: str = picked("Words around the best match, each match between two pairs of asterisks.")

    @loaded(Node, "What was found.")
    async def node(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document(TABLES[root["@kind"]], root["@key"])


@object_type("What a search found, best first. Pages show the hits as of the same position.")
class SearchResult:
    hits: list[SearchHit] = picked("The hits of this page.")
    hints: list[str] = picked("What could not be understood and was left out, and what would be.")
    page_info: PageInfo = picked("Where the page lies.")
    position: Position = picked("The position as of which the hits are shown.")

    @loaded(int | None, "How many hits there are.")
    async def total_count(self, root: Root) -> int | None:
        return int(await root["@count"]())


async def search_result(snapshot: Snapshot, context: Context, text: str, arguments: PageArguments) -> Doc:
    """The document of a page of hits."""
    asked = read_search(text)
    listing = search.listing(asked)
    binding = cursors.fingerprint(snapshot.log_id, "search", asked.text)
    size = arguments.size()
    after, _ = arguments.cursors(binding, snapshot.position, len(listing.order))
    if after:
        snapshot = await paged(snapshot, after, context.snapshot_at, "after")

    def read(db: Any) -> tuple[paging.Page, list[Doc], dict[int, Explained]]:
        page = paging.page(db, listing, Window(size, after=after.key if after else None), snapshot.position)
        docs = [msgspec.json.decode(row.text) for _, row in page.rows]
        return page, docs, search.explain(db, asked, [doc["row"] for doc in docs])

    page, docs, explained = await snapshot.read(read)
    hits = []
    for (key, _), doc in zip(page.rows, docs, strict=True):
        cursor = cursors.encode(PageCursor(binding, snapshot.position, key))
        hits.append(snapshot.adopt(_hit(cursor, doc, explained.get(doc["row"], BY_ID))))
    return {
        "hits": hits,
        "hints": [*asked.hints, *([NOTHING] if asked.terms and not hits and not after and size else [])],
        "pageInfo": page_info([hit["cursor"] for hit in hits], has_next=page.has_next, has_previous=page.has_previous),
        "position": snapshot.position,
        "@count": lambda: snapshot.read(lambda db: paging.count(db, listing, snapshot.position)),
    }


def _hit(cursor: str, doc: Doc, why: Explained) -> Doc:
    return {
        "cursor": cursor,
        "matched": list(why.matched),
        "snippet": why.snippet or doc["name"],
        "@kind": doc["kind"],
        "@key": doc["id"].removeprefix("hardware/").removeprefix("source/"),
    }
