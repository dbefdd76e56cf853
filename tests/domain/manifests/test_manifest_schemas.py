"""Our models, our schemas and the published schemas accept and refuse the same documents.

Legitimate differences, kept out of the mutations below:

- Python's ``re`` lets ``$`` match before a final line break and ``\\d`` take every script's digits; JSON Schema's own
  syntax, the published service and our models do neither.
- Beyond the schemas our models refuse durations that do not land on a whole nanosecond or end beyond 2^53 - 1 of them,
  integers of 2^53 and more, NaN and infinities, and control or direction-changing characters.
"""

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from domain.errors import InvalidInput
from domain.json_text import Path as FieldPath
from domain.manifests import Kind, read_manifest
from domain.manifests.schemas import field_schema, published_schema, schema_url
from domain.patterns import LINE_PATTERN, PROSE_PATTERN

FIXTURES = Path(__file__).parents[2] / "fixtures/manifests"
# Line breaks are folded: moved from prose into a name they would be refused by our models alone.
TEXTS = [re.sub(r"\\[nt]", " ", path.read_text()) for path in sorted(FIXTURES.glob("*.json"))]
BY_KIND: dict[Kind, Any] = {Kind(tree["kind"]): tree for tree in map(json.loads, TEXTS)}
OURS = {kind: Draft202012Validator(published_schema(kind)) for kind in Kind}

VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, False, 0, 1, -1, 7, 0.0, 1.0, -1.0, 1.5, 0.5, 20.0, 1e300, 2.0**53, 2**53 - 1, 1 - 2**53),
        *("", "x", "a_b", "a-b", "a.b", "A", "_a", "1", "-", "Bad Key", "µ", "😀", "x y", "a\x20"),
        *(
            "8.12 us",
            "8120 ns",
            "8120ns",
            "0 s",
            "1.5 ms",
            "8.12",
            "8120",
            "1 us ",
            " 1 us",
            "1  us",
            "1 min",
            "8_120 ns",
        ),
        *("2026-08-01T12:00:00Z", "2026-08-01T12:00Z", "2026-02-29T12:00:00Z", "2024-02-29T12:00:00.5Z"),
        *("1900-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-08-01T24:00:00Z"),
        *("2026-08-01T12:00:60Z", "2026-08-01T12:00:00+00:00", "2026-08-01t12:00:00z", "2026-08-01", "2026-8-1T0:0Z"),
        *("sha256:" + "a" * 64, "sha256:" + "A" * 64, "sha256:" + "a" * 63, "a" * 40, "a" * 41, "g" * 40),
        *("a" * length for length in (50, 51, 100, 101, 200, 201, 500, 501, 1000, 1001, 2000, 2001)),
        *("é" * 200, "é" * 201, "😀" * 200, "😀" * 201),
        *([], [1], ["a"], ["a", "a"], [None], [[]], {}, {"a": 1}, {"A": 1}, {"a": "b"}, {"a": None}, {"name": "a"}),
        *("passed", "revoked", "none", "library", "git", "integer", "variable", "row_major", "reject"),
    ]
).map(copy.deepcopy)


def fields(tree: Any, path: FieldPath = ()) -> list[FieldPath]:
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path, *(found for key, value in inner for found in fields(value, (*path, key)))]


