"""Queries compiled to projections of documents.

graphql-core works through a selection anew for every value: which fields it has there, where each comes from, how it is
completed. Here that is worked out once per document, into closures that turn the documents of the read models into the
response: :func:`compiled`. A field that has code of its own is a :class:`Site`. All documents that reach it wait for
each other, so that it is called once for them where it can be (:data:`TOGETHER`), level by level, until none is left.

Only what goes well is done here. At a fault (a resolver that raises, a value that doesn't fit its type, null where none
may be) the projection ends, and the caller lets graphql-core run the operation from the beginning, which says what is
wrong, where, and what is left of the answer. So there is one rule for errors, and it is graphql-core's.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from copy import copy
from inspect import isawaitable
from typing import Any, NamedTuple, TypeAlias, cast

from graphql import (
    Executor,
    FieldNode,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLUnionType,
    VariableValues,
    get_argument_values,
    get_named_type,
    is_leaf_type,
)
from graphql.execution.collect_fields import FieldDetailsList, GroupedFieldSet, collect_fields
from graphql.pyutils import Path, gather_with_cancel

from projections.model import Doc
from service.api.completing import Complete, Fault, leaf, listed, required, shown_as_it_is
from service.api.stored import Stored, decoder_of
from service.api.types.base import NEEDS, TOGETHER, Together, Told, name_in_document

Wave: TypeAlias = defaultdict["Site", list[tuple[Any, Doc]]]
"""The sites that documents have reached, each with these and the parts of the response that wait for it."""


class Site:
    """A field with code of its own, at one place of a document."""

    def __init__(self, key: str, nodes: list[FieldNode], parent: GraphQLObjectType, complete: Complete) -> None:
        self.key = key
        self.nodes = nodes
        self.parent = parent
        self.complete = complete
        self.field = parent.fields[nodes[0].name.value]
        metadata = _definition(self.field).metadata
        self.together: Together | None = metadata.get(TOGETHER)
        self.needs: Sequence[str] | None = metadata.get(NEEDS)

    async def fill(self, waiting: Sequence[tuple[Any, Doc]], executor: Executor[Any], wave: Wave) -> None:
        """Put the field's value into each part of the response that waits for it."""
        sources = [source for source, _ in waiting]
        values = await (self.together(sources) if self.together else self._one_by_one(sources, executor))
        # What several documents refer to is one object, and is shown as one.
        shown: dict[int, Any] = {}
        for (_, part), value in zip(waiting, values, strict=True):
            if id(value) not in shown:
                shown[id(value)] = self.complete(value, wave)
            part[self.key] = shown[id(value)]

    async def _one_by_one(self, sources: Sequence[Any], executor: Executor[Any]) -> Sequence[Any]:
        arguments = get_argument_values(self.field, self.nodes[0], executor.variable_values)
        # The documents that reach a site share one path: it names the field alone.
        path = Path(None, self.key, self.parent.name)
        info = executor.build_resolve_info(self.field, self.nodes, self.parent, path)
        resolve: Callable[..., Any] = self.field.resolve or executor.field_resolver
        values = [resolve(source, info, **arguments) for source in sources]
        if not isawaitable(values[0]):
            return values
        return [await values[0]] if len(values) == 1 else await gather_with_cancel(*values)


class Pick(NamedTuple):
    """A field that is picked from the document: values of type ``kind`` are shown as they are.

    ``plain`` says that no field with code of its own lies below it.
    """

    key: str
    name: str
    kind: type | None
    complete: Complete
    plain: bool


class Projection(NamedTuple):
    """What a selection shows of an object type: the keys of the response in order, with what is known beforehand."""

    template: Doc
    picks: tuple[Pick, ...]
    sites: tuple[Site, ...]


class Compiled:
    """A query that was compiled, or what a subscription tells. ``executor`` is of none: each execution has a copy."""

    def __init__(self, projection: Projection, executor: Executor[Any]) -> None:
        self._projection = projection
        self._executor = executor

    async def run(self, variable_values: VariableValues, context: object, root: Doc | None) -> Doc:
        """The data, of a message where the root is one. Raises whatever went wrong: it is for graphql-core to tell."""
        executor = copy(self._executor)
        executor.variable_values = variable_values
        executor.context_value = context
        data = self._projection.template.copy()
        wave: Wave = defaultdict(list, {site: [(root, data)] for site in self._projection.sites})
        while wave:
            reached, wave = wave, defaultdict(list)
            for site, waiting in reached.items():
                if site.together:
                    await site.fill(waiting, executor, wave)
            alone = [site.fill(waiting, executor, wave) for site, waiting in reached.items() if not site.together]
            await (alone[0] if len(alone) == 1 else gather_with_cancel(*alone))
        return data


