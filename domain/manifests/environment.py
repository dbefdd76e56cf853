"""The model of an execution environment: what one measures on."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from domain.manifests.common import (
    STRICT,
    ApiVersion,
    Digest,
    Key,
    Line100,
    Line200,
    Line500,
    Map,
    Metadata,
    NumberAbove0,
    Positive,
)


class Hardware(TypedDict):
    """The accelerator and how many of it."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    vendor: Key
    product: Line200
    architecture: Key
    formFactor: NotRequired[Line100]
    memoryBytes: NotRequired[Positive]
    count: NotRequired[Positive]
    interconnect: NotRequired[Line200]


class Framework(TypedDict):
    """The framework that calls the kernel."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    name: Key
    version: Line100


class Software(TypedDict):
    """Versions of what runs, as each names itself."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    operatingSystem: NotRequired[Line200]
    kernel: NotRequired[Line200]
    driver: NotRequired[Line100]
    cudaToolkit: NotRequired[Line100]
    compiler: NotRequired[Line200]
    framework: NotRequired[Framework]
    libraries: NotRequired[Map[Key, Line100]]


class DeviceSettings(TypedDict):
    """How the machine was set."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    clocksLocked: NotRequired[bool]
    powerLimitWatts: NotRequired[NumberAbove0]
    persistenceMode: NotRequired[bool]
    eccEnabled: NotRequired[bool]
    environmentVariables: NotRequired[Map[Line200, Line500]]


class EnvironmentSpec(TypedDict):
    """Hardware, software and settings."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    hardware: Hardware
    software: Software
    settings: NotRequired[DeviceSettings]
    imageDigest: NotRequired[Digest]


class ExecutionEnvironment(TypedDict):
    """An execution environment."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    apiVersion: ApiVersion
    kind: Literal["ExecutionEnvironment"]
    metadata: Metadata
    spec: EnvironmentSpec
