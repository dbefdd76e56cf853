"""What one document of a file stands for: a command, something derived, or a refusal."""

import msgspec

from domain.commands import Ingest, RegisterSource
from domain.errors import Problem
from domain.manifests import Kind

KINDS: dict[Kind, str] = {
    Kind.SOFTWARE_PROJECT: "projects",
    Kind.OPERATION_SPEC: "operations",
    Kind.WORKLOAD_CASE: "workloads",
    Kind.WORKLOAD_SUITE: "workloads",
    Kind.IMPLEMENTATION_REVISION: "implementations",
    Kind.BENCHMARK_PROTOCOL: "protocols",
    Kind.EXECUTION_ENVIRONMENT: "environments",
    Kind.BENCHMARK_RUN: "runs",
}
"""The line of a report on which manifests of a kind are counted."""

SOURCES = "sources"
RUNS = "runs"
ALIASES = "operation aliases"
ARTIFACTS = "artifacts"
DOCUMENTS = "documents"
"""Where a document is counted that can't be read, so that nobody knows what it was."""


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What a document is about: where it is counted, its digest, the source of its run, and that one's name for it."""

    kind: str
    digest: str = ""
    source: str | None = None
    row: str = ""


class Item(Subject, frozen=True, kw_only=True):
    """A document that was read, and the command that it stands for."""

    command: Ingest | RegisterSource


class Derived(msgspec.Struct, frozen=True):
    """A record that follows from others, so that it is not imported."""

    kind: str


class Rejected(msgspec.Struct, frozen=True, rename="camel"):
    """A document that was refused, and every reason. ``row`` is the source's own name for it."""

    kind: str
    problems: tuple[Problem, ...]
    source: str | None = None
    row: str = ""


class Omitted(msgspec.Struct, frozen=True):
    """A row of a source that is no record of ours, and why."""

    why: str


class Note(msgspec.Struct, frozen=True):
    """Something that whoever imports should know."""

    text: str


Read = Item | Derived | Rejected | Omitted | Note
