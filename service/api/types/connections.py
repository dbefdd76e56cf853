"""Connections: keyset pages, all of one paging from one snapshot."""

import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec

from domain.errors import ErrorCode, InvalidInput
from projections import paging
from projections.model import Doc
from projections.paging import Branch, Key, Listing, Page, Window
from service.api import cursors
from service.api.cursors import PageCursor
from service.api.scalars import Position
from service.api.snapshot import Snapshot
from service.api.types.base import Root, loaded, picked
from service.api.types.described import object_type

DEFAULT_SIZE: Final = 25
MAX_SIZE: Final = 100
T = TypeVar("T")


@object_type("Where a page lies in its list.")
class PageInfo:
    has_next_page: bool = picked("Whether there are rows behind the page.")
    has_previous_page: bool = picked("Whether there are rows before the page.")
    start_cursor: str | None = picked("The cursor of the first row; null on an empty page.")
    end_cursor: str | None = picked("The cursor of the last row; null on an empty page.")


async def _cursors(edges: Sequence[Doc]) -> Sequence[str]:
    return [edge["@cursor"](edge["@key"]) for edge in edges]


@object_type("A row of a list.")
class Edge(Generic[T]):
    @loaded(str, "The place of the row in the list, opaque.", together=_cursors)
    def cursor(self, root: Root) -> str:
        return str(root["@cursor"](root["@key"]))

    node: T = picked("The row.")


@object_type("A page of a list. Pages that follow one another show the list as of the same position.")
class Connection(Generic[T]):
    edges: list[Edge[T]] = picked("The rows with their cursors.")
    nodes: list[T] = picked("The rows.")
    page_info: PageInfo = picked("Where the page lies.")
    position: Position = picked("The position as of which the list is shown: that of the snapshot, or of the cursor.")

    @loaded(int | None, "How many rows the whole list has.")
    async def total_count(self, root: Root) -> int | None:
        return int(await root["@count"]())


class PageArguments(msgspec.Struct, frozen=True):
    """The four arguments of a connection, as given."""

    first: int | None = None
    after: str | None = None
    last: int | None = None
    before: str | None = None

    def size(self) -> int:
        """How many rows are asked for. Raises :class:`InvalidInput` where the arguments contradict each other."""
        if self.first is not None and self.last is not None:
            raise _invalid("first and last contradict each other", "first", "give one of them")
        if self.last is None and self.before is not None and self.first is None:
            raise _invalid("before needs last", "before", "say how many rows before it")
        size, path = (self.last, "last") if self.last is not None else (self.first, "first")
        if size is None:
            return DEFAULT_SIZE
        if not 0 <= size <= MAX_SIZE:
            raise _invalid(f"{path} is {size}", path, f"ask for 0 to {MAX_SIZE} rows and page on")
        return size

    def cursors(self, listing: str, head: int, width: int = 1) -> tuple[PageCursor | None, PageCursor | None]:
        """The cursors behind ``after`` and ``before``, of one paging; ``width`` is how many columns a key has."""
        after = cursors.decode(self.after, listing, head, "after") if self.after is not None else None
        before = cursors.decode(self.before, listing, head, "before") if self.before is not None else None
        for path, cursor in (("after", after), ("before", before)):
            if cursor and len(cursor.key) != width:
                raise cursors.invalid("is not a cursor of this list", path)
        if after and before and after.position != before.position:
            raise _invalid("after and before are of different pagings", "before", "take both from the same pages")
        return after, before


SnapshotAt = Callable[[int], Awaitable[Snapshot]]


async def connection(
    listing: Listing, name: str, arguments: PageArguments, snapshot: Snapshot, snapshot_at: SnapshotAt
) -> Doc:
    """The document of a connection over a listing; ``name`` and the listing's own criteria bind its cursors."""
    binding = cursors.fingerprint(snapshot.log_id, name, [dict(listing.names), list(listing.order)])
    snapshot, window = await _window(arguments, binding, len(listing.order), snapshot, snapshot_at)
    page = await snapshot.read(lambda db: paging.page(db, listing, window, snapshot.position))

    async def count() -> int:
        return int(await snapshot.read(lambda db: paging.count(db, listing, snapshot.position)))

    return _document(listing.table, page, binding, snapshot, count)


