"""The model of a software project: who stands behind implementations."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from domain.manifests.common import STRICT, ApiVersion, Key, Line200, Line2000, List, Metadata


class ProjectHost(TypedDict):
    """The platform that knows the project, and its id there."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    kind: Literal["github", "huggingface", "gitlab", "other"]
    id: Line200


class Package(TypedDict):
    """A package under which the project is published."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    ecosystem: Key
    name: Line200


class ProjectSpec(TypedDict):
    """A library, a person or a vendor that publishes kernels."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    name: Line200
    kind: NotRequired[Literal["library", "individual", "vendor"]]
    repository: NotRequired[Line2000]
    homepage: NotRequired[Line2000]
    host: NotRequired[ProjectHost]
    packages: NotRequired[List[Package]]


class SoftwareProject(TypedDict):
    """A software project."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    apiVersion: ApiVersion
    kind: Literal["SoftwareProject"]
    metadata: Metadata
    spec: ProjectSpec
