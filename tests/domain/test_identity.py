"""Canonical JSON is RFC 8785 to the byte, whichever encoder wrote it."""

import math
import struct
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from domain.identity import canonical_json, digest_prefix

texts = st.text(st.characters(exclude_categories=["Cs"]))
numbers = (
    st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.binary(min_size=8, max_size=8).map(lambda bits: struct.unpack(">d", bits)[0]).filter(math.isfinite)
    | st.decimals(allow_nan=False, allow_infinity=False, places=6).map(float).filter(math.isfinite)
)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=20,
)


@given(values)
@example([1.0, -0.0, 1e16, 1e21, 1e-7, 123456.0, 9007199254740991, 0.1, 5e-324, 1.5e300])
@example({"\U0001f600": 1, "\uffff": 2, "é": 3, "e\u0301": 4, "": 5})
@example({"a": "1.0", "b": "v1.0e+5", "c": '\x00\x1f\x7f\u2028\\"/', "1e+3": 1.25})
def test_it_is_what_the_library_writes(value: Any) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, 2**53, -(2**53), {1: 2}, object(), "\ud800", {"a": [2**70]}])
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        rfc8785.dumps(value)
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical_json(value)


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("28c78ea8", "sha256:28c78ea8"),
        ("sha256:28c78ea8", "sha256:28c78ea8"),
        ("28c78ea", None),
        ("28C78EA8", None),
        ("28c78ea8\n", None),
        ("0" * 65, None),
    ],
)
def test_eight_hex_digits_or_more_are_a_prefix(text: str, prefix: str | None) -> None:
    assert digest_prefix(text) == prefix
