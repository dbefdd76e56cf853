"""The root field that reads record history."""

import strawberry

from domain.records import RecordBasis
from projections import records
from projections.model import Doc
from service.api.asked import Ask, Asked, snapshot_asked
from service.api.scalars import Digest
from service.api.types.base import loaded
from service.api.types.connections import Connection, PageArguments, connection
from service.api.types.records import RecordChange


@strawberry.type
class RecordReads:
    """Fields of :class:`service.api.reads.Reads`."""

    @loaded(Connection[RecordChange] | None, "Where the best value of a group, or of any group, changed; oldest first.")
    async def records(
        self,
        root: Asked,
        info: Ask,
        basis: RecordBasis,
        comparison_key: Digest | None = None,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        listing = records.listing(basis, comparison_key)
        arguments = PageArguments(first, after, last, before)
        name = f"records {basis.value}"
        return await connection(listing, name, arguments, snapshot_asked(root, info), info.context.snapshot_at)
