"""Strict JSON: what is refused, under which code, at which path, and what must not be refused."""

import json
from unicodedata import is_normalized

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import ErrorCode, InvalidInput, Problem
from domain.identity import canonical_json
from domain.json_text import MAX_BYTES, MAX_PROBLEMS, Json, Rounded, check_tree, path_text, read_json, shown


def refusal(text: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(InvalidInput) as caught:
        read_json(text, "doc.json")
    assert all(problem.document == "doc.json" for problem in caught.value.problems)
    assert all(problem.remedy for problem in caught.value.problems)
    str(caught.value).encode()  # whatever was sent, the message can be sent back
    assert all(len(problem.message) < 400 for problem in caught.value.problems)
    return caught.value.problems


@pytest.mark.parametrize(
    "text",
    ["", " ", "{", "[1,]", "{'a':1}", '{"a":1}x', "nul", '"a\nb"', "01", "1.", "+1", '"\\x"', "// c\n1", "[" * 60],
)
def test_what_is_not_json_is_malformed(text: str) -> None:
    (problem,) = refusal(text)
    assert problem.code == ErrorCode.MALFORMED_DOCUMENT
    assert "line" in problem.message


@pytest.mark.parametrize("data", [b'{"a":"\xff"}', b'"\xed\xa0\x80"', b'"\xc0\xaf"', '{"a":1}'.encode("utf-16")])
def test_what_is_not_utf8_is_malformed(data: bytes) -> None:
    (problem,) = refusal(data)
    assert problem.code == ErrorCode.MALFORMED_DOCUMENT


def test_a_byte_order_mark_is_tolerated() -> None:
    assert read_json(b'\xef\xbb\xbf{"a":1}') == {"a": 1}
    assert read_json('\ufeff{"a":1}') == {"a": 1}


def test_a_key_that_stands_twice_is_named_with_its_path() -> None:
    (problem,) = refusal('{"spec":{"cases":[{"m":1},{"m":1,"axes":{"n":1,"k":2,"n":1}}]}}')
    assert problem.code == ErrorCode.DUPLICATE_KEY
    assert problem.path == "spec.cases[1].axes.n"
    assert '"n"' in problem.message


def test_keys_that_are_spelt_differently_but_equal_are_one_key() -> None:
    (problem,) = refusal(r'{"a":1,"\u0061":2}')
    assert problem.code == ErrorCode.DUPLICATE_KEY


def test_every_duplicate_and_every_bad_number_is_reported_in_the_order_of_the_document() -> None:
    problems = refusal('{"a":{"x":1,"x":2},"b":[9007199254740992],"a":NaN}')
    # The members of an object are looked at when all its keys have been.
    assert [(problem.code, problem.path) for problem in problems] == [
        (ErrorCode.DUPLICATE_KEY, "a"),
        (ErrorCode.DUPLICATE_KEY, "a.x"),
        (ErrorCode.NUMBER_OUT_OF_RANGE, "b[0]"),
        (ErrorCode.NUMBER_OUT_OF_RANGE, "a"),
    ]


@pytest.mark.parametrize(
    "literal",
    [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e400",
        "-1e999",
        "9007199254740992",
        "-9007199254740992",
        "9007199254740992.0",
        "9.5e15",
        "1e16",
        "99999999999999984",
        "100000000000000001",
        "18446744073709551616",
        "1000000000000000000000",
        "1" * 5000,
        "-" + "9" * 100_000,
        "1" + "0" * 400 + ".0",
    ],
)
def test_a_number_that_no_reader_holds_exactly_is_refused(literal: str) -> None:
    (problem,) = refusal('{"spec":{"value":[0,' + literal + "]}}")
    assert problem.code == ErrorCode.NUMBER_OUT_OF_RANGE
    assert problem.path == "spec.value[1]"


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("9007199254740991", 9007199254740991),
        ("-9007199254740991", -9007199254740991),
        ("1e20", 1e20),
        ("100000000000000000000", 1e20),
        ("-100000000000000000", -1e17),
        ("18446744073709552000", 2.0**64),
        ("999999999999999900000", 999999999999999900000.0),
        ("-0", 0),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("5e-324", 5e-324),
        ("0.1234567890123456789012345678901234567890", 0.12345678901234568),
    ],
)
def test_numbers_within_range_are_read_exactly(literal: str, value: float) -> None:
    read = read_json(literal)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("literal", ["1e-999", "8119.99999999999999999", "-0.99999999999999999"])
def test_a_fraction_that_a_float_rounds_to_an_integer_is_none(literal: str) -> None:
    read = read_json(f"[{literal}]")
    assert read == [float(literal)]
    assert isinstance(read, list)
    assert type(read[0]) is Rounded


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_canonical_text_of_a_number_reads_back_or_the_number_is_refused(number: float) -> None:
    try:
        read = read_json(repr(number))
    except InvalidInput:
        assert 2**53 <= abs(number) < 1e17
    else:
        assert canonical_json(read_json(canonical_json(read))) == canonical_json(read)


@pytest.mark.parametrize(
    "text",
    [r'{"a":{"b":"kern\ud800el"}}', r'{"a":{"b":"\ude00\ud83d"}}', '{"a":{"b":"\ud83d"}}', r'{"a":{"b":"\uD83D"}}'],
)
def test_half_a_surrogate_pair_is_invalid_text_in_the_named_field(text: str) -> None:
    (problem,) = refusal(text)
    assert (problem.code, problem.path) == (ErrorCode.INVALID_TEXT, "a.b")


