"""What a subscriber asks, and what tells one question from another."""

from collections.abc import Hashable
from typing import Any, NamedTuple

import msgspec
from graphql import OperationDefinitionNode, VariableNode, visit
from graphql.language import Visitor

from service.auth import Caller
from service.http.documents import Prepared


class Question(NamedTuple):
    """A subscription of a valid document, with its variables."""

    prepared: Prepared
    operation: OperationDefinitionNode
    variables: dict[str, Any]

    @property
    def name(self) -> str | None:
        """The name of the operation, where it has one."""
        return self.operation.name.value if self.operation.name else None

    def key(self, caller: Caller) -> Hashable:
        """What tells its channel from others: all that the answers depend on, and not where a subscriber begins."""
        after = _after_variable(self.prepared, self.operation)
        elsewhere = {name: value for name, value in self.variables.items() if name != after}
        return self.prepared.text, self.name, msgspec.json.encode(elsewhere, order="sorted"), caller.has_key


def _after_variable(prepared: Prepared, operation: OperationDefinitionNode) -> str | None:
    """The variable that gives nothing but ``after`` of the subscription's field."""
    fields = operation.selection_set.selections
    for argument in (getattr(fields[0], "arguments", ()) or ()) if len(fields) == 1 else ():
        if argument.name.value == "after" and isinstance(argument.value, VariableNode):
            name = argument.value.name.value
            return name if _uses(prepared, name) == 1 else None
    return None


def _uses(prepared: Prepared, name: str) -> int:
    """How often a document uses a variable, beside defining it."""
    uses = _Uses(name)
    visit(prepared.document, uses)
    return uses.count


class _Uses(Visitor):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.count = 0

    def enter_variable_definition(self, *_args: Any) -> bool:
        return False

    def enter_variable(self, node: VariableNode, *_args: Any) -> None:
        self.count += node.name.value == self.name
