"""The model that intake holds each kind of manifest against."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter

from domain.manifests.environment import ExecutionEnvironment
from domain.manifests.implementation import ImplementationRevision
from domain.manifests.kinds import Kind
from domain.manifests.operation import OperationSpec
from domain.manifests.project import SoftwareProject
from domain.manifests.protocol import BenchmarkProtocol
from domain.manifests.run import BenchmarkRun
from domain.manifests.workload import WorkloadCase, WorkloadSuite

_TYPES: Final[Mapping[Kind, Any]] = {
    Kind.SOFTWARE_PROJECT: SoftwareProject,
    Kind.OPERATION_SPEC: OperationSpec,
    Kind.WORKLOAD_CASE: WorkloadCase,
    Kind.WORKLOAD_SUITE: WorkloadSuite,
    Kind.IMPLEMENTATION_REVISION: ImplementationRevision,
    Kind.BENCHMARK_PROTOCOL: BenchmarkProtocol,
    Kind.EXECUTION_ENVIRONMENT: ExecutionEnvironment,
    Kind.BENCHMARK_RUN: BenchmarkRun,
}


@cache
def model_of(kind: Kind) -> TypeAdapter[Any]:
    """What manifests of a kind must be. It is built when it is first asked for: that takes long.

    Validation gives the normalised document as plain dicts: durations in nanoseconds, sets sorted, only given fields.
    """
    return TypeAdapter(_TYPES[kind])
