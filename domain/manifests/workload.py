"""The models of workloads: one case with its data, or a closed suite of cases measured as one."""

from typing import Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from domain.manifests.common import (
    STRICT,
    ApiVersion,
    Artifact,
    Digest,
    FilledList,
    Integer,
    Key,
    Line200,
    List,
    Map,
    Metadata,
    Natural,
    Number,
    NumberFrom0,
    Positive,
    Prose500,
    Ratio,
)

AxisValues: TypeAlias = Map[Key, Integer]
SpecialValuePolicy: TypeAlias = Literal["reject", "exact_match", "ignore"]


class TensorData(TypedDict):
    """How the elements are made: a generator with its seed and parameters, or a kept file."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    generator: Key
    seed: NotRequired[Natural]
    parameters: NotRequired[Map[Key, Number]]
    artifact: NotRequired[Artifact]


class Tensor(TypedDict):
    """A concrete tensor: shape and strides in elements, alignment in bytes."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    shape: FilledList[Natural]
    dtype: Key
    strides: NotRequired[List[Integer]]
    alignmentBytes: NotRequired[Positive]
    data: NotRequired[TensorData]


class Scalar(TypedDict):
    """A concrete scalar argument."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    dtype: Key
    value: Number


class CaseCorrectness(TypedDict):
    """How results are compared with the reference."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    comparator: Key
    maxAbsoluteError: NotRequired[NumberFrom0]
    maxRelativeError: NotRequired[NumberFrom0]
    requiredMatchedRatio: NotRequired[Ratio]
    nanPolicy: NotRequired[SpecialValuePolicy]
    infinityPolicy: NotRequired[SpecialValuePolicy]


class CaseSpec(TypedDict):
    """One set of axis values, tensors and scalars of an operation."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    operationSpecDigest: Digest
    axes: AxisValues
    tensors: Map[Key, Tensor]
    scalars: NotRequired[Map[Key, Scalar]]
    correctness: CaseCorrectness


class WorkloadCase(TypedDict):
    """A workload of one case."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    apiVersion: ApiVersion
    kind: Literal["WorkloadCase"]
    metadata: Metadata
    spec: CaseSpec


class SuiteCase(TypedDict):
    """One case of a suite, under the id that its source gives it."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    externalId: Line200
    axes: AxisValues


class SuiteCorrectness(TypedDict):
    """How results are compared with the reference, over the whole suite."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    comparator: Key
    description: NotRequired[Prose500]


class Aggregation(TypedDict):
    """How the cases become one value."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    metric: Key
    statistic: Key


class SuiteSpec(TypedDict):
    """A closed list of cases, in the order of their source, and how they are summed up."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    operationSpecDigest: Digest
    cases: FilledList[SuiteCase]
    correctness: SuiteCorrectness
    aggregation: Aggregation


class WorkloadSuite(TypedDict):
    """A workload of many cases."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    apiVersion: ApiVersion
    kind: Literal["WorkloadSuite"]
    metadata: Metadata
    spec: SuiteSpec
