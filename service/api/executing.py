"""Running a prepared query: by a projection that was compiled for it, else by graphql-core."""

from typing import Any, Final

import structlog
from graphql import Executor, OperationDefinitionNode, OperationType
from strawberry import Schema
from strawberry.execution.is_awaitable import optimized_is_awaitable
from strawberry.types.execution import ExecutionResult

from service.api.context import Context
from service.api.projecting import Projection, compiled
from service.http.documents import Prepared

log = structlog.get_logger("kernelindex.executing")

KEPT: Final = 16
"""Projections of one document: one for each operation and each combination of values in its directives."""


class Projecting:
    """Executes prepared documents over one schema."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    async def execute(
        self, prepared: Prepared, operation: OperationDefinitionNode, variables: dict[str, Any], context: Context
    ) -> ExecutionResult:
        """The result of an operation, as graphql-core would give it."""
        data = None
        # Its limits have been looked up, for which it matters who asks.
        context.momentary = False
        if operation.operation is OperationType.QUERY:
            data = await self._projected(prepared, operation, variables, context)
        if data is not None:
            return ExecutionResult(data=data, errors=None)
        context.start_over()
        return await self._schema.execute(
            prepared.text,
            variable_values=variables,
            context_value=context,
            operation_name=_name(operation),
        )

    async def _projected(
        self, prepared: Prepared, operation: OperationDefinitionNode, variables: dict[str, Any], context: Context
    ) -> dict[str, Any] | None:
        """The data of a query that nothing is wrong with; None leaves it to graphql-core."""
        executor = self._schema.execution_context_class.build(
            self._schema._schema,  # noqa: SLF001 - Strawberry has no other way to it
            prepared.document,
            None,
            context,
            variables,
            _name(operation),
            is_awaitable=optimized_is_awaitable,  # type: ignore[arg-type]
        )
        if not isinstance(executor, Executor):
            return None
        projection = self._projection(prepared, executor)
        if projection is None:
            return None
        try:
            return await projection.run(executor)
        except Exception as error:  # noqa: BLE001 - whatever it is, graphql-core will meet it again and tell of it
            log.debug("query left to graphql-core", error=repr(error))
            return None

    def _projection(self, prepared: Prepared, executor: Executor[Any]) -> Projection | None:
        name = _name(executor.operation)
        deciding = prepared.deciding
        coerced = executor.variable_values.coerced
        key = (name, *(coerced.get(variable) for variable in deciding))
        if key not in prepared.projections:
            if len(prepared.projections) >= KEPT:
                prepared.projections.clear()
            prepared.projections[key] = compiled(executor, deciding)
        projection: Projection | None = prepared.projections[key]
        return projection


def _name(operation: OperationDefinitionNode) -> str | None:
    return operation.name.value if operation.name else None
