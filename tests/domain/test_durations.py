"""Durations: exact decimals to whole nanoseconds (case 27)."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.durations import duration_ns

EXACT = {
    "0.35337 ms": 353370,
    "8.12 ms": 8120000,
    "16.1 ms": 16100000,
    "1.001 ms": 1001000,
    "1.005 ms": 1005000,
    "0.00819 ms": 8190,
    "8.12 us": 8120,
    "8.12µs": 8120,
    "4.1 s": 4100000000,
    "0 ns": 0,
    "0.000 s": 0,
    "007 us": 7000,
    "1.0000000 us": 1000,
    "2147483648 ns": 2147483648,
    "4891.380208 ms": 4891380208,
    "5400 s": 5400000000000,
    "9007199254740991 ns": 2**53 - 1,
    "0.000000001 s": 1,
}
REFUSED = {
    "not whole": ["0.0000005 ms", "1.5 ns", "0.0000000001 s", "1." + "0" * 9 + "1 s"],
    "a bare number": ["8120", "1.5"],
    "another notation": [
        "1e3 ns",
        "-1 ns",
        "+1 ns",
        "8_120 ns",
        "1:10",
        "1,5 ms",
        ".5 ms",
        "5. ms",
        "",
        " 1 ns",
        "1 ns\n",
    ],
    "another unit": ["1 m", "1 min", "1 NS", "1 μs", "1  ns", "1 n s"],
    "other digits": ["٣ ns", "１ ns"],
    "too much": ["9007199254740992 ns", "9007199.254740992 s", "9" * 100_000 + " s", "1" + "0" * 30 + " ns"],
}


@pytest.mark.parametrize(("text", "nanoseconds"), EXACT.items())
def test_a_duration_is_read_exactly(text: str, nanoseconds: int) -> None:
    assert duration_ns(text) == nanoseconds


@pytest.mark.parametrize("text", [text for texts in REFUSED.values() for text in texts])
def test_what_is_no_whole_number_of_nanoseconds_is_refused_with_a_short_message(text: str) -> None:
    with pytest.raises(ValueError, match=r"nanosecond|duration") as caught:
        duration_ns(text)
    assert len(str(caught.value)) < 300


@given(
    st.integers(0, 2**53 - 1),
    st.sampled_from([("ns", 0), ("us", 3), ("µs", 3), ("ms", 6), ("s", 9)]),
    st.integers(0, 5),
)
def test_any_spelling_of_a_whole_number_of_nanoseconds_is_read_as_that_number(
    nanoseconds: int, unit: tuple[str, int], zeros: int
) -> None:
    name, decimals = unit
    text = format(Decimal(nanoseconds).scaleb(-decimals), "f")
    padded = "0" * zeros + text + ("0" * zeros if "." in text else "")
    assert duration_ns(f"{padded} {name}") == nanoseconds


@given(st.decimals(0, 10**6, allow_nan=False, places=12))
def test_exact_arithmetic_agrees_on_what_is_whole(milliseconds: Decimal) -> None:
    exact = milliseconds.scaleb(6)
    text = f"{milliseconds:f} ms"
    if exact == exact.to_integral_value():
        assert duration_ns(text) == int(exact)
    else:
        with pytest.raises(ValueError, match="whole"):
            duration_ns(text)
