"""The schema, put together."""

from functools import cache
from typing import Final

from strawberry.schema.config import StrawberryConfig

from domain.principals import Scope
from service.api.context import Context
from service.api.mutations import Mutation
from service.api.reads import Query
from service.api.scalars import SCALARS
from service.api.subscriptions import Subscription
from service.api.types.attestations import Attestation
from service.api.types.base import pick
from service.api.types.catalogue import (
    Environment,
    Hardware,
    Implementation,
    Operation,
    Project,
    Protocol,
    RecordedArtifact,
    Source,
    WorkloadCase,
    WorkloadSuite,
)
from service.api.types.events import Event
from service.api.types.issues import Issue
from service.api.types.rankings import Ranking
from service.api.types.reruns import Rerun, Runner
from service.api.types.runs import Run
from service.errors_out import QuietSchema
from service.http.documents import Documents
from service.limits import Limits

NODES: Final = (
    Run,
    Ranking,
    Operation,
    WorkloadCase,
    WorkloadSuite,
    Implementation,
    Project,
    Protocol,
    Environment,
    Hardware,
    Source,
    RecordedArtifact,
    Event,
    Rerun,
    Runner,
    Attestation,
    Issue,
)

COST_WITH_KEY: Final = 5_000
VALUES_TO_INGEST: Final = 60_000
"""500 bundles with all their parts and 100 aliases each."""


def _max_cost(context: Context) -> int:
    return COST_WITH_KEY if context.caller.has_key else LIMITS.cost


def _max_values(context: Context) -> int:
    return VALUES_TO_INGEST if context.caller.may(Scope.INGEST) else LIMITS.values


LIMITS: Final = Limits()
DOCUMENTS: Final = Documents(LIMITS, max_cost=_max_cost, max_values=_max_values)


@cache
def built_schema() -> QuietSchema:
    """The one schema of this process. It is built when it is first asked for: that takes a while."""
    return QuietSchema(
        query=Query,
        mutation=Mutation,
        subscription=Subscription,
        types=NODES,
        extensions=[DOCUMENTS],
        config=StrawberryConfig(default_resolver=pick, scalar_map=SCALARS),
    )
