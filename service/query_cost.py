"""What a query costs: a scalar 0, an object 1, a list its length times the cost of one item.

* The length of a list is the ``first`` or ``last`` that was asked for, or how many ``ids``, or where nothing says so
  ``Limits.page_size`` for pages and ``Limits.list_size`` for plain lists.
* A field that takes ``first`` or ``last`` without being a list, or whose type is named ``…Connection``, is one object,
  and its page size holds for the plain lists directly inside it (``edges``, ``nodes``, ``hits``), multiplied once each.
* An edge and its node are one object: a page costs the same through ``edges`` as through ``nodes``.
* A ``totalCount`` costs ``Limits.count_cost``, as reading a page does: it goes through the whole list.
* Introspection costs nothing; ``service/limits.py`` bounds it. ``@skip`` and ``@include`` are taken to include.

A fragment is walked once, wherever and however often it is spread.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    ListValueNode,
    NullValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
)
from graphql.utilities.coerce_input_value import coerce_default_value

from service.limits import CEILING, Limits

PAGE_ARGUMENTS: Final = ("first", "last")
COUNT: Final = "totalCount"
INT_DIGITS: Final = 10  # of the largest GraphQL Int
DEFAULTS: Final = Limits()


class Cost(NamedTuple):
    """Of a selection set: ``own`` counts as it is, ``listed`` once for each item of the plain lists directly in it."""

    own: int = 0
    listed: int = 0


class Costing(NamedTuple):
    """The cost of an operation, and the variables that it depends on, each with the length that it gave."""

    total: int
    lengths: dict[str, int | None]


def length_of(value: object) -> int | None:
    """The length of a list that a variable's value asks for; None where it asks for nothing in particular."""
    if isinstance(value, list):
        return len(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value // 1:
        return int(min(max(value, 0), CEILING))
    return None if value is None or isinstance(value, bool | float) else 1


def query_cost(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation_name: str | None,
    variables: Mapping[str, Any],
    limits: Limits = DEFAULTS,
) -> int:
    """The cost of one operation of a *validated* document, with the variables of the request as they came."""
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    chosen = next(node for node in operations if operation_name in (None, node.name and node.name.value))
    return cost_operation(schema, document, chosen, variables, limits).total


def cost_operation(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Mapping[str, Any],
    limits: Limits,
) -> Costing:
    """The cost of an operation of a *validated* document: at most 2**31 - 1."""
    walk = _Walk(schema, document, operation, variables, limits)
    root = schema.get_root_type(operation.operation)
    cost = walk.selections(root, operation.selection_set) if root else Cost()
    return Costing(min(cost.own + limits.list_size * cost.listed, CEILING), walk.lengths)


class _Walk:
    def __init__(
        self,
        schema: GraphQLSchema,
        document: DocumentNode,
        operation: OperationDefinitionNode,
        variables: Mapping[str, Any],
        limits: Limits,
    ) -> None:
        self.schema = schema
        self.limits = limits
        self.variables = variables
        self.defaults = {node.variable.name.value: node.default_value for node in operation.variable_definitions or ()}
        self.fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self.spread: dict[str, Cost] = {}
        self.lengths: dict[str, int | None] = {}

    def selections(self, parent: GraphQLNamedType, selections: SelectionSetNode) -> Cost:
        own = listed = 0
        for node in selections.selections:
            if isinstance(node, FieldNode):
                cost = self.field(parent, node)
            elif isinstance(node, FragmentSpreadNode):
                cost = self.fragment(node.name.value)
            elif isinstance(node, InlineFragmentNode):
                condition = node.type_condition
                cost = self.selections(self.named(condition.name.value) if condition else parent, node.selection_set)
            else:
                continue
            own, listed = own + cost.own, listed + cost.listed
        return Cost(min(own, CEILING), min(listed, CEILING))

    def named(self, name: str) -> GraphQLNamedType:
        return self.schema.type_map[name]

    def fragment(self, name: str) -> Cost:
        if name not in self.spread:
            node = self.fragments[name]
            self.spread[name] = self.selections(self.named(node.type_condition.name.value), node.selection_set)
        return self.spread[name]

    def field(self, parent: GraphQLNamedType, node: FieldNode) -> Cost:
        name = node.name.value
        if not isinstance(parent, GraphQLObjectType | GraphQLInterfaceType) or name not in parent.fields:
            return Cost()  # introspection
        definition = parent.fields[name]
        of_type = get_named_type(definition.type)
        if is_leaf_type(of_type) or node.selection_set is None:
            return Cost(self.limits.count_cost) if name == COUNT else Cost()
        inner = self.selections(of_type, node.selection_set)
        length = self.length(definition, node)
        itself = 0 if name == "node" and parent.name.endswith("Edge") else 1
        if not is_list_type(get_nullable_type(definition.type)):
            if length is None:
                length = self.limits.page_size if of_type.name.endswith("Connection") else self.limits.list_size
            return Cost(itself + inner.own + length * inner.listed)
        item = itself + inner.own + self.limits.list_size * inner.listed
        return Cost(listed=item) if length is None else Cost(own=length * item)

    def length(self, definition: GraphQLField, node: FieldNode) -> int | None:
        """What the arguments say about the length of the list or page; None where the field has no such argument."""
        given = {argument.name.value: argument.value for argument in node.arguments or ()}
        lengths = [self.argument(given[name]) for name in (*PAGE_ARGUMENTS, "ids") if name in given]
        known = [length for length in lengths if length is not None]
        if known:
            return max(known)
        pages = [definition.args[name] for name in PAGE_ARGUMENTS if name in definition.args]
        defaults = [default for page in pages if isinstance(default := coerce_default_value(page), int)]
        return max(defaults, default=self.limits.page_size) if pages else None

    def argument(self, value: ValueNode | None) -> int | None:
        if isinstance(value, VariableNode):
            name = value.name.value
            if name not in self.lengths:
                given = name in self.variables
                self.lengths[name] = (
                    length_of(self.variables[name]) if given else self.argument(self.defaults.get(name))
                )
            return self.lengths[name]
        if isinstance(value, IntValueNode):
            return max(int(value.value), 0) if len(value.value) <= INT_DIGITS else CEILING
        if isinstance(value, ListValueNode):
            return len(value.values)
        return None if value is None or isinstance(value, NullValueNode) else 1