def mutate(tree: Any, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
    """One field of the tree is deleted, replaced, renamed, extended or swapped for another one's value."""
    places = fields(tree)
    path = draw(st.sampled_from(places[1:]))
    parent, last = at(tree, path[:-1]), path[-1]
    match draw(st.sampled_from(["replace", "delete", "rename", "insert", "borrow", "alter"])):
        case "replace":
            parent[last] = draw(VALUES)
        case "delete":
            del parent[last]
        case "rename" if isinstance(parent, dict):
            parent[draw(st.sampled_from(["extra", "Extra", "a", "name", "x" * 201, "", "a b"]))] = parent.pop(last)
        case "borrow":
            parent[last] = copy.deepcopy(at(tree, draw(st.sampled_from(places))))
        case _:
            parent[last] = draw(altered(parent[last]))


def at(tree: Any, path: FieldPath) -> Any:
    for part in path:
        tree = tree[part]
    return tree


def altered(value: Any) -> st.SearchStrategy[Any]:
    """Values near the given one: with one more item, member or character, or nearly the same number."""
    if isinstance(value, list):
        return st.tuples(st.integers(0, len(value)), VALUES).map(
            lambda new: [*value[: new[0]], new[1], *value[new[0] :]]
        )
    if isinstance(value, dict):
        names = st.sampled_from(["extra", "A", "title", "kind", "version"])
        return st.tuples(names, VALUES).map(lambda new: {**value, new[0]: new[1]})
    if isinstance(value, str):
        return st.sampled_from([value + "x", " " + value, value.upper(), value[1:], value * 50])
    if isinstance(value, int | float):
        return st.sampled_from([-value, float(value), value / 3, str(value), [value]])
    return st.just(0)


@st.composite
def mutated(draw: Callable[[st.SearchStrategy[Any]], Any], kind: Kind) -> Any:
    tree = copy.deepcopy(BY_KIND[kind])
    for _ in range(draw(st.integers(1, 3))):
        mutate(tree, draw)
    return tree


def is_accepted(tree: Any, kind: Kind) -> bool:
    try:
        read_manifest(tree, kinds=[kind])
    except InvalidInput:
        return False
    return True


@pytest.mark.parametrize("kind", Kind)
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_our_models_and_our_schemas_agree(kind: Kind, data: st.DataObject) -> None:
    tree = data.draw(mutated(kind))
    assert is_accepted(tree, kind) == OURS[kind].is_valid(tree), next(OURS[kind].iter_errors(tree), None)


@pytest.mark.parametrize("kind", Kind)
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_our_models_and_the_published_schemas_agree(shared: Path, kind: Kind, data: st.DataObject) -> None:
    theirs = Draft202012Validator(official(shared, kind))
    tree = data.draw(mutated(kind))
    assert is_accepted(tree, kind) == theirs.is_valid(tree), next(theirs.iter_errors(tree), None)


@pytest.mark.parametrize("kind", Kind)
def test_our_schemas_say_what_the_published_ones_say(shared: Path, kind: Kind) -> None:
    """Field by field: types, bounds, choices, patterns; but for words, and for our patterns of free text and instants."""
    assert bare(published_schema(kind), published_schema(kind)) == bare(official(shared, kind), {})


@pytest.mark.parametrize("kind", Kind)
def test_a_schema_is_valid_has_its_address_and_accepts_our_example(kind: Kind) -> None:
    schema = published_schema(kind)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == kind
    assert OURS[kind].is_valid(BY_KIND[kind])
    assert not OURS[kind].is_valid({**BY_KIND[kind], "extra": 1})


def test_a_schema_has_the_name_of_its_kind_in_its_address() -> None:
    assert schema_url(Kind.BENCHMARK_RUN) == "https://kernelindex.dev/schemas/v1alpha1/benchmark-run.schema.json"
    assert published_schema(Kind.SOFTWARE_PROJECT)["$id"].endswith("/software-project.schema.json")


def test_a_schema_describes_what_is_accepted_a_duration_as_integer_or_text() -> None:
    median = field_schema(Kind.BENCHMARK_RUN, ("spec", "timing", "latencyNs", "median"))
    assert [form["type"] for form in median["anyOf"]] == ["integer", "string"]


def test_changing_a_schema_that_was_given_out_changes_no_other() -> None:
    published_schema(Kind.BENCHMARK_RUN)["properties"].clear()
    assert published_schema(Kind.BENCHMARK_RUN)["properties"]


def leaves(node: Any, whole: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every field of a schema that is no object and no list, with its path; keys of maps as ``<key>``."""
    if "$ref" in node:
        node = whole["$defs"][node["$ref"].rpartition("/")[2]]
    inner = [(f"{path}.{name}", field) for name, field in node.get("properties", {}).items()]
    inner += [(f"{path}.*", node["additionalProperties"])] if node.get("additionalProperties") else []
    inner += [(f"{path}.<key>", node["propertyNames"])] if "propertyNames" in node else []
    inner += [(f"{path}[]", item) for item in [node.get("items", {}), *node.get("prefixItems", ())] if item]
    for where, field in inner:
        yield from leaves(field, whole, where)
    if node.get("type") not in ("object", "array"):
        yield path.removeprefix("."), node


def test_every_field_says_in_words_what_it_takes() -> None:
    """Remedies are made of these words, so a field without them would have an empty one."""
    for kind in Kind:
        for path, field in leaves(published_schema(kind), published_schema(kind)):
            assert field.keys() & {"description", "enum", "const"} or field["type"] == "boolean", (kind, path)


def test_every_text_is_bound_to_one_line_but_for_the_five_fields_of_prose() -> None:
    prose = set()
    for kind in Kind:
        for path, field in leaves(published_schema(kind), published_schema(kind)):
            if field.get("pattern") == PROSE_PATTERN:
                prose.add((kind.value, path) if path != "metadata.description" else ("every kind", path))
            elif field.get("type") == "string":
                # The other patterns admit neither control nor direction-changing characters.
                assert field.keys() & {"enum", "const", "pattern"}, (kind, path)
                assert not re.search(field.get("pattern", "^a$"), "a\u202eb"), (kind, path)
    assert prose == {
        ("every kind", "metadata.description"),
        ("OperationSpec", "spec.semantics.expression"),
        ("WorkloadSuite", "spec.correctness.description"),
        ("ImplementationRevision", "spec.buildVariants[].install.command"),
        ("BenchmarkProtocol", "spec.comparability.notes"),
    }


def official(shared: Path, kind: Kind) -> Any:
    name = schema_url(kind).rpartition("/")[2].replace(".schema", ".v1alpha1.schema")
    return json.loads((shared / "data/manifest-schemas" / name).read_bytes())


WORDS = ("title", "description", "$comment", "$id", "$schema", "$defs", "format")


def bare(node: Any, whole: Any) -> Any:
    """A schema without words and references, in one spelling."""
    if isinstance(node, list):
        return [bare(item, whole) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return bare(whole["$defs"][node["$ref"].rpartition("/")[2]], whole)
    if "properties" in node:
        required, properties = sorted(node.get("required", [])), node["properties"]
        rest = {key: value for key, value in node.items() if key not in (*WORDS, "properties", "required")}
        return {
            **rest,
            "required": required,
            "properties": {key: bare(value, whole) for key, value in properties.items()},
        }
    kept = {key: bare(value, whole) for key, value in node.items() if key not in WORDS}
    pattern = kept.pop("pattern", "").replace(r"\d", "[0-9]")
    if "02-29" in pattern:
        pattern = "an instant"
    if pattern not in ("", LINE_PATTERN, PROSE_PATTERN):
        kept["pattern"] = re.sub(r"\\-", "-", pattern) if "[a-z0-9_+" in pattern else pattern
    return kept


@pytest.mark.parametrize("year", range(0, 10_000, 100))
def test_instants_know_the_leap_years_of_their_calendar(year: int) -> None:
    tree = copy.deepcopy(BY_KIND[Kind.BENCHMARK_RUN])
    for near in range(year, year + 9):
        tree["spec"]["observedAt"] = f"{near:04}-02-29T00:00:00Z"
        is_leap = near % 4 == 0 and (near % 100 != 0 or near % 400 == 0)
        assert is_accepted(tree, Kind.BENCHMARK_RUN) == is_leap
