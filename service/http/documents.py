"""Query texts, parsed and validated once, within the limits, for every transport.

One :class:`Documents` serves one schema. It is given to the schema among its ``extensions``, which call it for each
operation: whatever is executed through the schema, over HTTP, a WebSocket or SSE, has been checked, and a text that is
known is neither parsed nor validated again.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from graphql import (
    DirectiveNode,
    DocumentNode,
    GraphQLError,
    GraphQLFormattedError,
    GraphQLSchema,
    OperationDefinitionNode,
    VariableNode,
    Visitor,
    parse,
    print_ast,
    specified_rules,
    validate,
    visit,
)
from strawberry import Schema
from strawberry.extensions import SchemaExtension
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule
from strawberry.types.execution import ExecutionResult, StreamExecutionResult

from domain.errors import ErrorCode, KernelIndexError
from service.errors_out import MAX_MESSAGE, document_error, execution_error, foreseen, refused
from service.limits import Limits, TooComplex, limits_rule, size_of
from service.query_cost import cost_operation, length_of

TOKEN_BYTES: Final = 640  # what a token takes with its node when parsed, as measured
MAX_ERRORS: Final = 10  # of a document: each may quote all of it and search the schema for what was meant
KEPT_COSTS: Final = 64  # per document: one for each combination of page sizes


class DocumentRejected(Exception):
    """A query text that is not run: its errors, each with a code, and the document if it could be parsed."""

    def __init__(self, errors: Sequence[GraphQLError], document: DocumentNode | None) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.errors = [document_error(error) for error in errors]
        self.document = document

    @property
    def formatted(self) -> list[GraphQLFormattedError]:
        """The errors as they leave."""
        return [error.formatted for error in self.errors]


class Prepared:
    """A valid document, ready to be executed. ``weight`` is the memory that it takes, in bytes, roughly.

    ``deciding`` names the variables in directives, which decide what its selections hold; ``projections`` is for what
    executing it compiles for some of their values.
    """

    def __init__(self, text: str, document: DocumentNode, schema: GraphQLSchema, limits: Limits) -> None:
        self.text = text
        self.document = document
        self.weight = 2 * len(text) + TOKEN_BYTES * _count_tokens(document)
        self._schema = schema
        self._limits = limits
        self._operations = {
            node.name.value if node.name else None: node
            for node in document.definitions
            if isinstance(node, OperationDefinitionNode)
        }
        self.deciding = _deciding(document)
        self.projections: dict[tuple[Any, ...], Any] = {}
        self._lengths: dict[str | None, tuple[str, ...]] = {}
        self._costs: dict[tuple[Any, ...], int] = {}

    @cached_property
    def laid_out(self) -> str:
        """The text of the document in one layout, without comments."""
        return print_ast(self.document)

    def operation(self, name: str | None) -> OperationDefinitionNode:
        """The operation of that name, or the only one: which was meant is never guessed. Raises ``Refused``."""
        if name is None and len(self._operations) == 1:
            return next(iter(self._operations.values()))
        if name is not None and name in self._operations:
            return self._operations[name]
        known = ", ".join(str(known) for known in self._operations) or "none"
        problem = "has several operations" if name is None else f"has no operation named {name!r}"
        raise refused(
            ErrorCode.BAD_REQUEST,
            f"The document {problem}"[:MAX_MESSAGE],
            remedy=f"give the operationName of one that it has: {known}"[:MAX_MESSAGE],
        )

    def cost(self, operation: OperationDefinitionNode, variables: Mapping[str, Any]) -> int:
        """What an operation of this document costs with these variables."""
        name = operation.name.value if operation.name else None
        key: tuple[Any, ...] | None = None
        if name in self._lengths:
            key = (name, *(_length(variables, variable) for variable in self._lengths[name]))
            if key in self._costs:
                return self._costs[key]
        costing = cost_operation(self._schema, self.document, operation, variables, self._limits)
        self._lengths[name] = tuple(costing.lengths)
        if len(self._costs) >= KEPT_COSTS:
            self._costs.clear()
        self._costs[name, *(_length(variables, variable) for variable in costing.lengths)] = costing.total
        return costing.total


def _length(variables: Mapping[str, Any], name: str) -> int | str | None:
    return length_of(variables[name]) if name in variables else "absent"


def _deciding(document: DocumentNode) -> tuple[str, ...]:
    """The names of all variables in directives."""
    deciding: set[str] = set()

    class Names(Visitor):
        def enter_directive(self, node: DirectiveNode, *_: Any) -> None:
            values = (one.value for one in node.arguments or ())
            deciding.update(value.name.value for value in values if isinstance(value, VariableNode))

    visit(document, Names())
    return tuple(sorted(deciding))


def _count_tokens(document: DocumentNode) -> int:
    token = document.loc.start_token if document.loc else None
    count = 0
    while token:
        count += 1
        token = token.next
    return count


class Documents:
    """The query texts of one schema: the ones used last stay prepared, bounded in number and in bytes.

    ``max_cost`` and ``max_values`` give those limits for a context; by default they are those of ``limits``.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        max_cost: Callable[[Any], int] | None = None,
        max_values: Callable[[Any], int] | None = None,
        entries: int = 1_000,
        max_bytes: int = 32 * 1024 * 1024,
    ) -> None:
        self.limits = limits
        self.max_cost = max_cost or (lambda _context: limits.cost)
        self.max_values = max_values or (lambda _context: limits.values)
        self.rules = (limits_rule(limits), *specified_rules, MaybeNullValidationRule, OneOfInputValidationRule)
        self.entries = entries
        self.max_bytes = max_bytes
        self.bytes = 0
        self._kept: OrderedDict[str, Prepared] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def known(self, text: str) -> Prepared | None:
        """The document of a text, if it is prepared."""
        return self._kept.get(text)

    def prepare(self, schema: Schema, text: str) -> Prepared:
        """The document of a text. Raises :class:`DocumentRejected`; what is rejected is not kept."""
        if known := self._kept.get(text):
            self._kept.move_to_end(text)
            return known
        core = schema._schema  # noqa: SLF001 - Strawberry has no other way to it
        try:
            document = parse(text, max_tokens=self.limits.tokens)
        except GraphQLError as error:
            raise DocumentRejected([error], None) from None
        if errors := validate(core, document, self.rules, max_errors=MAX_ERRORS):
            raise DocumentRejected(errors, document)
        prepared = Prepared(text, document, core, self.limits)
        self._keep(prepared)
        return prepared

    def _keep(self, prepared: Prepared) -> None:
        self._kept[prepared.text] = prepared
        self.bytes += prepared.weight
        while len(self._kept) > self.entries or self.bytes > self.max_bytes:
            _, oldest = self._kept.popitem(last=False)
            self.bytes -= oldest.weight

    def check_cost(self, cost: int, context: Any, operation: OperationDefinitionNode) -> None:
        """Raises :class:`TooComplex` where the cost is over what this context may ask for."""
        if cost > (limit := self.max_cost(context)):
            remedy = "ask for smaller pages or fewer nested lists, and follow the cursors"
            raise TooComplex("costs", cost, limit, remedy, operation)

    def check_variables(self, variables: Mapping[str, Any], context: Any, operation: OperationDefinitionNode) -> None:
        """Raises :class:`TooComplex` where the variables hold more than this context may send."""
        values, longest = size_of(variables)
        for what, number, limit in (
            ("hold a list of", longest, self.limits.list_items),
            ("hold values:", values, self.max_values(context)),
        ):
            if number > limit:
                remedy = "send it in several requests, or bundles to /ingest"
                raise TooComplex(what, number, limit, remedy, operation, subject="The variables")

    def __call__(self) -> SchemaExtension:
        """The extension for one operation, as Strawberry asks for it."""
        return _PreparedDocument(self)


