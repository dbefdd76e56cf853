"""Durations as manifests write them, read as exact decimals: a float would turn 8.12 ms into 8119999.999999999 ns."""

import re
from typing import Final

from domain.json_text import MAX_INTEGER, shown

DURATION_PATTERN: Final = r"^[0-9]+(\.[0-9]+)?\s?(ns|us|µs|ms|s)$"
"""What a duration looks like in text, in the syntax that JSON Schema, Python and Rust share."""

_DURATION: Final = re.compile(r"([0-9]+)(?:\.([0-9]+))?\s?(ns|us|µs|ms|s)\Z")
_DECIMALS: Final = {"ns": 0, "us": 3, "µs": 3, "ms": 6, "s": 9}
_MAX_DIGITS: Final = len(str(MAX_INTEGER))


def duration_ns(text: str) -> int:
    """Nanoseconds of a duration such as ``"8.12 us"``, exactly.

    :raises ValueError: for text without one of the units, with a sign or an exponent, for what does not land on a whole
        nanosecond, and for more than 2^53 - 1 of them; the message says what would be right.
    """
    match = _DURATION.match(text)
    if match is None:
        raise ValueError(f'{shown(text)} is not a duration such as "8.12 us": digits, then ns, us, ms or s')
    # Digits are moved, not multiplied: a hostile literal of a megabyte costs no big arithmetic.
    whole, fraction, decimals = match[1].lstrip("0"), (match[2] or "").rstrip("0"), _DECIMALS[match[3]]
    if len(fraction) > decimals:
        raise ValueError(f"{shown(text)} is not a whole number of nanoseconds: round it where it was measured")
    nanoseconds = int((whole + fraction.ljust(decimals, "0") or "0")[: 2 * _MAX_DIGITS])
    if len(whole) + decimals > 2 * _MAX_DIGITS or nanoseconds > MAX_INTEGER:
        raise ValueError(f"{shown(text)} is more than {MAX_INTEGER} nanoseconds, which is 104 days")
    return nanoseconds
