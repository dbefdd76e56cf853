"""Parts of documents that have no id of their own."""

from service.api.scalars import URL, BigInt, DateTime, Decimal, Digest, Position
from service.api.types.base import picked
from service.api.types.described import object_type
from service.api.types.enums import ArtifactRole, AxisRole, EvidenceLevel


@object_type("A closed 95% interval, in the unit of its measurement.")
class Interval:
    low: Decimal = picked("The lower end, exact.")
    high: Decimal = picked("The upper end, exact.")
    formatted: str = picked("Both ends, for people.")


@object_type("One measured value.")
class Measurement:
    metric: str = picked("What was measured, such as `latency` or `score`.")
    statistic: str = picked("Which statistic of the samples it is; `unspecified` where the source did not say.")
    unit: str = picked("The unit of the value, such as `ns`.")
    value: Decimal = picked("The value, exact.")
    number: float = picked("The value as a binary floating-point number, for charts; not exact.")
    formatted: str = picked("The value with its unit, for people.")
    spread: Decimal | None = picked("How far the samples scatter, exact; only with a primary measurement.")
    spread_statistic: str | None = picked("Which statistic the spread is.")
    spread_formatted: str | None = picked("The spread with its unit, for people.")
    sample_count: BigInt | None = picked("How many samples stand behind the value.")
    interval: Interval | None = picked("The 95% interval, where the run states a valid one.")


@object_type("A number that the source reported beside the measurement.")
class SourceMetric:
    key: str = picked("The source's own name of it.")
    value: Decimal = picked("The number, exact.")
    text: str | None = picked("How it is shown to people; null where it is not shown.")


@object_type("What the run says of its correctness check.")
class Correctness:
    comparator: str = picked("How results were compared with the reference.")
    maximum_absolute_error: float | None = picked("The largest absolute error.")
    maximum_relative_error: float | None = picked("The largest relative error.")
    matched_ratio: float | None = picked("The share of elements that matched, from 0 to 1.")


@object_type("The parts of a comparison key: runs compare where all of them are equal.")
class ComparisonParts:
    operation: Digest = picked("The operation.")
    workload: Digest = picked("The workload.")
    protocol: Digest = picked("The protocol.")
    environment: Digest = picked("The environment.")
    correctness: Digest = picked("The digest of the workload's rule of correctness.")
    metric: str = picked("`metric:statistic:unit` of the primary measurement, or `none`.")


@object_type("A fact that led to an evidence level.")
class EvidenceReason:
    fact: str = picked("The fact, such as `SOURCE_AVAILABLE`.")
    position: Position = picked("The position of the event since which it holds.")


@object_type("How far a record can be trusted, and why. Derived from events, never typed by anyone.")
class Evidence:
    level: EvidenceLevel = picked("The level.")
    contested: bool = picked("Whether a dispute about the record is open or was upheld.")
    reasons: list[EvidenceReason] = picked("The facts that led to the level.")
    missing: list[str] = picked("The facts that are missing for the next level that needs no rerun.")
    policy_version: str = picked("The policy that derived the level.")


@object_type("A file that a run names by the digest of its content.")
class Artifact:
    digest: Digest = picked("`sha256:` of the content.")
    role: ArtifactRole = picked("What it is to the run.")
    uri: str = picked("Where the run says that it is.")
    recorded: bool = picked("Whether this index has a record of it; the fields below are null where it hasn't.")
    kind: str | None = picked("What its recorder calls it.")
    media_type: str | None = picked("Its media type.")
    size_bytes: BigInt | None = picked("Its size in bytes.")
    licence: str | None = picked("Its licence, where one is stated.")


@object_type("An axis of an operation.")
class Axis:
    name: str = picked("The name.")
    role: AxisRole = picked("How it gets its size.")
    value: BigInt | None = picked("The size of a constant axis.")
    minimum: BigInt | None = picked("The smallest size.")
    maximum: BigInt | None = picked("The largest size.")
    expression: str | None = picked("How a derived axis follows from others.")


@object_type("The size of an axis in a workload.")
class AxisValue:
    name: str = picked("The axis.")
    value: BigInt = picked("Its size.")


@object_type("An input or output of an operation.")
class Parameter:
    name: str = picked("The name.")
    dtype: str | None = picked("The element type.")
    shape: list[str] | None = picked("The sizes, as numbers or names of axes; null for a scalar.")
    layout: str | None = picked("The memory layout, where stated.")


@object_type("A case of a workload suite.")
class SuiteCase:
    external_id: str = picked("The id that the source gave the case.")
    axes: list[AxisValue] = picked("The sizes of its axes.")


@object_type("How the results of a suite's cases become one value.")
class Aggregation:
    metric: str = picked("What is aggregated.")
    statistic: str = picked("By which statistic.")


@object_type("Where a project is hosted.")
class ProjectHost:
    kind: str = picked("Which kind of host, such as `github`.")
    id: str = picked("The project's id there.")


@object_type("A package that a project publishes.")
class Package:
    ecosystem: str = picked("The package ecosystem, such as `pypi`.")
    name: str = picked("The package's name there.")


@object_type("The terms under which a source lets its records be shown.")
class SourcePolicy:
    licence: str | None = picked("The licence.")
    attribution: str | None = picked("Who is to be named.")
    terms: str | None = picked("The terms in short.")
    url: URL | None = picked("Where they are published.")
    freshness_days: int | None = picked("After how many days it should be read again, where that is agreed.")
    text: str = picked("All of them, as canonical JSON text.")


@object_type("How many records had this outcome.")
class Count:
    key: str = picked("The outcome, such as `new`.")
    count: int = picked("How many.")


@object_type("The reading of a file of a source.")
class SourceImport:
    imported_at: DateTime = picked("When.")
    position: Position = picked("The position of its event.")
    file_digest: Digest = picked("`sha256:` of the file.")
    importer: str = picked("Which importer read it.")
    importer_version: str = picked("The importer's version.")
    counts: list[Count] = picked("What became of its records.")