class Selection:
    """What the documents of an object type show of themselves; what that is of one version of a document is kept."""

    def __init__(self, type_: GraphQLObjectType, projection: Projection) -> None:
        self._template, self._picks, self._sites = projection
        self._decoder = decoder_of(_needs(self._picks, self._sites))
        self._read_by_sites = {name for site in self._sites for name in site.needs or ()}
        self._is_type_of: Callable[[Any, Any], Any] | None = type_.is_type_of
        self._plain = all(pick.plain for pick in self._picks)

    def __call__(self, document: Any, wave: Wave) -> Doc | None:
        """The part of the response that shows a document. Raises :class:`Fault`."""
        if document is None:
            return None
        part = self._of_stored(document, wave) if type(document) is Stored else self._shown(document, wave)
        for site in self._sites:
            wave[site].append((document, part))
        return part

    def _of_stored(self, document: Stored, wave: Wave) -> Doc:
        fragment = document.fragment(self) if self._plain else None
        if fragment is None:
            document.read(self._decoder)
            part = self._shown(document, wave)
            if not self._plain:
                return part
            document.keep(self, part, self._read_by_sites)
        else:
            document.update(fragment.read)
            part = fragment.part
        # It is for all who show this version; what the sites tell is not.
        return part.copy() if self._sites else part

    def _shown(self, document: Doc, wave: Wave) -> Doc:
        if self._is_type_of is not None and self._is_type_of(document, None) is not True:
            raise Fault
        part = self._template.copy()
        for key, name, kind, complete, _ in self._picks:
            value = document[name]
            part[key] = value if type(value) is kind else complete(value, wave)
        return part


def compiled(executor: Executor[Any], deciding: Collection[str]) -> Compiled | None:
    """An operation, compiled; None where there is more to it than documents, such as introspection.

    It holds for all executions of that operation with the same values of the variables that are ``deciding``: those in
    ``@skip`` and ``@include``.
    """
    # What is compiled outlives this execution, so it must not hold on to what belongs to it.
    executor = copy(executor)
    executor.context_value = None
    executor.variable_values = VariableValues(
        *({name: value for name, value in part.items() if name in deciding} for part in executor.variable_values)
    )
    root = cast("GraphQLObjectType", executor.schema.get_root_type(executor.operation.operation))
    fields = collect_fields(executor.schema, executor.fragments, executor.variable_values, root, executor.operation)
    if any(details[0].node.name.value in ("__schema", "__type") for details in fields.grouped_field_set.values()):
        return None
    return Compiled(_projection(executor, root, fields.grouped_field_set), executor)


def _projection(executor: Executor[Any], type_: GraphQLObjectType, fields: GroupedFieldSet) -> Projection:
    template: Doc = {}
    picks, sites = [], []
    for key, details in fields.items():
        nodes = [one.node for one in details]
        if nodes[0].name.value == "__typename":
            template[key] = type_.name
            continue
        template[key] = None
        field = type_.fields[nodes[0].name.value]
        complete = _complete(executor, field.type, details)
        if _definition(field).is_basic_field:
            name = name_in_document(_definition(field).python_name)
            plain = _is_plain(executor, field.type, details)
            picks.append(Pick(key, name, shown_as_it_is(field.type), complete, plain))
        else:
            sites.append(Site(key, nodes, type_, complete))
    return Projection(template, tuple(picks), tuple(sites))


def _complete(executor: Executor[Any], type_: GraphQLOutputType, details: FieldDetailsList) -> Complete:
    if isinstance(type_, GraphQLNonNull):
        return required(_complete(executor, type_.of_type, details))
    if isinstance(type_, GraphQLList):
        return listed(shown_as_it_is(type_.of_type), _complete(executor, type_.of_type, details))
    if is_leaf_type(type_):
        return leaf(type_)
    if isinstance(type_, GraphQLObjectType):
        return _selection(executor, type_, details)
    return _abstract(executor, cast("GraphQLInterfaceType | GraphQLUnionType", type_), details)


def _selection(executor: Executor[Any], type_: GraphQLObjectType, details: FieldDetailsList) -> Selection:
    return Selection(type_, _projection(executor, type_, executor.collect_subfields(type_, details).grouped_field_set))


def _is_plain(executor: Executor[Any], type_: GraphQLOutputType, details: FieldDetailsList) -> bool:
    """Whether what is shown of a value depends on nothing but the value."""
    type_ = cast("GraphQLOutputType", get_named_type(type_))
    if is_leaf_type(type_):
        return True
    if not isinstance(type_, GraphQLObjectType):
        return False
    below = executor.collect_subfields(type_, details).grouped_field_set.values()
    fields = [(type_.fields.get(one[0].node.name.value), one) for one in below]
    return all(
        field is None or (_definition(field).is_basic_field and _is_plain(executor, field.type, one))
        for field, one in fields
    )


def _needs(picks: Sequence[Pick], sites: Sequence[Site]) -> set[str] | None:
    """What is read of a document, its type included; None means all of it."""
    names = {"@type", *(pick.name for pick in picks)}
    for site in sites:
        if site.needs is None:
            return None
        names |= set(site.needs)
    return names


def _abstract(
    executor: Executor[Any], type_: GraphQLInterfaceType | GraphQLUnionType, details: FieldDetailsList
) -> Complete:
    resolve_type: Callable[[Any, Any, Any], Any] = type_.resolve_type or executor.type_resolver
    if isinstance(type_, GraphQLUnionType):
        # Strawberry asks each type of a union whether a document is its own; all of ours go by what that says itself.
        resolve_type = Told.resolve_type
    known: dict[str, Complete] = {}

    def complete(document: Any, wave: Wave) -> Any:
        if document is None:
            return None
        name = resolve_type(document, None, type_)
        if name not in known:
            possible = executor.schema.get_type(name)
            if not isinstance(possible, GraphQLObjectType) or not executor.schema.is_sub_type(type_, possible):
                raise Fault
            known[name] = _selection(executor, possible, details)
        return known[name](document, wave)

    return complete


def _definition(field: GraphQLField) -> Any:
    """What Strawberry knows of a field."""
    return field.extensions["strawberry-definition"]
