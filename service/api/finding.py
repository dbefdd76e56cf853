"""The root fields that find and compare: what a frontend's search box and comparison page ask for."""

import strawberry

from projections.model import Doc
from service.api.asked import Ask, Asked, snapshot_asked
from service.api.comparing import comparison
from service.api.types.base import loaded
from service.api.types.comparisons import Comparison, comparison_document
from service.api.types.connections import PageArguments
from service.api.types.nearest import NearestCase, nearest_cases
from service.api.types.search import SearchResult, search_result


@strawberry.type
class Finding:
    """Fields of :class:`service.api.reads.Reads`."""

    @loaded(
        Comparison | None,
        "Two to eight runs side by side, by digest, unique prefix or alias; ratio and rank only where they compare.",
    )
    async def compare(self, root: Asked, info: Ask, ids: list[strawberry.ID]) -> Doc:
        snapshot = snapshot_asked(root, info)
        return comparison_document(await comparison(snapshot, ids), snapshot)

    @loaded(
        SearchResult | None,
        "What is found by words, `op: family: gpu: arch: dtype: language: source: evidence:` and `axis=size`.",
    )
    async def search(
        self, root: Asked, info: Ask, text: str, first: int | None = None, after: str | None = None
    ) -> Doc:
        return await search_result(snapshot_asked(root, info), info.context, text, PageArguments(first, after))

    @loaded(
        list[NearestCase] | None,
        "Where no run on this workload may be ranked: the measured cases that differ in one axis, the next smaller and "
        "the next larger size of each. Empty where the case itself is measured.",
    )
    async def nearest_cases(
        self, root: Asked, info: Ask, workload: strawberry.ID, hardware: str | None = None
    ) -> list[Doc]:
        return await nearest_cases(snapshot_asked(root, info), workload, hardware)
