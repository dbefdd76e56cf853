"""What runs refer to: operations, workloads, implementations, projects, protocols, environments, hardware, sources."""

from typing import Annotated

import strawberry

from projections import coverage
from projections.model import Doc
from service.api.scalars import URL, BigInt, DateTime, Digest
from service.api.types.base import Documented, Fact, Node, Registered, Root, linked, loaded, picked, snapshot_of
from service.api.types.belonging import Ask, HasRankings, HasRuns, HasStandings, of_parent
from service.api.types.connections import Connection, PageArguments
from service.api.types.described import interface_type, object_type
from service.api.types.enums import ProjectKind
from service.api.types.parts import (
    Aggregation,
    Axis,
    AxisValue,
    Package,
    Parameter,
    ProjectHost,
    SourceImport,
    SourcePolicy,
    SuiteCase,
)

LazyWorkload = Annotated["Workload", strawberry.lazy("service.api.types.catalogue")]
LazyImplementation = Annotated["Implementation", strawberry.lazy("service.api.types.catalogue")]


@object_type("Something to compute, whoever computes it.")
class Operation(Documented, HasRankings, Registered):
    slug: str = picked("Its name for URLs. A newer revision may have the same one.")
    name: str = picked("Its name, for people.")
    family: str = picked("The family it belongs to, such as `moe`.")
    axes: list[Axis] = picked("The axes that sizes are given by.")
    inputs: list[Parameter] = picked("What goes in.")
    outputs: list[Parameter] = picked("What comes out.")
    dtypes: list[str] = picked("All element types of inputs and outputs.")
    expression: str | None = picked("What is computed, as an expression.")
    mutation: str = picked("Whether inputs are changed: `none`, `in_place` or `destination`.")
    determinism: str = picked("Whether equal inputs give equal outputs: `deterministic` and so on.")

    @loaded(Connection[LazyWorkload], "Its workloads, by label.")
    async def workloads(
        self,
        root: Root,
        info: Ask,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        arguments = PageArguments(first, after, last, before)
        return await of_parent(root, info, "workloads", coverage.WORKLOADS_OF_OPERATION, arguments)

    @loaded(Connection[LazyImplementation], "Its implementations, by name.")
    async def implementations(
        self,
        root: Root,
        info: Ask,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        arguments = PageArguments(first, after, last, before)
        return await of_parent(root, info, "implementations", coverage.IMPLEMENTATIONS_OF_OPERATION, arguments)


@interface_type("What an operation is measured on: one case, or a closed suite of cases.")
class Workload(HasRankings, Registered):
    label: str = picked("The workload in one line.")
    facts: list[Fact] = picked("The lines of a record's page about it.")
    dtypes: list[str] = picked("The element types of its tensors; a suite states none.")

    operation = linked(Operation | None, "The operation; null while it is not registered.", "operations", "operation")


@object_type("One case: an operation with all sizes fixed.")
class WorkloadCase(Documented, Workload):
    axes: list[AxisValue] = picked("The sizes of its axes.")


@object_type("A closed list of cases whose results are aggregated to one value.")
class WorkloadSuite(Documented, Workload):
    cases: list[SuiteCase] = picked("The cases.")
    case_count: int = picked("How many cases there are.")
    aggregation: Aggregation = picked("How their results become one value.")


@object_type("Who publishes implementations.")
class Project(Documented, HasStandings, Registered):
    name: str = picked("Its name.")
    repository: str | None = picked("Its repository.")
    homepage: str | None = picked("Its home page.")
    host: ProjectHost | None = picked("Where it is hosted.")
    packages: list[Package] = picked("The packages that it publishes.")
    kind: ProjectKind | None = picked("What it is; null where its manifest doesn't say.")

    @loaded(Connection[LazyImplementation], "Its implementations, by name.")
    async def implementations(
        self,
        root: Root,
        info: Ask,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
    ) -> Doc:
        arguments = PageArguments(first, after, last, before)
        return await of_parent(root, info, "implementations", coverage.IMPLEMENTATIONS_OF_PROJECT, arguments)


@object_type("A revision of code that computes an operation.")
class Implementation(Documented, HasStandings, Registered):
    name: str = picked("Its name: its title without what repeats the operation.")
    revision: str | None = picked("What it calls its revision: a version, a commit.")
    repository: str | None = picked("The repository of the code.")
    commit: str | None = picked("The commit in the repository.")
    language: str = picked("The language; `unknown` where the source doesn't tell.")
    authors: list[str] = picked("Who wrote it, as its manifest names them.")
    dtypes: list[str] = picked("The element types that it supports.")
    architectures: list[str] = picked("The hardware architectures that it supports.")
    products_tested: list[str] = picked("The products on which it was tested.")
    source_available: bool = picked(
        "Whether anyone can get the very source: by content digest, or repository and commit."
    )
    source_digest: Digest | None = picked(
        "`sha256:` of the source. Equal digests are the same source under other names."
    )
    source_file_name: str | None = picked("The source's file name.")
    licence: str | None = picked("The licence, concluded or else declared.")

    operation = linked(Operation | None, "The operation; null while it is not registered.", "operations", "operation")

    project = linked(Project | None, "The project; null where none is named or registered.", "projects", "project")


@object_type("How a measurement was made.")
class Protocol(Documented, Registered):
    harness: str = picked("The harness.")
    harness_version: str | None = picked("The harness's version.")
    timer: str = picked("What measured the time.")
    primary_statistic: str = picked("The statistic that it reports first.")
    comparability_family: str | None = picked("The family of protocols that it says it belongs to.")
    comparability_notes: str | None = picked("What it says of comparing its results.")
    facts: list[Fact] = picked("The lines of a record's page about it.")


@object_type("A hardware product on which runs were measured.")
class Hardware(Documented, HasRankings, Node):
    slug: str = picked("Its name for URLs.")
    product: str = picked("The product, as published.")
    vendor: str = picked("The vendor.")
    architectures: list[str] = picked("The architectures under which environments name it.")


@object_type("Where a measurement was made.")
class Environment(Documented, Registered):
    architecture: str = picked("The hardware architecture; `unknown` where the source doesn't tell.")
    facts: list[Fact] = picked("The lines of a record's page about it.")

    hardware = linked(Hardware | None, "The hardware product.", "hardware", "hardware")


@object_type("Where records come from: a leaderboard, a benchmark, a person.")
class Source(Documented, HasRuns, Node):
    slug: str = picked("Its name for URLs.")
    name: str = picked("Its name; the slug where nobody has registered it.")
    kind: str | None = picked("What it is, such as `leaderboard`.")
    homepage: URL | None = picked("Its home page.")
    policy: SourcePolicy | None = picked("The terms under which it lets its records be shown.")
    registered: bool = picked("Whether it is registered here, or only named by runs.")
    last_import: SourceImport | None = picked("The last reading of a file of it.")

    @loaded(DateTime | None, "When the newest of its runs was measured; null while it has none.")
    async def newest_observation_at(self, root: Root) -> str | None:
        return await snapshot_of(root).newest_observation(root["slug"])


@object_type("A file that this index has a record of: source code, a log. Its id is its content digest.")
class RecordedArtifact(Documented, Node):
    digest: Digest = picked("`sha256:` of the content.")
    kind: str = picked("What its recorder calls it.")
    media_type: str | None = picked("Its media type.")
    size_bytes: BigInt | None = picked("Its size in bytes.")
    uri: str | None = picked("Where its recorder says that it is.")
    licence: str | None = picked("Its licence, where one is stated.")

    @loaded(list[str], "Other names, for ever: the ids that other indexes gave it.")
    async def aliases(self, root: Root) -> list[str]:
        return await snapshot_of(root).aliases(root["digest"])
