"""What one request may ask for, and the validation rule that bounds the shape of a document.

Depth, aliases and the size of introspection belong to the document alone, so the rule's verdict can be cached with it;
cost depends on variables too and is worked out for each request (``service/query_cost.py``). The rule walks every
definition once, fragments before what spreads them: a bomb of nested fragments takes time in its length, not in what it
expands to. It comes first and ends validation, so that no other rule has to walk what is refused anyway.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final, NamedTuple

import msgspec
from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    ValidationRule,
)
from graphql.validation.validate import ValidationAbortedError

from domain.errors import ErrorCode

CEILING: Final = 2**31 - 1  # where counting stops: nothing is allowed that much
INTROSPECTION_ROOTS: Final = frozenset({"__schema", "__type", "__typename"})
# How many items each list of introspection is taken to hold, for a schema of our size.
INTROSPECTION_LISTS: Final = {
    "types": 100,
    "fields": 20,
    "inputFields": 10,
    "enumValues": 10,
    "directives": 5,
    "possibleTypes": 3,
    "args": 3,
    "interfaces": 2,
}


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one request; ``body`` is in bytes and ``seconds`` bounds execution.

    ``page_size`` and ``list_size`` are what a page and a plain list are taken to hold where the query does not say.
    ``values`` bounds the JSON values in the variables as ``tokens`` does those in the document, and ``list_items`` each
    list among them: coercing them takes longer than sending them, and comes before anybody is asked what for.
    """

    depth: int = 12
    introspection_depth: int = 15  # how deep the standard introspection query is
    introspection_cost: int = 150_000  # objects, by INTROSPECTION_LISTS; the standard query comes to 105,274
    aliases: int = 30
    tokens: int = 2_000
    values: int = 2_000
    list_items: int = 1_000  # twice what any mutation takes, so that its own answer says how many that is
    cost: int = 1_000
    count_cost: int = 25  # of a totalCount: it goes through the whole list
    page_size: int = 25
    list_size: int = 10
    json_depth: int = 64
    body: int = 256 * 1024
    seconds: float = 10.0


class Shape(NamedTuple):
    """What a selection set comes to when its fragments are spread.

    ``aliases`` counts aliased fields and repeats of a field beside itself, which multiply work alike. ``reads`` says
    whether any field of it is ours and not introspection's. ``listed`` is what it would come to in objects if it stood
    inside an introspection field; ``introspection`` is what those really in it come to.
    """

    depth: int = 0
    aliases: int = 0
    reads: bool = False
    listed: int = 0
    introspection: int = 0

    def beside(self, other: "Shape") -> "Shape":
        """Both, in one selection set."""
        return Shape(
            max(self.depth, other.depth),
            min(self.aliases + other.aliases, CEILING),
            self.reads or other.reads,
            min(self.listed + other.listed, CEILING),
            min(self.introspection + other.introspection, CEILING),
        )


class TooComplex(ValidationAbortedError):
    """A document or request over a limit. Says the number, the limit and what to do."""

    def __init__(
        self,
        what: str,
        number: int,
        limit: int,
        remedy: str,
        operation: OperationDefinitionNode,
        *,
        subject: str = "The query",
    ) -> None:
        super().__init__(
            f"{subject} {what} {number}; the limit is {limit}",
            [operation],
            extensions={
                "code": ErrorCode.QUERY_TOO_COMPLEX,
                "requested": number,
                "limit": limit,
                "remedy": remedy,
            },
        )


def fragments_in_order(document: DocumentNode) -> list[FragmentDefinitionNode]:
    """The fragments, each after those that it spreads. Raises ``graphlib.CycleError`` where one contains itself."""
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    graph = {name: set(_spreads(node.selection_set)) & fragments.keys() for name, node in fragments.items()}
    return [fragments[name] for name in TopologicalSorter(graph).static_order()]


