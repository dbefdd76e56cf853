"""The model of an implementation at one revision: what was measured."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from domain.manifests.common import (
    STRICT,
    ApiVersion,
    Commit,
    Digest,
    Key,
    KeySet,
    Line50Set,
    Line100,
    Line100Set,
    Line200,
    Line200Set,
    Line500,
    Line2000,
    List,
    Map,
    Metadata,
    Name,
    Positive,
    Prose1000,
)


class ProjectRevision(TypedDict):
    """Where in the history of its project the code stands."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    repository: NotRequired[Line2000]
    commit: NotRequired[Commit]
    version: NotRequired[Line100]
    treeDigest: NotRequired[Digest]


class ImplementedOperation(TypedDict):
    """The operation that the code computes."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    specDigest: Digest


class Callable(TypedDict):
    """What is called: language, file, symbol, interface."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    language: Key
    path: NotRequired[Line500]
    symbol: NotRequired[Line200]
    interface: NotRequired[Key]


class Support(TypedDict):
    """What the code supports. Each list is a set: kept sorted, without repeats."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    hardwareArchitectures: KeySet
    productsTested: NotRequired[Line100Set]
    axes: NotRequired[Line200Set]
    dtypes: KeySet
    layouts: NotRequired[Line50Set]


class SourceFile(TypedDict):
    """The code itself, by the digest of its content; size in bytes."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    contentDigest: Digest
    fileName: NotRequired[Line200]
    sizeBytes: NotRequired[Positive]


class Install(TypedDict):
    """How one gets the code."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    kind: Literal["git", "pip", "package", "container", "source"]
    repository: NotRequired[Line2000]
    commit: NotRequired[Commit]
    package: NotRequired[Line200]
    version: NotRequired[Line100]
    command: NotRequired[Prose1000]


class BuildVariant(TypedDict):
    """One way to build or install, and what it requires."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    name: Name
    install: Install
    requirements: NotRequired[Map[Key, Line200]]


class LicenseEvidence(TypedDict):
    """The file that the licence was read from."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    path: Line500
    digest: NotRequired[Digest]


class Licensing(TypedDict):
    """The licence as its authors declare it and as it was concluded."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    declared: NotRequired[Line200]
    concluded: NotRequired[Line200]
    evidence: NotRequired[LicenseEvidence]


class ImplementationSpec(TypedDict):
    """Code that computes one operation, at one revision."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    projectRevision: ProjectRevision
    operation: ImplementedOperation
    callable: Callable
    support: Support
    source: NotRequired[SourceFile]
    buildVariants: NotRequired[List[BuildVariant]]
    licensing: Licensing


class ImplementationRevision(TypedDict):
    """An implementation at one revision."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    apiVersion: ApiVersion
    kind: Literal["ImplementationRevision"]
    metadata: Metadata
    spec: ImplementationSpec
