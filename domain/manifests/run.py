"""The model of a benchmark run: who measured what, and what came out."""

from typing import Annotated, Any, Final, Literal, NotRequired, TypeAlias

from pydantic import AfterValidator, ConfigDict, TypeAdapter, WithJsonSchema
from typing_extensions import TypedDict

from domain.manifests.common import (
    STRICT,
    ApiVersion,
    Artifact,
    Commit,
    Digest,
    Duration,
    Instant,
    Key,
    Line200,
    Line500,
    Line2000,
    List,
    Map,
    Metadata,
    Number,
    NumberFrom0,
    Positive,
    Ratio,
    Slug,
)

Status: TypeAlias = Literal[
    "passed",
    "incorrect_shape",
    "incorrect_dtype",
    "incorrect_numerical",
    "compile_error",
    "runtime_error",
    "timeout",
    "resource_exceeded",
    "invalid_reference",
    "policy_violation",
    "suspected_reward_hack",
    "incomplete_evidence",
    "revoked",
]

_DURATIONS: Final[TypeAdapter[list[int]]] = TypeAdapter(list[Duration], config=ConfigDict(strict=True))
_DURATION_SCHEMA: Final = _DURATIONS.json_schema()["items"]


def _ends(interval: list[Any]) -> list[Any]:
    # The published schema types the first two items and leaves the number of them open; so do we, and rank accordingly.
    return [*_DURATIONS.validate_python(interval[:2]), *interval[2:]]


Interval: TypeAlias = Annotated[
    list[Any],
    AfterValidator(_ends),
    WithJsonSchema(
        {
            "type": "array",
            "prefixItems": [_DURATION_SCHEMA, _DURATION_SCHEMA],
            "description": "the low and the high end of a closed interval",
        }
    ),
]


class RunCorrectness(TypedDict):
    """How far the results were from the reference."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    comparator: Key
    maximumAbsoluteError: NotRequired[NumberFrom0]
    maximumRelativeError: NotRequired[NumberFrom0]
    matchedRatio: NotRequired[Ratio]


class Latency(TypedDict):
    """Statistics of the latency, in nanoseconds."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    median: NotRequired[Duration]
    mean: NotRequired[Duration]
    p05: NotRequired[Duration]
    p95: NotRequired[Duration]
    minimum: NotRequired[Duration]
    maximum: NotRequired[Duration]
    mad: NotRequired[Duration]
    confidence95: NotRequired[Interval]


class Timing(TypedDict):
    """A measured latency, its samples and its primary statistic."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    primaryStatistic: Key
    samples: NotRequired[Positive]
    latencyNs: Latency
    rawSamples: NotRequired[Artifact]


class Measurement(TypedDict):
    """One value of one metric, in its own unit."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    metric: Key
    unit: Key
    statistic: Key
    value: Number
    sampleCount: NotRequired[Positive]


class SourceNative(TypedDict):
    """How the source that published the result speaks of it."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    source: Slug
    benchmark: NotRequired[Line200]
    externalId: NotRequired[Line500]
    metrics: NotRequired[Map[Key, Number]]


class HarnessRevision(TypedDict):
    """The code that measured."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    repository: Line2000
    commit: Commit


class Evidence(TypedDict):
    """What allows others to check the result."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    logs: NotRequired[Artifact]
    rawSamples: NotRequired[Artifact]
    harness: NotRequired[HarnessRevision]


class RunSpec(TypedDict):
    """The references that give a run its meaning, and its outcome."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    implementationDigest: Digest
    workloadDigest: Digest
    protocolDigest: Digest
    environmentDigest: Digest
    status: Status
    correctness: NotRequired[RunCorrectness]
    timing: NotRequired[Timing]
    measurements: NotRequired[List[Measurement]]
    sourceNative: NotRequired[SourceNative]
    evidence: NotRequired[Evidence]
    observedAt: Instant


class BenchmarkRun(TypedDict):
    """A benchmark run."""

    __pydantic_config__ = STRICT  # type: ignore[misc]
    apiVersion: ApiVersion
    kind: Literal["BenchmarkRun"]
    metadata: Metadata
    spec: RunSpec
