"""The kinds of manifest."""

from enum import StrEnum


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
