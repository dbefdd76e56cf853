"""YAML 1.2 core schema and nothing that surprises (cases 23 and 25)."""

import json
import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import ErrorCode, InvalidInput, Problem
from service.yaml_text import MAX_ALIASES, read_yaml


def refusal(text: str | bytes) -> Problem:
    with pytest.raises(InvalidInput) as caught:
        read_yaml(text, "doc.yaml")
    problem = caught.value.problems[0]
    assert problem.document == "doc.yaml"
    assert problem.remedy
    str(caught.value).encode()
    assert len(problem.message) < 300
    return problem


@pytest.mark.parametrize(
    ("plain", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("010", 10),
        ("+12", 12),
        ("-7", -7),
        ("9007199254740991", 9007199254740991),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("100000000000000000000", 1e20),
        ("-2.5E-3", -0.0025),
        # what YAML 1.1, or a helpful library, would make something else of
        ("NO", "NO"),
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("nULL", "nULL"),
        ("tRUE", "tRUE"),
        ("1:10", "1:10"),
        ("8_120", "8_120"),
        ("0x1F", "0x1F"),
        ("0o17", "0o17"),
        ("0b11", "0b11"),
        ("1_000.5", "1_000.5"),
        ("2026-08-01", "2026-08-01"),
        ("2026-08-01T12:00:00Z", "2026-08-01T12:00:00Z"),
        ("1e", "1e"),
        (".", "."),
        ("٣", "٣"),
        ("=", "="),
    ],
)
def test_a_plain_scalar_is_what_the_core_schema_says_or_text(plain: str, value: object) -> None:
    tree = read_yaml(f"a: {plain}\n")
    assert isinstance(tree, dict)
    assert (tree["a"], type(tree["a"])) == (value, type(value))


@pytest.mark.parametrize("quoted", ['"8120"', "'8120'", "|-\n  8120", ">-\n  8120"])
def test_a_quoted_or_block_scalar_is_text(quoted: str) -> None:
    assert read_yaml(f"a: {quoted}\n") == {"a": "8120"}


def test_block_and_flow_collections_give_plain_trees() -> None:
    text = """\
# a comment
spec:
  cases:
  - {id: "0", axes: {m: 1}}
  - id: '1'
    axes:
      m: 2
  empty: []
  none: {}
"""
    assert read_yaml(text) == {
        "spec": {"cases": [{"id": "0", "axes": {"m": 1}}, {"id": "1", "axes": {"m": 2}}], "empty": [], "none": {}}
    }


def test_a_byte_order_mark_and_a_document_start_are_tolerated() -> None:
    assert read_yaml(b"\xef\xbb\xbf%YAML 1.2\n---\na: 1\n...\n") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no document"),
        ("# only a comment\n", "no document"),
        ("a: b: c\n", "line 1"),
        ("a: 1\n b: 2\n", "line 2"),
        ("a: [1, 2\n", "line"),
        ("a: 'x\n", "line"),
        ("a: 1\n---\nb: 2\n", "second document"),
        ("%YAML 1.1\n---\na: 1\n", "1.2"),
        ("a: !!str 1\n", "tag"),
        ("a: !!python/object/apply:os.system ['true']\n", "tag"),
        ("a: !mine {b: 1}\n", "tag"),
        ("a: ! 1\n", "tag"),
        ("1: a\n", "key is not text"),
        ("null: a\n", "key is not text"),
        ("true: a\n", "key is not text"),
        ("? [a, b]\n: c\n", "key is not text"),
        ("? {a: b}\n: c\n", "key is not text"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", "merge"),
        ("a: *nowhere\n", "anchor"),
        ("a: &x [*x]\n", "anchor"),
    ],
)
def test_what_the_module_does_not_read_is_malformed_and_says_why(text: str, says: str) -> None:
    problem = refusal(text)
    assert problem.code == ErrorCode.MALFORMED_DOCUMENT
    assert says in problem.message


def test_a_quoted_merge_sign_is_a_key_like_any_other() -> None:
    assert read_yaml('"<<": 1\nb: <<\n') == {"<<": 1, "b": "<<"}