class _PreparedDocument(SchemaExtension):
    """Puts the prepared document in the place of parsing and validation, and masks the errors of streams."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._prepared: Prepared | None = None
        self._errors: list[GraphQLError] = []

    def on_parse(self) -> Iterator[None]:
        context = self.execution_context
        context.parse_options = {"max_tokens": self._documents.limits.tokens}
        try:
            self._prepared = self._documents.prepare(context.schema, context.query or "")
            context.graphql_document = self._prepared.document
        except DocumentRejected as rejected:
            # What can't be parsed is left to Strawberry to refuse: in a stream, a hook that raises ends the connection.
            context.graphql_document = rejected.document
            self._errors = rejected.errors
        yield

    def on_validate(self) -> Iterator[None]:
        context = self.execution_context
        if self._prepared:
            try:
                operation = self._prepared.operation(context._provided_operation_name)  # noqa: SLF001 - else it guesses
                cost = self._prepared.cost(operation, context.variables or {})
                self._documents.check_cost(cost, context.context, operation)
                self._documents.check_variables(context.variables or {}, context.context, operation)
            except TooComplex as error:
                self._errors = [error]
            except KernelIndexError as error:
                self._errors = [foreseen(error)]
        context.pre_execution_errors = self._errors
        yield

    def on_stream_result(self, result: StreamExecutionResult) -> Iterator[None]:
        if isinstance(result, ExecutionResult) and result.errors:
            result.errors = [execution_error(error) for error in result.errors]
        yield
