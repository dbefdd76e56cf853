"""Enums of the schema. Their values in Python are what documents and columns hold."""

from enum import StrEnum

import strawberry

from domain.comparing import Section as ComparisonSection
from domain.display.comparisons import ComparisonFormat
from domain.errors import ErrorCode
from domain.facts import (
    AttestationType,
    DisputeCause,
    DisputeOutcome,
    IssueCategory,
    IssueOutcome,
    RerunOutcome,
)
from domain.manifests import Kind
from domain.policies.evidence import EvidenceLevel
from service.citations import CitationFormat, WarningCode


@strawberry.enum(description="What the harness said of a run.")
class RunStatus(StrEnum):
    PASSED = "PASSED"
    INCORRECT_SHAPE = "INCORRECT_SHAPE"
    INCORRECT_DTYPE = "INCORRECT_DTYPE"
    INCORRECT_NUMERICAL = "INCORRECT_NUMERICAL"
    COMPILE_ERROR = "COMPILE_ERROR"
    RUNTIME_ERROR = "RUNTIME_ERROR"
    TIMEOUT = "TIMEOUT"
    RESOURCE_EXCEEDED = "RESOURCE_EXCEEDED"
    INVALID_REFERENCE = "INVALID_REFERENCE"
    POLICY_VIOLATION = "POLICY_VIOLATION"
    SUSPECTED_REWARD_HACK = "SUSPECTED_REWARD_HACK"
    INCOMPLETE_EVIDENCE = "INCOMPLETE_EVIDENCE"
    REVOKED = "REVOKED"


@strawberry.enum(
    description="The order of a list of runs, newest first. Never by value: values compare inside a group only."
)
class RunOrder(StrEnum):
    RECORDED_AT = "RECORDED_AT"
    OBSERVED_AT = "OBSERVED_AT"
    PUBLISHED_AT = "PUBLISHED_AT"


@strawberry.enum(
    description="How the runs of a group compare: strictly by their 95% intervals, or as their source states them."
)
class Profile(StrEnum):
    STRICT_EXACT = "STRICT_EXACT"
    SOURCE_NATIVE = "SOURCE_NATIVE"


@strawberry.enum(description="What an artifact is to the run that names it.")
class ArtifactRole(StrEnum):
    LOG = "LOG"
    RAW_SAMPLES = "RAW_SAMPLES"


@strawberry.enum(description="What a project is.")
class ProjectKind(StrEnum):
    LIBRARY = "LIBRARY"
    INDIVIDUAL = "INDIVIDUAL"
    VENDOR = "VENDOR"


@strawberry.enum(description="How an axis gets its size.")
class AxisRole(StrEnum):
    VARIABLE = "VARIABLE"
    CONSTANT = "CONSTANT"
    DERIVED = "DERIVED"


@strawberry.enum(description="What has become of a request for a rerun.")
class RerunState(StrEnum):
    OPEN = "OPEN"
    STARTED = "STARTED"
    RECORDED = "RECORDED"


@strawberry.enum(description="Whether somebody has looked into an issue.")
class IssueState(StrEnum):
    OPEN = "OPEN"
    CLOSED = "CLOSED"


strawberry.enum(AttestationType, description="What somebody attests of a run.")
strawberry.enum(DisputeCause, description="What a dispute came from.")
strawberry.enum(
    DisputeOutcome,
    description="How a dispute ends. `DISMISSED`: the rerun that opened it stops counting. `UPHELD`: the run stays"
    " contested, and confirmations before it stop counting. `CORRECTED`: the run is retracted or superseded with it.",
)
strawberry.enum(IssueCategory, description="What is wrong with a record.")
strawberry.enum(IssueOutcome, description="What an issue ended in.")
strawberry.enum(RerunOutcome, description="What a rerun says of the claim. It is computed, never declared.")
strawberry.enum(EvidenceLevel, description="How far a record can be trusted. No level needs the one below it.")
strawberry.enum(ComparisonFormat, description="As what a comparison can be taken away.")
strawberry.enum(ComparisonSection, name="ComparisonSection", description="What a compared field is part of.")
strawberry.enum(
    CitationFormat,
    description="The formats of citations. `TEXT` is a sentence that loses nothing, or an entry in a style.",
)
strawberry.enum(ErrorCode, description="Every code that an error can have. A released code never changes its meaning.")
strawberry.enum(WarningCode, name="CitationWarningCode", description="Why a citation deserves a second look.")
strawberry.enum(Kind, name="ManifestKind", description="The kinds of manifests.")

__all__ = [
    "ArtifactRole",
    "AttestationType",
    "AxisRole",
    "CitationFormat",
    "ComparisonFormat",
    "ComparisonSection",
    "DisputeCause",
    "DisputeOutcome",
    "ErrorCode",
    "EvidenceLevel",
    "IssueCategory",
    "IssueOutcome",
    "IssueState",
    "Kind",
    "Profile",
    "ProjectKind",
    "RerunOutcome",
    "RerunState",
    "RunOrder",
    "RunStatus",
    "WarningCode",
]
