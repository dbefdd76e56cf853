"""The model of a benchmark protocol: how one measures."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from domain.manifests.common import (
    STRICT,
    ApiVersion,
    Commit,
    Duration,
    Key,
    Line100,
    Line200,
    Line500,
    Line2000,
    Metadata,
    Natural,
    NumberAbove0,
    Positive,
    Prose1000,
)


class Harness(TypedDict):
    """The program that measures. Another version is another protocol."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    name: Line200
    version: NotRequired[Line100]
    repository: NotRequired[Line2000]
    commit: NotRequired[Commit]


class MeasurementPlan(TypedDict):
    """What is timed, how often, and which statistic is reported first."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    timer: Key
    synchronization: NotRequired[Key]
    compileIncluded: NotRequired[bool]
    setupIncluded: NotRequired[bool]
    warmupIterations: NotRequired[Natural]
    warmupDuration: NotRequired[Duration]
    measuredIterations: NotRequired[Positive]
    samples: NotRequired[Positive]
    inputRegeneration: NotRequired[Key]
    outlierPolicy: NotRequired[Line500]
    primaryStatistic: Key


class ProtocolCorrectness(TypedDict):
    """What results are compared with, and how."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    reference: Line500
    comparator: Key


class DevicePolicy(TypedDict):
    """What the harness sets on the device."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    clocksLocked: NotRequired[bool]
    powerLimitWatts: NotRequired[NumberAbove0]
    persistenceMode: NotRequired[bool]


class Comparability(TypedDict):
    """The family inside which results may be compared, and what limits that."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    family: Key
    notes: NotRequired[Prose1000]


class ProtocolSpec(TypedDict):
    """Harness, measurement and what belongs to them."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    harness: Harness
    measurement: MeasurementPlan
    correctness: NotRequired[ProtocolCorrectness]
    devicePolicy: NotRequired[DevicePolicy]
    comparability: NotRequired[Comparability]


class BenchmarkProtocol(TypedDict):
    """A benchmark protocol."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    apiVersion: ApiVersion
    kind: Literal["BenchmarkProtocol"]
    metadata: Metadata
    spec: ProtocolSpec
