"""What a ranked group tells of its runs."""

from decimal import Decimal

from domain.policies.ranking import Entry, rank
from projections.rankings import Group, Standing


def standing(*values: str) -> Standing:
    """A group of these values, lower ones better."""
    entries = [Entry(run=str(number), value=Decimal(value)) for number, value in enumerate(values)]
    placed = rank(entries, profile="SOURCE_NATIVE", lower_is_better=True)
    group = Group("key", 1, len(placed), "SOURCE_NATIVE", lower_is_better=True)
    return Standing(group, tuple(placed), {one.entry.run: index for index, one in enumerate(placed)})


def test_the_leader_is_at_one_and_the_others_behind() -> None:
    group = standing("100", "150")
    assert [group.ratio_to_leader(placed) for placed in group.placed] == [1.0, 1.5]


def test_a_ratio_that_no_float_holds_is_none() -> None:
    """One absurd value must not break the answer for the others of its group."""
    group = standing("5e-324", "1.79e308", "5e-324")
    assert [group.ratio_to_leader(placed) for placed in group.placed] == [1.0, 1.0, None]
