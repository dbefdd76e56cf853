"""Record history: where a record falls, in two views that are never mixed.

*By observation*: over the runs that are eligible at a snapshot, in the order in which they were observed, a record
falls where a value is strictly better than all before. *As known*: one change whenever the best eligible value of a
group changes as the log grows, whatever was observed when.
"""

from collections.abc import Iterable
from decimal import Decimal
from enum import StrEnum

import msgspec

from domain.policies.ranking import Ineligible


class RecordBasis(StrEnum):
    """Which of the two views."""

    BY_OBSERVATION = "BY_OBSERVATION"
    AS_KNOWN = "AS_KNOWN"


class RecordCause(StrEnum):
    """Why the best known value of a group changed. A released name never changes its meaning.

    It got better by a ``NEW_RUN``, by the ``LATE_ARRIVAL`` of one that was observed before the holder, or because one
    that had been out was ``REINSTATED``. It got worse by a ``RETRACTION``, a ``SUPERSESSION`` or a ``DISPUTE`` of the
    runs that held it, or because a ``POLICY`` was adopted that does not rank them.
    """

    NEW_RUN = "NEW_RUN"
    LATE_ARRIVAL = "LATE_ARRIVAL"
    REINSTATED = "REINSTATED"
    RETRACTION = "RETRACTION"
    SUPERSESSION = "SUPERSESSION"
    DISPUTE = "DISPUTE"
    POLICY = "POLICY"


class Candidate(msgspec.Struct, frozen=True, order=True):
    """An eligible run of a group. They sort by observation: ``observed_key``, then the run's digest."""

    observed_key: str
    run: str
    value: Decimal

    @property
    def place(self) -> tuple[str, str]:
        """Where it comes in the order of observation."""
        return self.observed_key, self.run


def is_better(value: Decimal, other: Decimal, *, lower_is_better: bool) -> bool:
    """Whether a value is strictly better than another."""
    return value < other if lower_is_better else value > other


def by_observation(candidates: Iterable[Candidate], *, lower_is_better: bool) -> list[Candidate]:
    """The runs at which the record fell, in the order in which it did."""
    fell: list[Candidate] = []
    for one in sorted(candidates, key=lambda candidate: candidate.place):
        if not fell or is_better(one.value, fell[-1].value, lower_is_better=lower_is_better):
            fell.append(one)
    return fell


def cause_of_gain(new: Candidate, old: Candidate | None, *, was_out: bool) -> RecordCause:
    """Why the best value got better; ``was_out`` says that the new holder had been eligible before."""
    if was_out:
        return RecordCause.REINSTATED
    late = old is not None and new.observed_key < old.observed_key
    return RecordCause.LATE_ARRIVAL if late else RecordCause.NEW_RUN


def cause_of_loss(reasons: Iterable[str]) -> RecordCause:
    """Why the best value got worse, from the reasons why those that held it are not ranked any more."""
    held = set(reasons)
    for reason, cause in (
        (Ineligible.RETRACTED, RecordCause.RETRACTION),
        (Ineligible.SUPERSEDED, RecordCause.SUPERSESSION),
        (Ineligible.DISPUTED, RecordCause.DISPUTE),
    ):
        if reason in held:
            return cause
    return RecordCause.POLICY
