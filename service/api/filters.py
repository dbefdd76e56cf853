"""Filters of the lists that the root fields read."""

from typing import Any

import strawberry

from service.api.asked import Given
from service.api.scalars import DateTime, Digest
from service.api.types.described import input_type
from service.api.types.enums import EvidenceLevel, RunStatus


@input_type("Which runs. All given fields must hold.")
class RunFilter(Given):
    operation: strawberry.ID | None = strawberry.field(default=None, description="Of this operation.")
    implementation: strawberry.ID | None = strawberry.field(default=None, description="Of this implementation.")
    project: strawberry.ID | None = strawberry.field(default=None, description="Of this project's implementations.")
    workload: strawberry.ID | None = strawberry.field(default=None, description="On this workload.")
    source: str | None = strawberry.field(default=None, description="From the source of this slug.")
    hardware: str | None = strawberry.field(default=None, description="On this product, by name or slug.")
    architecture: str | None = strawberry.field(default=None, description="On this architecture, such as `sm_100`.")
    dtype: str | None = strawberry.field(default=None, description="Whose workload has this element type.")
    status: RunStatus | None = strawberry.field(default=None, description="With this status.")
    evidence_at_least: EvidenceLevel | None = strawberry.field(default=None, description="Trusted at least so far.")
    eligible: bool | None = strawberry.field(default=None, description="That may be ranked, or that may not.")
    comparison_key: Digest | None = strawberry.field(default=None, description="Of this group, ranked or not.")
    observed_from: DateTime | None = strawberry.field(default=None, description="Measured then or later.")
    observed_to: DateTime | None = strawberry.field(default=None, description="Measured before then.")
    published_from: DateTime | None = strawberry.field(default=None, description="Published then or later.")
    published_to: DateTime | None = strawberry.field(default=None, description="Published before then.")

    def given(self) -> dict[str, Any]:
        """The criteria; a level is compared by its place among the levels."""
        criteria = super().given()
        if level := criteria.pop("evidence_at_least", None):
            criteria["level_at_least"] = level.ordinal
        return criteria


@input_type("Which groups. All given fields must hold.")
class RankingFilter(Given):
    operation: strawberry.ID | None = strawberry.field(default=None, description="Of this operation.")
    workload: strawberry.ID | None = strawberry.field(default=None, description="On this workload.")
    hardware: str | None = strawberry.field(default=None, description="On this product, by name or slug.")
    dtype: str | None = strawberry.field(default=None, description="Whose workload has this element type.")
    source: str | None = strawberry.field(default=None, description="With ranked runs from the source of this slug.")


@input_type("Which operations.")
class OperationFilter(Given):
    family: str | None = strawberry.field(default=None, description="Of this family.")
