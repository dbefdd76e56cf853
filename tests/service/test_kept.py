"""A bounded store: never more bytes than it may have, and what is used stays."""

from hypothesis import given
from hypothesis import strategies as st

from service.kept import Kept

MAX_BYTES = 1_000
STEPS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 200)))


@given(steps=STEPS)
def test_it_never_holds_more_than_it_may_and_counts_what_it_holds(steps: list[tuple[int, int]]) -> None:
    kept: Kept[int, int] = Kept(MAX_BYTES)
    for key, size in steps:
        kept.keep(key, size, size)
        assert kept.bytes <= MAX_BYTES
        assert kept.bytes == sum(kept.get(one) or 0 for one in range(31))
        assert len(kept) == sum(kept.get(one) is not None for one in range(31))


def test_what_is_asked_for_again_and_again_stays_under_a_flood() -> None:
    kept: Kept[int, str] = Kept(MAX_BYTES)
    for number in range(1_000):
        kept.keep(number, str(number), 100)
        kept.get(0)

    assert kept.get(0) == "0"
    assert kept.get(1) is None
    assert len(kept) == 10


def test_what_would_push_out_most_others_is_not_kept() -> None:
    kept: Kept[str, bytes] = Kept(MAX_BYTES)
    kept.keep("large", b"", 126)
    assert (len(kept), kept.bytes) == (0, 0)


def test_nothing_is_left_after_a_clearance() -> None:
    kept: Kept[str, bytes] = Kept(MAX_BYTES)
    kept.keep("key", b"value", 5)
    kept.clear()
    assert (kept.get("key"), len(kept), kept.bytes) == (None, 0, 0)
