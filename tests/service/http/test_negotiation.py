"""Accept headers: RFC 9110's order of precision and quality, for any offers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.http.negotiation import media_type, negotiate

BIBTEX, HTML, JSON = OFFERS = ("application/x-bibtex", "text/html", "application/json")


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", BIBTEX),
        ("*/*", BIBTEX),
        ("*", BIBTEX),
        ("text/*", HTML),
        ("application/json, text/html", JSON),
        ("text/html, application/json", HTML),
        ("text/html;q=0.4, application/json;q=0.5", JSON),
        ("application/*;q=0.5, application/x-bibtex;q=0.1", JSON),
        ("*/*, application/x-bibtex;q=0", HTML),
        ("text/html;level=1", HTML),
        ("TEXT/HTML; Q=0.5", HTML),
        ("text/html;q=high", HTML),
        ("text/html;q=-1", None),
        ("text/html;charset=latin-1", None),
        ("image/png", None),
        (",,;,", None),
        ("text/htmlx", None),
        ("tex/*", None),
    ],
)
def test_the_best_offer_is_chosen(accept: str, chosen: str | None) -> None:
    assert negotiate(accept, OFFERS) == chosen


@given(st.text(alphabet='abj/*;,=q.01 "texhml', max_size=80))
def test_no_header_is_too_odd(accept: str) -> None:
    """Whatever was sent, the answer is an offer or none."""
    assert negotiate(accept, OFFERS) in (*OFFERS, None)


@given(st.permutations(OFFERS), st.lists(st.integers(1, 9), min_size=3, max_size=3, unique=True))
def test_the_highest_quality_wins_wherever_it_stands(names: list[str], qualities: list[int]) -> None:
    accept = ", ".join(f"{name};q=0.{quality}" for name, quality in zip(names, qualities, strict=True))

    assert negotiate(accept, OFFERS) == names[qualities.index(max(qualities))]


def test_media_types_are_compared_without_case_and_their_parameters_unquoted() -> None:
    assert media_type('Application/JSON ; Charset="utf-8"') == ("application/json", {"charset": "utf-8"})
    assert media_type("") == ("", {})
