"""The model of an operation: what a kernel computes, apart from any implementation or size."""

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from domain.manifests.common import (
    STRICT,
    ApiVersion,
    Artifact,
    FilledList,
    Integer,
    Key,
    Map,
    Metadata,
    Prose2000,
    Size,
    Slug,
)

AxisExpression: TypeAlias = Annotated[
    str,
    Field(
        max_length=200,
        pattern=r"^[a-z0-9_+\-*%/() ]+$",
        description="arithmetic over axis names: lower-case letters, digits, '_', + - * / % ( ) and blanks",
    ),
]


class Axis(TypedDict):
    """A dimension: given by the workload, fixed by the operation, or derived from others."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    role: Literal["variable", "constant", "derived"]
    type: Literal["integer"]
    value: NotRequired[Integer]
    minimum: NotRequired[Integer]
    maximum: NotRequired[Integer]
    expression: NotRequired[AxisExpression]


class TensorType(TypedDict):
    """Shape over axis names and sizes, element type and memory layout."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    shape: FilledList[Size]
    dtype: Key
    layout: NotRequired[Literal["row_major", "col_major", "contiguous", "strided"]]


class ScalarType(TypedDict):
    """Element type of a scalar argument."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    dtype: Key


class Parameter(TypedDict):
    """One argument or result, a tensor or a scalar."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    name: Key
    tensor: NotRequired[TensorType]
    scalar: NotRequired[ScalarType]


class Semantics(TypedDict):
    """What the operation does with its arguments."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    expression: NotRequired[Prose2000]
    mutation: Literal["none", "in_place", "destination"]
    determinism: Literal["deterministic", "nondeterministic", "unspecified"]


class Reference(TypedDict):
    """The implementation that defines right results."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    language: Key
    artifact: NotRequired[Artifact]


class OperationBody(TypedDict):
    """Family, axes, arguments, results and semantics."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    family: Slug
    axes: Map[Key, Axis]
    inputs: FilledList[Parameter]
    outputs: FilledList[Parameter]
    semantics: Semantics
    reference: NotRequired[Reference]


class OperationSpec(TypedDict):
    """An operation."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    apiVersion: ApiVersion
    kind: Literal["OperationSpec"]
    metadata: Metadata
    spec: OperationBody