@pytest.mark.parametrize("text", [r'"\ud83d\ude00"', '"😀"', '"😀"'.encode()])
def test_a_whole_surrogate_pair_is_one_character(text: str | bytes) -> None:
    assert read_json(text) == "😀"


@pytest.mark.parametrize(
    "text", ['{"a":{"Ka\u0308rnel":1}}', r'{"a":{"Ka\u0308rnel":1}}', '{"a":{"Ka\u0308rnel":1}}'.encode()]
)
def test_a_key_that_is_not_nfc_is_invalid_text(text: str | bytes) -> None:
    (problem,) = refusal(text)
    assert problem.code == ErrorCode.INVALID_TEXT
    assert problem.path.startswith("a")
    assert "NFC" in problem.message


def test_a_value_that_is_not_nfc_is_invalid_text_and_the_remedy_is_its_nfc_form() -> None:
    (problem,) = refusal('{"spec":{"name":"Ju\u0308rgen"}}')
    assert (problem.code, problem.path) == (ErrorCode.INVALID_TEXT, "spec.name")
    assert "J\u00fcrgen" in problem.remedy


def test_a_combining_mark_after_an_escape_is_no_fault() -> None:
    # In the text the mark follows the letter n, in the value a line break.
    assert read_json('"\\n\u0303"') == "\n\u0303"


def test_an_escape_that_spells_plain_text_is_read_as_that_text() -> None:
    assert read_json(r'{"t\u0069tle":"J\u00fcrgen \u00b7"}') == {"title": "Jürgen ·"}


@pytest.mark.parametrize(
    "make", [lambda size: '"' + "a" * (size - 2) + '"', lambda size: '"' + "é" * (size // 2 - 1) + '"']
)
@pytest.mark.parametrize("encode", [str, str.encode])
def test_a_document_of_1_mib_is_read_and_one_byte_more_is_refused(make, encode) -> None:  # type: ignore[no-untyped-def]
    assert read_json(encode(make(MAX_BYTES)))
    (problem,) = refusal(encode(make(MAX_BYTES) + " "))
    assert problem.code == ErrorCode.DOCUMENT_TOO_LARGE


@pytest.mark.parametrize(("left", "right"), [("[", "]"), ('{"a":', "}")])
def test_64_levels_are_read_and_65_are_refused(left: str, right: str) -> None:
    inner = "1" if left != "[" else ""
    assert read_json(left * 64 + inner + right * 64)
    (problem,) = refusal(left * 65 + inner + right * 65)
    assert problem.code == ErrorCode.DOCUMENT_TOO_LARGE


def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert len(read_json("[" + ",".join(["[]"] * 1000) + "]")) == 1000  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000]
)
def test_a_hundred_thousand_levels_are_refused_without_a_crash(text: str) -> None:
    (problem,) = refusal(text)
    assert problem.code == ErrorCode.DOCUMENT_TOO_LARGE


def test_a_document_with_very_many_faults_gives_a_bounded_answer() -> None:
    assert len(refusal("[" + ",".join(["NaN"] * 50_000) + "]")) == MAX_PROBLEMS


def test_check_tree_holds_a_tree_of_any_origin_to_the_same_rules() -> None:
    tree: Json = {"a": [2**60, float("nan"), "e\u0301"], "\ud800": True, "ok": [1, 1.5, None, "é"]}
    with pytest.raises(InvalidInput) as caught:
        check_tree(tree, "made.here")
    assert [str(problem.code) for problem in caught.value.problems] == [
        "INVALID_TEXT",
        "NUMBER_OUT_OF_RANGE",
        "NUMBER_OUT_OF_RANGE",
        "INVALID_TEXT",
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("spec", "cases", 3, "axes", "m"), "spec.cases[3].axes.m"),
        ((0, "a"), "[0].a"),
        (("env", "a.b"), 'env["a.b"]'),
        (("a\nb\u202e",), '["a\\nb\\u202e"]'),
        (("k" * 100,), '["' + "k" * 60 + '…"]'),
    ],
)
def test_paths_are_written_as_people_write_them(path: tuple[str | int, ...], text: str) -> None:
    assert path_text(path) == text


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()), st.lists))
def test_a_shown_value_is_short_printable_and_on_one_line(value: object) -> None:
    text = shown(value)
    assert text.isprintable()
    assert len(text) <= 60 * 6 + 3
    text.encode()


def test_a_shown_integer_of_any_size_costs_no_conversion() -> None:
    assert len(shown(10**100_000)) < 60


NFC = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: is_normalized("NFC", text))
TREES: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not 2**53 <= abs(number) < 1e17)
    | NFC,
    lambda inner: st.lists(inner) | st.dictionaries(NFC, inner),
    max_leaves=20,
)


@given(TREES, st.booleans(), st.booleans())
def test_every_tree_within_the_rules_is_read_as_it_was_written(tree: Json, ascii_only: bool, as_bytes: bool) -> None:
    text = json.dumps(tree, ensure_ascii=ascii_only)
    read = read_json(text.encode() if as_bytes else text)
    assert repr(read) == repr(tree)


@pytest.mark.parametrize("mark", ["\u0301\u0323", "\\u0301\\u0323"], ids=["raw", "escaped"])
def test_marks_piled_on_a_letter_are_refused_before_they_take_the_square_of_their_number(mark: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_json(f'{{"name": "a{mark * 50_000}"}}')
    assert caught.value.problems[0].code is ErrorCode.INVALID_TEXT
    assert caught.value.problems[0].path == "name"


def test_long_words_of_other_scripts_are_no_piles() -> None:
    assert read_json(f'{{"name": "{"漢字" * 100}"}}') == {"name": "漢字" * 100}
