"""Running a query in process, with the same schema, limits and errors as over HTTP."""

from typing import Any

from graphql import OperationType

from domain.errors import KernelIndexError
from projections import saves
from projections.model import Doc
from service.api.context import Context
from service.api.executing import Projecting
from service.api.recall import Recall
from service.api.schema import DOCUMENTS, built_schema
from service.api.stamps import stamp
from service.api.standings import Standings
from service.app import Index
from service.auth import AT_HOME, Caller
from service.errors_out import execution_errors, foreseen, many_answers
from service.http.documents import DocumentRejected
from service.limits import TooComplex


class Api:
    """The API over one index: what its operations share, and a context for each of them."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._standings = Standings(index.views)
        self.recall = Recall(index.settings.fragment_cache_bytes)
        self._log_id = index.views.peek(saves.log_id)
        projecting = Projecting(built_schema())
        self.execute = projecting.execute
        self.data_of = projecting.data_of

    def context(self, caller: Caller) -> Context:
        """The context of one operation."""
        self.recall.be_of(self._index.views.generation)
        return Context(
            self._index,
            self._standings,
            self.recall,
            log_id=self._log_id,
            read_at=self._index.now(),
            caller=caller,
        )


def extensions_of(context: Context) -> Doc:
    """What every response carries beside its data."""
    return {"stamp": stamp(context.snapshot, context.read_at)}


async def execute(
    index: Index,
    query: str,
    variables: dict[str, Any] | None = None,
    operation_name: str | None = None,
    *,
    caller: Caller = AT_HOME,
) -> dict[str, Any]:
    """Run one operation, as the person at the machine that holds the log; answers the response as a document."""
    api, schema = Api(index), built_schema()
    context = api.context(caller)
    try:
        prepared = DOCUMENTS.prepare(schema, query)
        operation = prepared.operation(operation_name)
        if operation.operation is OperationType.SUBSCRIPTION:
            return {"errors": [foreseen(many_answers()).formatted]}
        DOCUMENTS.check_cost(prepared.cost(operation, variables or {}), context, operation)
        DOCUMENTS.check_variables(variables or {}, context, operation)
    except (DocumentRejected, TooComplex, KernelIndexError):
        # The schema refuses it again, in the form of a result.
        result = await schema.execute(query, variables, context, operation_name=operation_name)
    else:
        result = await api.execute(prepared, operation, variables or {}, context)
    response: dict[str, Any] = {"data": result.data}
    if result.errors:
        response["errors"] = execution_errors(result.errors)
    return response | {"extensions": extensions_of(context)}
