"""From values that are no documents to what the response shows of them, as the types of their fields ask."""

from collections.abc import Callable
from typing import Any, TypeAlias

from graphql import GraphQLEnumType, GraphQLLeafType, GraphQLNonNull, GraphQLOutputType, Undefined, is_leaf_type

Complete: TypeAlias = Callable[[Any, Any], Any]
"""Turns the value of a field into what the response shows; given also the sites that documents have reached."""


class Fault(Exception):
    """Something went wrong that graphql-core shall tell of."""


def required(inner: Complete) -> Complete:
    """Of a type that must not be null."""

    def complete(value: Any, wave: Any) -> Any:
        shown = inner(value, wave)
        if shown is None:
            raise Fault
        return shown

    return complete


def listed(kind: type | None, item: Complete) -> Complete:
    """Of a list, whose items of type ``kind`` are shown as they are."""

    def complete(value: Any, wave: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise Fault
        return [one if type(one) is kind else item(one, wave) for one in value]

    return complete


def leaf(type_: GraphQLLeafType) -> Complete:
    """Of a scalar or an enum."""
    names: dict[Any, str] = {}
    if isinstance(type_, GraphQLEnumType):
        names = {value.value: name for name, value in type_.values.items() if type(value.value) is str}

    def complete(value: Any, _wave: Any) -> Any:
        if value is None:
            return None
        if type(value) is str and value in names:
            return names[value]
        shown = Undefined if isinstance(value, Exception) else type_.coerce_output_value(value)
        if shown is None or shown is Undefined:
            raise Fault
        return shown

    return complete


def shown_as_it_is(type_: GraphQLOutputType) -> type | None:
    """The type of values that :func:`leaf` would give back unchanged."""
    if isinstance(type_, GraphQLNonNull):
        type_ = type_.of_type
    if not is_leaf_type(type_) or isinstance(type_, GraphQLEnumType):
        return None
    if type_.name == "Boolean":
        return bool
    text = "any text"
    try:
        return str if type_.coerce_output_value(text) is text else None
    except Exception:  # noqa: BLE001 scalars raise what they like
        return None
