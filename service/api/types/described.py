"""Types of the schema: what one is described as is the docstring of its class too.

Where a class has none, ``dataclasses`` makes one of its signature, which nobody reads: that was a twentieth of a start.
"""

from collections.abc import Callable
from typing import TypeVar, dataclass_transform

import strawberry
from strawberry.types.field import StrawberryField

T = TypeVar("T", bound=type)


@dataclass_transform(kw_only_default=True, field_specifiers=(strawberry.field, StrawberryField))
def object_type(description: str) -> Callable[[T], T]:
    """Make a class a type of objects."""
    return lambda cls: strawberry.type(_documented(cls, description), description=description)


@dataclass_transform(kw_only_default=True, field_specifiers=(strawberry.field, StrawberryField))
def interface_type(description: str) -> Callable[[T], T]:
    """Make a class an interface."""
    return lambda cls: strawberry.interface(_documented(cls, description), description=description)


@dataclass_transform(kw_only_default=True, field_specifiers=(strawberry.field, StrawberryField))
def input_type(description: str, *, one_of: bool | None = None) -> Callable[[T], T]:
    """Make a class a type of inputs; with ``one_of`` exactly one of its fields is given."""
    return lambda cls: strawberry.input(_documented(cls, description), description=description, one_of=one_of)


def _documented(cls: T, description: str) -> T:
    cls.__doc__ = cls.__doc__ or description
    return cls
