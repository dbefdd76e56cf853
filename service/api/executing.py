"""Running a prepared query: by a projection that was compiled for it, else by graphql-core."""

from typing import Any, Final

from graphql import Executor, OperationDefinitionNode, OperationType, VariableValues, get_variable_values
from strawberry import Schema
from strawberry.execution.is_awaitable import optimized_is_awaitable
from strawberry.types.execution import ExecutionResult

from projections.model import Doc
from service.api.context import Context
from service.api.projecting import Compiled, compiled
from service.http.documents import Prepared
from service.logs import Log

log = Log("executing")

KEPT: Final = 16
"""Projections of one document: one for each operation and each combination of values in its directives."""


class Projecting:
    """Executes prepared documents over one schema."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._core = schema._schema  # noqa: SLF001 - Strawberry has no other way to it

    async def execute(
        self, prepared: Prepared, operation: OperationDefinitionNode, variables: dict[str, Any], context: Context
    ) -> ExecutionResult:
        """The result of an operation, as graphql-core would give it."""
        data = None
        # Its limits have been looked up, for which it matters who asks.
        context.momentary = False
        if operation.operation is OperationType.QUERY:
            data = await self.data_of(prepared, operation, variables, context)
        if data is not None:
            return ExecutionResult(data=data, errors=None)
        context.start_over()
        return await self._schema.execute(
            prepared.text,
            variable_values=variables,
            context_value=context,
            operation_name=_name(operation),
        )

    async def data_of(
        self,
        prepared: Prepared,
        operation: OperationDefinitionNode,
        variables: dict[str, Any],
        context: Context,
        message: Doc | None = None,
    ) -> Doc | None:
        """The data of a query or a message with which nothing is wrong; None leaves it to graphql-core."""
        definitions = operation.variable_definitions or ()
        values = get_variable_values(self._core, definitions, variables, max_errors=1)
        if not isinstance(values, VariableValues):
            return None
        query = self._compiled(prepared, operation, variables, values)
        if query is None:
            return None
        try:
            return await query.run(values, context, message)
        except Exception as error:  # noqa: BLE001 - whatever it is, graphql-core will meet it again and tell of it
            log.debug("operation left to graphql-core", error=repr(error))
            return None

    def _compiled(
        self,
        prepared: Prepared,
        operation: OperationDefinitionNode,
        variables: dict[str, Any],
        values: VariableValues,
    ) -> Compiled | None:
        key = (_name(operation), *(values.coerced.get(variable) for variable in prepared.deciding))
        if key not in prepared.projections:
            if len(prepared.projections) >= KEPT:
                prepared.projections.clear()
            prepared.projections[key] = self._compile(prepared, operation, variables)
        query: Compiled | None = prepared.projections[key]
        return query

    def _compile(
        self, prepared: Prepared, operation: OperationDefinitionNode, variables: dict[str, Any]
    ) -> Compiled | None:
        executor = self._schema.execution_context_class.build(
            self._core,
            prepared.document,
            raw_variable_values=variables,
            operation_name=_name(operation),
            is_awaitable=optimized_is_awaitable,  # type: ignore[arg-type]
        )
        return compiled(executor, prepared.deciding) if isinstance(executor, Executor) else None


def _name(operation: OperationDefinitionNode) -> str | None:
    return operation.name.value if operation.name else None