async def branch_connection(
    branch: Branch, name: str, parent: str, arguments: PageArguments, snapshot: Snapshot, snapshot_at: SnapshotAt
) -> Doc:
    """The document of a connection over what belongs to a parent: of many parents the pages are read at once."""
    listing = branch.listing
    binding = cursors.fingerprint(snapshot.log_id, name, [parent, dict(listing.names), list(listing.order)])
    snapshot, window = await _window(arguments, binding, len(listing.order), snapshot, snapshot_at)
    place = snapshot.position

    def read(db: sqlite3.Connection, parents: list[str]) -> Mapping[str, Page]:
        return paging.pages(db, branch, parents, window, place)

    page = await snapshot.gathered(f"pages of {name} {window}", read, parent)

    async def count() -> int:
        of = await snapshot.gathered(
            f"counts of {name}", lambda db, parents: paging.counts(db, branch, parents, place), parent
        )
        return int(of)

    return _document(listing.table, page, binding, snapshot, count)


async def _window(
    arguments: PageArguments, binding: str, width: int, snapshot: Snapshot, snapshot_at: SnapshotAt
) -> tuple[Snapshot, Window]:
    """Which rows are asked for, and of which snapshot: that in which the paging began."""
    size = arguments.size()
    after, before = arguments.cursors(binding, snapshot.position, width)
    if cursor := after or before:
        snapshot = await paged(snapshot, cursor, snapshot_at, "after" if after else "before")
    return snapshot, Window(
        size=size,
        backward=arguments.last is not None,
        after=after.key if after else None,
        before=before.key if before else None,
    )


def _document(table: str, page: Page, binding: str, snapshot: Snapshot, count: Callable[[], Awaitable[int]]) -> Doc:
    rows = [(key, snapshot.stored(table, key, row)) for key, row in page.rows]

    def cursor(key: Key) -> str:
        return cursors.encode(PageCursor(binding, snapshot.position, key))

    return {
        **connection_document(rows, cursor, has_next=page.has_next, has_previous=page.has_previous),
        "position": snapshot.position,
        "@count": count,
    }


async def paged(snapshot: Snapshot, cursor: PageCursor, snapshot_at: SnapshotAt, path: str) -> Snapshot:
    """The snapshot in which the paging of a cursor began. Under a position that the reader names it must be that."""
    if cursor.position == snapshot.position:
        return snapshot
    if snapshot.pinned:
        raise cursors.invalid("is from another position than the one that is asked for", path)
    return await snapshot_at(cursor.position)


def connection_document(
    rows: list[tuple[Any, Any]], cursor: Callable[[Any], str], *, has_next: bool, has_previous: bool
) -> Doc:
    """What all connections show of their rows, given as keys and nodes; ``cursor`` makes a cursor of a key."""
    ends = [cursor(key) for key, _ in (rows[0], rows[-1])] if rows else []
    return {
        "edges": [{"@key": key, "@cursor": cursor, "node": node} for key, node in rows],
        "nodes": [node for _, node in rows],
        "pageInfo": page_info(ends, has_next=has_next, has_previous=has_previous),
    }


def page_info(shown: list[str], *, has_next: bool, has_previous: bool) -> Doc:
    """Where the page with these cursors lies in its list."""
    return {
        "hasNextPage": has_next,
        "hasPreviousPage": has_previous,
        "startCursor": shown[0] if shown else None,
        "endCursor": shown[-1] if shown else None,
    }


def _invalid(message: str, path: str, remedy: str) -> InvalidInput:
    return InvalidInput.because(message, code=ErrorCode.INVALID_ARGUMENT, path=path, remedy=remedy)
