"""What a search is understood as."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidInput
from domain.search_text import FIELDS, MAX_LENGTH, MAX_TERMS, Term, read_search


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("gemm fp8", [Term("gemm"), Term("fp8")]),
        ('"grouped gemm"', [Term("grouped gemm", whole=True)]),
        ('"left open', [Term("left open", whole=True)]),
        ("GPU:b200", [Term("b200", "gpu")]),
        ('gpu:"NVIDIA B200"', [Term("NVIDIA B200", "gpu", whole=True)]),
        ("evidence:REPRODUCIBLE", [Term("REPRODUCIBLE", "evidence", whole=True)]),
        ("language:cuda", [Term("cuda", "language", whole=True)]),
        ("num_tokens=0128", [Term("num_tokens=128", "axis", whole=True)]),
        ("at::matmul https://tern.example/x", [Term("at::matmul"), Term("https://tern.example/x")]),
        ("sha256:abcd", [Term("sha256:abcd")]),
        ("Ju\u0308rgen", [Term("Jürgen")]),
        ("a\x00b", [Term("a"), Term("b")]),
        ("- * ( ) ^ :", []),
        ("", []),
    ],
)
def test_what_is_searched_for(text: str, terms: list[Term]) -> None:
    assert list(read_search(text).terms) == terms


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("colour:red gemm", "colour: is no field and is left out; fields are op, family"),
        ("gpuu:b200 gemm", "gpuu: is no field and is left out; did you mean gpu:?"),
        ("gpu: gemm", "gpu: says nothing and is left out"),
        ("evidence:best gemm", "evidence:best is left out; levels are reported, reproducible"),
        ("hidden=many gemm", "'hidden=many' is left out: an axis and its size are written as in hidden=4096"),
        ("=1 gemm", "'=1' is left out"),
    ],
)
def test_what_is_not_understood_is_left_out_with_a_hint(text: str, hint: str) -> None:
    search = read_search(text)

    assert search.hints[0].startswith(hint)
    assert search.terms == (Term("gemm"),)


def test_a_search_for_nothing_is_told_what_to_search_for() -> None:
    (hint,) = read_search(" ").hints
    assert all(f"{field}" in hint for field in FIELDS)


def test_too_many_words_are_cut_with_a_hint() -> None:
    search = read_search("a " * (MAX_TERMS + 1))

    assert len(search.terms) == MAX_TERMS
    assert search.hints == (f"only the first {MAX_TERMS} words are searched for",)


def test_too_long_a_text_is_refused() -> None:
    with pytest.raises(InvalidInput, match="501 characters"):
        read_search("a" * (MAX_LENGTH + 1))


@given(st.text(max_size=MAX_LENGTH) | st.text("ab:=\"_ gpu\ud800\0'*^(){}", max_size=60))
def test_any_text_is_a_search(text: str) -> None:
    search = read_search(text)

    assert all(any(char.isalnum() for char in term.text) for term in search.terms)
    assert search.terms or search.hints
    assert search.text.encode().decode() == search.text
