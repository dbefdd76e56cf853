"""Runs side by side: every field of what they are and how they were measured, and what keeps them from being compared.

Runs compare where their comparison keys are equal. Whatever goes into the key is *material*: one difference there, and
neither a ratio nor a rank says anything.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

import msgspec

from domain.display.facts import value_text
from domain.identity import short_id
from domain.measurements import Measurement, lower_is_better, ratio_to_best

LEAST: Final = 2
MOST: Final = 8


class Section(StrEnum):
    """What a field is part of, in the order in which differences are named."""

    OPERATION = "OPERATION"
    WORKLOAD = "WORKLOAD"
    PROTOCOL = "PROTOCOL"
    ENVIRONMENT = "ENVIRONMENT"
    METRIC = "METRIC"
    IMPLEMENTATION = "IMPLEMENTATION"
    RUN = "RUN"


MATERIAL: Final = frozenset(
    {Section.OPERATION, Section.WORKLOAD, Section.PROTOCOL, Section.ENVIRONMENT, Section.METRIC}
)
DIGEST: Final = "digest"

# Said by the digest of another section already.
REFERENCES: Final = frozenset(
    {
        (Section.WORKLOAD, "operationSpecDigest"),
        (Section.IMPLEMENTATION, "operation.specDigest"),
        (Section.RUN, "implementationDigest"),
        (Section.RUN, "workloadDigest"),
        (Section.RUN, "protocolDigest"),
        (Section.RUN, "environmentDigest"),
    }
)


class Part(msgspec.Struct, frozen=True):
    """A section of one run: the digest that the run names, and what stands behind it; None while not registered."""

    digest: str | None
    spec: Mapping[str, Any] | None


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A run to compare. ``rank`` is its place in its group; None where it may not be ranked."""

    digest: str
    title: str
    comparison_key: str | None
    primary: Measurement | None
    rank: int | None
    tied: bool
    parts: Mapping[Section, Part]


class Value(msgspec.Struct, frozen=True):
    """What one run says in a field: None where it says nothing. Not ``registered``: nobody here knows what it says."""

    text: str | None
    registered: bool = True


class Field(msgspec.Struct, frozen=True):
    """One field of all runs, ``values`` in their order. ``path`` is that of the manifest (``harness.version``)."""

    section: Section
    path: str
    values: tuple[Value, ...]

    @property
    def material(self) -> bool:
        """Whether a difference here means that the runs don't compare."""
        return self.section in MATERIAL

    @property
    def differs(self) -> bool:
        """Whether two of the runs say different things. What nobody here knows is no difference."""
        return len({value.text for value in self.values if value.registered}) > 1


class Outcome(msgspec.Struct, frozen=True):
    """How a run came out beside the others. All None unless the runs compare and this one may be ranked."""

    rank: int | None = None
    tied: bool | None = None
    ratio_to_best: float | None = None


class Comparison(msgspec.Struct, frozen=True):
    """Runs side by side. ``fields``: material differences first, then other differences, then what is equal."""

    subjects: tuple[Subject, ...]
    fields: tuple[Field, ...]
    first_mismatch: Field | None
    comparable: bool
    verdict: str
    outcomes: tuple[Outcome, ...]


def compare(subjects: Sequence[Subject]) -> Comparison:
    """Put two to eight runs side by side."""
    fields = [field for section in Section for field in _fields_of(section, subjects)]
    mismatch = _first_mismatch(fields)
    obstacle = _obstacle(subjects, mismatch)
    return Comparison(
        subjects=tuple(subjects),
        fields=tuple(sorted(fields, key=lambda field: (not field.differs, not field.material))),
        first_mismatch=mismatch,
        comparable=obstacle is None,
        verdict=obstacle or "comparable: same operation, workload, protocol, environment and metric",
        outcomes=_outcomes(subjects) if obstacle is None else (Outcome(),) * len(subjects),
    )


def _fields_of(section: Section, subjects: Sequence[Subject]) -> Iterator[Field]:
    parts = [subject.parts[section] for subject in subjects]
    if any(part.digest for part in parts):
        yield Field(section, DIGEST, tuple(Value(part.digest) for part in parts))
    stated = [dict(_flat(part.spec)) if part.spec is not None else None for part in parts]
    for path in dict.fromkeys(path for fields in stated for path in fields or ()):
        if (section, path) not in REFERENCES:
            values = (Value(None, registered=False) if fields is None else Value(fields.get(path)) for fields in stated)
            yield Field(section, path, tuple(values))


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of a manifest's part, each with its path."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        for name, item in zip(_names(value), value, strict=True):
            yield from _flat(item, f"{path}[{name}]")
    elif isinstance(value, list):
        yield path, f"[{', '.join(map(_leaf, value))}]"
    elif value is not None:
        yield path, value_text(value)


def _leaf(value: Any) -> str:
    return "null" if value is None else value_text(value)


def _names(items: list[Any]) -> list[str]:
    """What tells the items of a list apart: their own names where each has another one, else their numbers."""
    for key in ("name", "externalId"):
        names = [item.get(key) for item in items if isinstance(item, Mapping)]
        if len(set(names)) == len(items) and None not in names:
            return [str(name) for name in names]
    return [str(number) for number in range(len(items))]


def _first_mismatch(fields: Sequence[Field]) -> Field | None:
    """The first material field that differs: of its section the first that says how, rather than the digest."""
    differing = [field for field in fields if field.material and field.differs]
    first_section = [field for field in differing if field.section is differing[0].section]
    return next((field for field in first_section if field.path != DIGEST), differing[0] if differing else None)


def _obstacle(subjects: Sequence[Subject], mismatch: Field | None) -> str | None:
    """Why the runs don't compare; None where they do."""
    if mismatch is not None:
        values = ", ".join(value.text or "not stated" for value in mismatch.values if value.registered)
        return f"not comparable: {mismatch.section.lower()} {mismatch.path} differs: {values}"
    unresolved = next((subject for subject in subjects if subject.comparison_key is None), None)
    if unresolved:
        workload = short_id(unresolved.parts[Section.WORKLOAD].digest or "")
        return f"not comparable until workload {workload} is registered"
    if any(subject.primary is None for subject in subjects):
        return "not comparable: they state no value to be compared by"
    return None


def _outcomes(subjects: Sequence[Subject]) -> tuple[Outcome, ...]:
    values = [subject.primary.value for subject in subjects if subject.primary and subject.rank is not None]
    return tuple(_outcome(subject, values) for subject in subjects)


def _outcome(subject: Subject, values: Sequence[Decimal]) -> Outcome:
    primary = subject.primary
    if primary is None or subject.rank is None:
        return Outcome()
    ascending = lower_is_better(primary.metric, primary.unit)
    best = min(values) if ascending else max(values)
    return Outcome(subject.rank, subject.tied, ratio_to_best(primary.value, best, lower_is_better=ascending))