@pytest.mark.parametrize("text", ["spec:\n  name: a\n  name: b\n", 'spec: {name: a, "name": b}\n'])
def test_a_key_that_stands_twice_is_named_with_its_path(text: str) -> None:
    problem = refusal(text)
    assert (problem.code, problem.path) == (ErrorCode.DUPLICATE_KEY, "spec.name")


@pytest.mark.parametrize(
    "plain", [".inf", "-.INF", ".nan", ".NaN", "1e400", "9007199254740992", "-9007199254740992", "9" * 5000]
)
def test_numbers_out_of_range_are_refused_at_their_path(plain: str) -> None:
    problem = refusal(f"spec:\n  values: [0, {plain}]\n")
    assert (problem.code, problem.path) == (ErrorCode.NUMBER_OUT_OF_RANGE, "spec.values[1]")


@pytest.mark.parametrize("text", ["a: Ka\u0308rnel\n", 'a: "Ka\\u0308rnel"\n'])
def test_text_rules_are_those_of_json(text: str) -> None:
    problem = refusal(text)
    assert (problem.code, problem.path) == (ErrorCode.INVALID_TEXT, "a")


@pytest.mark.parametrize("text", ["a: \x07\n", "a: \ud800\n", 'a: "\x00"\n'])
def test_a_character_that_yaml_excludes_is_invalid_text(text: str) -> None:
    assert refusal(text).code == ErrorCode.INVALID_TEXT


@pytest.mark.parametrize("sign", ["\x85", "\u2028", "\u2029"])
def test_line_breaks_of_yaml_1_1_are_not_folded_away(sign: str) -> None:
    """Whoever reads it by YAML 1.2 would see another text, with another digest."""
    problem = refusal(f"a: 1\nb: one{sign}two\n")
    assert problem.code == ErrorCode.INVALID_TEXT
    assert problem.message == f"line 2: U+{ord(sign):04X} may not stand in YAML"
    assert read_yaml(f'b: "one\\u{ord(sign):04x}two"\n') == {"b": f"one{sign}two"}


@pytest.mark.parametrize("escapes", ["\\ud83d\\ude00", "\\ud83d", "\\UFFFFFFFF"])
def test_an_escape_for_no_character_is_invalid_text(escapes: str) -> None:
    """Halves of a pair are an encoding's, not characters: YAML has an escape of eight digits."""
    assert refusal(f'a: "{escapes}"\n').code == ErrorCode.INVALID_TEXT
    assert read_yaml('a: "\\U0001f600"\n') == {"a": "😀"}


def test_nearly_a_mebibyte_of_small_nodes_is_read() -> None:
    lines = "".join(f'  - {{id: "{i}", axes: {{m: {i}, n: 77}}}}\n' for i in range(24_000))
    tree = read_yaml("cases:\n" + lines)
    assert tree == {"cases": [{"id": f"{i}", "axes": {"m": i, "n": 77}} for i in range(24_000)]}


def test_64_levels_are_read_and_65_are_refused() -> None:
    assert read_yaml("[" * 64 + "]" * 64)
    assert refusal("[" * 65 + "]" * 65).code == ErrorCode.DOCUMENT_TOO_LARGE
    assert refusal("- " * 65 + "a\n").code == ErrorCode.DOCUMENT_TOO_LARGE


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000])
def test_a_hundred_thousand_levels_are_refused_without_a_crash(text: str) -> None:
    assert refusal(text).code == ErrorCode.DOCUMENT_TOO_LARGE


def test_levels_that_an_alias_brings_count() -> None:
    assert read_yaml(f"a: &x {'[' * 32}{']' * 32}\nb: {'[' * 31}*x{']' * 31}\n")
    problem = refusal(f"a: &x {'[' * 32}{']' * 32}\nb: {'[' * 32}*x{']' * 32}\n")
    assert problem.code == ErrorCode.DOCUMENT_TOO_LARGE


def test_more_than_1_mib_is_refused() -> None:
    assert refusal("a: " + "x" * 1024 * 1024).code == ErrorCode.DOCUMENT_TOO_LARGE


