"""The kinds of manifest, and the model that intake holds each against."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from pydantic import TypeAdapter

from domain.manifests.environment import ExecutionEnvironment
from domain.manifests.implementation import ImplementationRevision
from domain.manifests.operation import OperationSpec
from domain.manifests.project import SoftwareProject
from domain.manifests.protocol import BenchmarkProtocol
from domain.manifests.run import BenchmarkRun
from domain.manifests.workload import WorkloadCase, WorkloadSuite


class Kind(StrEnum):
    """What a manifest describes. A new apiVersion may add kinds; none is ever reused."""

    SOFTWARE_PROJECT = "SoftwareProject"
    OPERATION_SPEC = "OperationSpec"
    WORKLOAD_CASE = "WorkloadCase"
    WORKLOAD_SUITE = "WorkloadSuite"
    IMPLEMENTATION_REVISION = "ImplementationRevision"
    BENCHMARK_PROTOCOL = "BenchmarkProtocol"
    EXECUTION_ENVIRONMENT = "ExecutionEnvironment"
    BENCHMARK_RUN = "BenchmarkRun"


MODELS: Final[Mapping[Kind, TypeAdapter[Any]]] = {
    Kind.SOFTWARE_PROJECT: TypeAdapter(SoftwareProject),
    Kind.OPERATION_SPEC: TypeAdapter(OperationSpec),
    Kind.WORKLOAD_CASE: TypeAdapter(WorkloadCase),
    Kind.WORKLOAD_SUITE: TypeAdapter(WorkloadSuite),
    Kind.IMPLEMENTATION_REVISION: TypeAdapter(ImplementationRevision),
    Kind.BENCHMARK_PROTOCOL: TypeAdapter(BenchmarkProtocol),
    Kind.EXECUTION_ENVIRONMENT: TypeAdapter(ExecutionEnvironment),
    Kind.BENCHMARK_RUN: TypeAdapter(BenchmarkRun),
}
"""Validation gives the normalised document as plain dicts: durations in nanoseconds, sets sorted, only given fields."""