def _spreads(selections: SelectionSetNode) -> Iterator[str]:
    pending: list[SelectionSetNode] = [selections]
    while pending:
        for node in pending.pop().selections:
            if isinstance(node, FragmentSpreadNode):
                yield node.name.value
            elif inner := _selections_of(node):
                pending.append(inner)


def _selections_of(node: SelectionNode) -> SelectionSetNode | None:
    inner: SelectionSetNode | None = getattr(node, "selection_set", None)
    return inner


def shape_of(selections: SelectionSetNode, fragments: dict[str, Shape]) -> Shape:
    """The shape of a selection set, given those of the fragments that it spreads (an unknown one counts nothing)."""
    shape = Shape()
    seen: set[str] = set()
    for node in selections.selections:
        if isinstance(node, FragmentSpreadNode):
            shape = shape.beside(fragments.get(node.name.value, Shape()))
            continue
        nested = _selections_of(node)
        inner = shape_of(nested, fragments) if nested else Shape()
        if isinstance(node, FieldNode):
            key = (node.alias or node.name).value
            inner = _shape_of_field(node, inner, repeated=key in seen)
            seen.add(key)
        shape = shape.beside(inner)
    return shape


def _shape_of_field(node: FieldNode, inner: Shape, *, repeated: bool) -> Shape:
    name = node.name.value
    objects = 1 + inner.listed if node.selection_set else 0
    return Shape(
        depth=inner.depth + 1,
        aliases=inner.aliases + (node.alias is not None or repeated),
        reads=name not in INTROSPECTION_ROOTS,
        listed=objects * INTROSPECTION_LISTS.get(name, 1),
        introspection=inner.introspection + (objects if name in INTROSPECTION_ROOTS else 0),
    )


def exceeded(document: DocumentNode, limits: Limits) -> Iterator[TooComplex]:
    """Each limit that an operation of the document is over.

    Yields nothing for a document whose fragments contain themselves: it has no shape, and the standard rules refuse it.
    """
    try:
        ordered = fragments_in_order(document)
    except CycleError:
        return
    shapes: dict[str, Shape] = {}
    for fragment in ordered:
        shapes[fragment.name.value] = shape_of(fragment.selection_set, shapes)
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            yield from _exceeded_by(node, shape_of(node.selection_set, shapes), limits)


def _exceeded_by(operation: OperationDefinitionNode, shape: Shape, limits: Limits) -> Iterator[TooComplex]:
    depth = limits.depth if shape.reads else limits.introspection_depth
    if shape.depth > depth:
        remedy = "ask for fewer levels, or follow the ids in a second query"
        yield TooComplex("is nested too deep, levels:", shape.depth, depth, remedy, operation)
    if shape.aliases > limits.aliases:
        remedy = "ask for several records with an ids argument, or send several queries"
        yield TooComplex("has too many aliased or repeated fields:", shape.aliases, limits.aliases, remedy, operation)
    if shape.introspection > limits.introspection_cost:
        remedy = "use the standard introspection query"
        yield TooComplex(
            "asks for too much introspection, objects:",
            shape.introspection,
            limits.introspection_cost,
            remedy,
            operation,
        )


def size_of(variables: Mapping[str, Any]) -> tuple[int, int]:
    """How many values the variables hold, and how many the longest list among them."""
    values = longest = 0
    waiting: list[Any] = [variables]
    while waiting:
        value = waiting.pop()
        values += 1
        if isinstance(value, list):
            longest = max(longest, len(value))
            waiting.extend(value)
        elif isinstance(value, Mapping):
            waiting.extend(value.values())
    return values - 1, longest


@cache
def limits_rule(limits: Limits) -> type[ValidationRule]:
    """The rule for these limits: always the same class, because caches of validation compare rules by identity."""

    class LimitsRule(ValidationRule):
        """Reports each limit that is exceeded, and ends validation if there is any."""

        def enter_document(self, node: DocumentNode, *_args: Any) -> None:
            errors: list[GraphQLError] = list(exceeded(node, limits))
            for error in errors[:-1]:
                self.report_error(error)
            if errors:
                raise errors[-1]

    return LimitsRule