def test_an_alias_stands_for_its_anchor() -> None:
    assert read_yaml("a: &x {b: [1]}\nc: *x\nd: [*x]\n") == {"a": {"b": [1]}, "c": {"b": [1]}, "d": [{"b": [1]}]}


def test_a_redefined_anchor_holds_from_there_on() -> None:
    assert read_yaml("a: &x 1\nb: *x\nc: &x 2\nd: *x\n") == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_100_aliases_are_read_and_101_are_refused() -> None:
    def aliased(count: int) -> str:
        return "a: &x 1\nb: [" + ", ".join(["*x"] * count) + "]\n"

    assert read_yaml(aliased(MAX_ALIASES))
    problem = refusal(aliased(MAX_ALIASES + 1))
    assert problem.code == ErrorCode.DOCUMENT_TOO_LARGE
    assert "aliases" in problem.message


def test_an_alias_inside_an_aliased_subtree_counts_each_time_it_is_expanded() -> None:
    def nested(times: int) -> str:
        return f"a: &a 1\nb: &b [{', '.join(['*a'] * 9)}]\nc: [{', '.join(['*b'] * times)}]\n"

    assert read_yaml(nested(9))  # 9 + 9 * (1 + 9) = 99
    assert "aliases" in refusal(nested(10)).message


def test_few_aliases_of_much_text_are_refused_by_what_they_expand_to() -> None:
    problem = refusal(f"a: &a [{'x' * 100_000}]\nb: [{', '.join(['*a'] * 11)}]\n")
    assert problem.code == ErrorCode.DOCUMENT_TOO_LARGE
    assert "expands" in problem.message


def test_a_bomb_of_aliases_is_refused_at_once_and_not_printed() -> None:
    """Case 25: 459 bytes that stand for 387,420,489 leaves."""
    lines = ["a: &a ['lol','lol','lol','lol','lol','lol','lol','lol','lol']"]
    lines += [
        f"{name}: &{name} [{','.join([f'*{inner}'] * 9)}]" for inner, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    tracemalloc.start()
    began = time.perf_counter()
    problem = refusal("\n".join([*lines, "name: *i"]))
    took, (_, peak) = time.perf_counter() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (problem.code, problem.path) == (ErrorCode.DOCUMENT_TOO_LARGE, "d[1]")
    assert "aliases" in problem.message
    assert "lol" not in str(problem)
    assert took < 1
    assert peak < 100_000_000


def test_faults_are_found_under_their_paths_at_any_depth() -> None:
    assert refusal("a:\n- b: {c: [1, 2, !x 3]}\n").path == "a[0].b.c[2]"
    assert refusal("a:\n- b: 1\n- 2: 1\n").path == "a[1]"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not 2**53 <= abs(number) < 1e17)
    | st.text("ab:# -{}[]\"'\\~0.é\n\t"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab:# é", max_size=5), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(JSON)
def test_json_text_is_yaml_with_the_same_tree(tree: object) -> None:
    assert read_yaml(json.dumps(tree)) == tree


@settings(deadline=None, max_examples=300)
@given(st.text("ab12:#-?&*!|>%@`{}[],\"'\\~.<= \n\t\r\x85\u2028\ud800é\x00", max_size=40))
def test_any_text_is_read_or_refused_never_a_crash(text: str) -> None:
    codes = set()
    try:
        read_yaml(text)
    except InvalidInput as refused:
        codes = {problem.code for problem in refused.problems}
    assert codes <= {
        ErrorCode.MALFORMED_DOCUMENT,
        ErrorCode.DUPLICATE_KEY,
        ErrorCode.INVALID_TEXT,
        ErrorCode.NUMBER_OUT_OF_RANGE,
    }


@pytest.mark.parametrize("version", ["1.1", "1.3", "2.0"])
def test_another_version_of_yaml_is_refused(version: str) -> None:
    """Even where the library fails over it in its own way."""
    with pytest.raises(InvalidInput) as caught:
        read_yaml(f"%YAML {version}\n---\na: b\n")
    assert caught.value.problems[0].code is ErrorCode.MALFORMED_DOCUMENT
