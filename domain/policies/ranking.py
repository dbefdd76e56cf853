"""``ranking-v1``: which runs are ranked, and in which order inside one comparison key (DESIGN section 4)."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from enum import StrEnum
from itertools import groupby
from typing import Any, Final, Literal, NamedTuple

import msgspec

from domain.measurements import Measurement

Profile = Literal["STRICT_EXACT", "SOURCE_NATIVE"]

VERSION: Final = "ranking-v1"


class Ineligible(StrEnum):
    """Why a run is not ranked. Beside these, a status other than ``passed`` is the reason ``STATUS_<STATUS>``."""

    RETRACTED = "RETRACTED"
    SUPERSEDED = "SUPERSEDED"
    DISPUTED = "DISPUTED"
    MISSING_PRIMARY_METRIC = "MISSING_PRIMARY_METRIC"
    NONPOSITIVE_PRIMARY = "NONPOSITIVE_PRIMARY"
    REFERENCE_UNRESOLVED = "REFERENCE_UNRESOLVED"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What decides the place of one eligible run.

    ``run`` is its digest, ``low`` and ``high`` the ends of its 95% interval in the value's unit, ``level`` the ordinal
    of its evidence level (higher is better), ``observed_key`` the :func:`domain.instants.instant_key` of its
    observation.
    """

    run: str
    value: Decimal
    low: Decimal | None = None
    high: Decimal | None = None
    level: int = 0
    observed_key: str = ""


class Placed(msgspec.Struct, frozen=True):
    """An entry at its dense rank from 1; ``tied`` if another one shares it."""

    entry: Entry
    rank: int
    tied: bool


class Span(NamedTuple):
    """Of several closed intervals the greatest lower and the least upper end: all that overlap asks of them."""

    low: Decimal
    high: Decimal

    def all_overlap(self, other: "Span") -> bool:
        """Whether each interval of the one overlaps each of the other. Touching counts."""
        return self.low <= other.high and other.low <= self.high

    def joined(self, other: "Span") -> "Span":
        """The span of the intervals of both."""
        return Span(max(self.low, other.low), min(self.high, other.high))


def profile_of(run_spec: dict[str, Any]) -> Profile:
    """How the runs of a group compare: as their source states them, or strictly by interval."""
    return "SOURCE_NATIVE" if "sourceNative" in run_spec else "STRICT_EXACT"


def profile_of_group(source_native_runs: int) -> Profile:
    """How the runs of a group compare: one source-native run among them is enough to rule intervals out."""
    return "SOURCE_NATIVE" if source_native_runs else "STRICT_EXACT"


def eligibility(
    status: str, *, retracted: bool, superseded: bool, disputed: bool, primary: Measurement | None, unresolved: bool
) -> tuple[str, ...]:
    """Every reason why a run is not ranked; none means eligible.

    The order is fixed, that of DESIGN section 4: the status, what was decided about the record (retraction,
    supersession, a blocking dispute), what is wrong with its value, what is not registered yet.
    """
    held = (
        (f"STATUS_{status.upper()}", status != "passed"),
        (Ineligible.RETRACTED, retracted),
        (Ineligible.SUPERSEDED, superseded),
        (Ineligible.DISPUTED, disputed),
        (Ineligible.MISSING_PRIMARY_METRIC, primary is None),
        (Ineligible.NONPOSITIVE_PRIMARY, primary is not None and primary.value <= 0),
        (Ineligible.REFERENCE_UNRESOLVED, unresolved),
    )
    return tuple(str(reason) for reason, holds in held if holds)


def rank(entries: Iterable[Entry], *, profile: Profile, lower_is_better: bool) -> list[Placed]:
    """The eligible runs of one comparison key in the order shown, in n log n.

    Equal values are one block. In a ``STRICT_EXACT`` group a block joins the whole tie built so far above it if every
    run in both has a valid interval and every pair across the two overlaps; in a ``SOURCE_NATIVE`` group it never does.
    Inside a tie the order is evidence level, newer observation, digest; it is display only.
    """
    ordered = sorted(entries, key=lambda entry: entry.value, reverse=not lower_is_better)
    blocks = (list(block) for _, block in groupby(ordered, key=lambda entry: entry.value))
    ties = blocks if profile == "SOURCE_NATIVE" else _joined(blocks)
    return [
        Placed(entry, number, len(tie) > 1)
        for number, tie in enumerate(ties, start=1)
        for entry in _in_display_order(tie)
    ]


def _joined(blocks: Iterable[list[Entry]]) -> Iterator[list[Entry]]:
    """The blocks, best first, with those that can't be told apart put together."""
    tie: list[Entry] = []
    reach: Span | None = None
    for block in blocks:
        span = _span(block)
        if reach is not None and span is not None and reach.all_overlap(span):
            tie += block
            reach = reach.joined(span)
            continue
        if tie:
            yield tie
        tie, reach = block, span
    if tie:
        yield tie


def _span(block: list[Entry]) -> Span | None:
    """The span of the block's intervals, or None where a run has no valid one."""
    span: Span | None = None
    for entry in block:
        if entry.low is None or entry.high is None or not entry.low <= entry.value <= entry.high:
            return None
        own = Span(entry.low, entry.high)
        span = own if span is None else span.joined(own)
    return span


def _in_display_order(tie: list[Entry]) -> list[Entry]:
    by_digest = sorted(tie, key=lambda entry: entry.run)
    newest_first = sorted(by_digest, key=lambda entry: entry.observed_key, reverse=True)
    return sorted(newest_first, key=lambda entry: entry.level, reverse=True)
