"""The schema is a promise: what it says, how it says it, and that what it says can be had."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLType,
    get_named_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    is_specified_scalar_type,
)

from domain.bundles import Bundle, bundle_of
from domain.commands import Ingest, RecordImport, RegisterSource
from domain.errors import ErrorCode
from domain.facts import ArtifactRecorded
from domain.principals import LOCAL
from service.api.schema import built_schema
from service.app import Index
from tests.examples import OPERATION, bundle, manifest
from tests.service.api.asking import ask
from tests.service.api.people import say_everything

schema = built_schema()

CORE = schema._schema
EXPORTED = Path(__file__).parents[3] / "schema.graphql"


def own_types() -> Iterator[GraphQLNamedType]:
    for name, type_ in CORE.type_map.items():
        if not name.startswith("__") and not (isinstance(type_, GraphQLScalarType) and is_specified_scalar_type(type_)):
            yield type_


def fields() -> Iterator[tuple[str, GraphQLField]]:
    for type_ in own_types():
        if isinstance(type_, GraphQLObjectType | GraphQLInterfaceType):
            for name, field in type_.fields.items():
                yield f"{type_.name}.{name}", field


def test_the_exported_schema_is_that_of_the_code() -> None:
    """``make schema`` writes it anew."""
    assert EXPORTED.read_text(encoding="utf-8").rstrip("\n") == schema.as_str().rstrip("\n")


def test_everything_says_what_it_is() -> None:
    """Types, fields and input fields have descriptions."""
    bare = [type_.name for type_ in own_types() if not type_.description]
    bare += [name for name, field in fields() if not field.description]
    for type_ in own_types():
        if isinstance(type_, GraphQLInputObjectType):
            bare += [f"{type_.name}.{name}" for name, field in type_.fields.items() if not field.description]

    assert bare == []


def test_every_scalar_of_ours_says_where_it_is_specified() -> None:
    scalars = {type_.name: type_ for type_ in own_types() if isinstance(type_, GraphQLScalarType)}

    assert {"BigInt", "Decimal", "Position", "Digest", "LogCursor", "DateTime", "Date", "URL"} <= scalars.keys()
    assert [name for name, scalar in scalars.items() if not str(scalar.specified_by_url).startswith("https://")] == []


def test_lists_hold_no_nulls_except_nodes() -> None:
    nullable = [name for name, field in fields() if has_nullable_items(field.type)]

    assert sorted(nullable) == ["Query.nodes", "Reads.nodes", "Snapshot.nodes"]


def has_nullable_items(type_: GraphQLType) -> bool:
    while is_non_null_type(type_):
        type_ = type_.of_type
    return is_list_type(type_) and not is_non_null_type(type_.of_type)


def test_a_root_field_that_can_fail_on_its_arguments_is_nullable() -> None:
    """So that its error leaves its siblings alone. ``nodes`` answers item by item."""
    query = CORE.query_type
    assert query
    certain = {name for name, field in query.fields.items() if field.args and is_non_null_type(field.type)}

    assert certain == {"nodes"}


def test_query_has_every_field_of_reads() -> None:
    reads = CORE.type_map["Reads"]
    assert isinstance(reads, GraphQLInterfaceType)
    named = "run runs ranking rankings operation operations workload implementation project hardware sources node nodes stamp "
    named += "events checkpoint inclusionProof"
    assert reads.fields.keys() >= set(named.split())
    assert CORE.query_type
    assert reads in CORE.query_type.interfaces


def test_the_error_codes_are_one_frozen_enum() -> None:
    """Clients match on them: a code that was released stays, and means what it meant."""
    enum = CORE.type_map["ErrorCode"]
    assert isinstance(enum, GraphQLEnumType)

    assert set(enum.values) == {code.value for code in ErrorCode}
    assert all(name.isupper() for name in enum.values)
    assert set(enum.values) >= FROZEN_CODES


FROZEN_CODES = {
    "MALFORMED_DOCUMENT",
    "DOCUMENT_TOO_LARGE",
    "DUPLICATE_KEY",
    "INVALID_TEXT",
    "NUMBER_OUT_OF_RANGE",
    "UNKNOWN_KIND",
    "UNKNOWN_FIELD",
    "MISSING_FIELD",
    "INVALID_VALUE",
    "DIGEST_MISMATCH",
    "ALIAS_TAKEN",
    "IDEMPOTENCY_KEY_REUSED",
    "CONCURRENT_CHANGE",
    "SOURCE_NOT_YOURS",
    "FORBIDDEN",
    "RATE_LIMITED",
    "NOT_FOUND",
    "AMBIGUOUS_ID",
    "INVALID_ID",
    "INVALID_CURSOR",
    "POSITION_IN_FUTURE",
    "INVALID_ARGUMENT",
    "VIEWS_BEHIND",
    "CHECKPOINT_REFUSED",
    "BAD_REQUEST",
    "BODY_TOO_LARGE",
    "UNSUPPORTED_MEDIA_TYPE",
    "METHOD_NOT_ALLOWED",
    "GRAPHQL_PARSE_FAILED",
    "GRAPHQL_VALIDATION_FAILED",
    "QUERY_TOO_COMPLEX",
    "QUERY_TIMEOUT",
    "INTERNAL",
}


def test_enums_scream() -> None:
    for type_ in own_types():
        if isinstance(type_, GraphQLEnumType):
            assert all(name == name.upper() for name in type_.values), type_.name


class TestEveryFieldCanBeHad:
    """A field whose document forgot it would answer an internal error: all are asked for, of one node of each type."""

    @pytest.fixture(autouse=True)
    async def _world(self, index: Index) -> None:
        """One of everything, with as much in it as the examples have."""
        suite = {
            "operationSpecDigest": OPERATION.digest,
            "cases": [{"externalId": "a", "axes": {"tokens": 1}}],
            "aggregation": {"metric": "latency", "statistic": "mean"},
            "correctness": {"comparator": "exact"},
        }
        project = {
            "name": "Heron Kernels",
            "kind": "library",
            "host": {"kind": "github", "id": "heron/kernels"},
            "packages": [{"ecosystem": "pypi", "name": "heron"}],
        }
        log = {"digest": f"sha256:{'2' * 64}", "uri": "https://tern.example/log"}
        timing = {
            "primaryStatistic": "median",
            "samples": 10,
            "latencyNs": {"median": 8120, "mad": 3, "confidence95": [8100, 8200]},
        }
        run = bundle(
            None,
            timing=timing,
            evidence={"logs": log},
            correctness={"comparator": "exact", "matchedRatio": 1},
            sourceNative={"source": "tern-board", "externalId": "7", "metrics": {"sol_score": 0.5, "x": 1}},
        )
        commands = [
            Ingest(bundle=run),
            Ingest(bundle=bundle(90, by="stork")),
            Ingest(bundle=bundle_of(manifest("WorkloadSuite", suite))),
            Ingest(bundle=bundle_of(manifest("SoftwareProject", project))),
            Ingest(bundle=Bundle(artifacts=(ArtifactRecorded(digest=log["digest"], kind="log"),))),
            RegisterSource(slug="tern-board", name="Tern", kind="board", policy=b'{"licence":"CC0-1.0"}'),
            RecordImport(
                slug="tern-board", file_digest=log["digest"], importer="x", importer_version="1", counts={"new": 1}
            ),
        ]
        await index.ledger.handle(commands, LOCAL)
        await say_everything(index)

    async def test_of_every_type_that_has_an_id(self, index: Index) -> None:
        tables = ("runs", "operations", "workloads", "implementations", "projects", "conditions", "artifacts")
        ids = [
            digest
            for table in tables
            for (digest,) in index.views.peek(lambda db, of=table: db.execute(f"SELECT digest FROM {of}").fetchall())  # type: ignore[misc]
        ]
        keys = index.views.peek(lambda db: db.execute("SELECT comparison_key FROM rankings").fetchall())
        ids += [*(key for (key,) in keys), "hardware/nvidia-b200", "source/tern-board", "event/1"]
        ids += ["rerun/rerun-7", "runner/finch-b200", "attestation/attestation-7", "issue/issue-7"]
        node = CORE.type_map["Node"]
        assert isinstance(node, GraphQLInterfaceType)
        named = (await ask(index, "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }", ids=ids))["nodes"]
        assert {one["__typename"] for one in named} == {type_.name for type_ in CORE.get_possible_types(node)}
        for one in named:
            type_ = CORE.type_map[one["__typename"]]
            query = f"query($id: ID!) {{ node(id: $id) {{ ... on {type_.name} {{ {selection(type_, 3)} }} }} }}"
            assert (await ask(index, query, id=one["id"]))["node"]["id"] == one["id"]

    async def test_of_the_root(self, index: Index) -> None:
        assert CORE.query_type
        for name, field in CORE.query_type.fields.items():
            if not any(is_non_null_type(argument.type) for argument in field.args.values()) and name != "operation":
                named = get_named_type(field.type)
                size = "(first: 2)" if "first" in field.args else ""
                assert await ask(index, f"{{ {name}{size} {{ {selection(named, 2)} }} }}") is not None


def selection(type_: Any, depth: int) -> str:
    """All fields that need no argument, with objects down to a depth."""
    chosen = ["__typename"]
    for name, field in type_.fields.items():
        named = get_named_type(field.type)
        if any(is_non_null_type(argument.type) for argument in field.args.values()):
            continue
        if is_leaf_type(named):
            chosen.append(name)
        elif depth > 1 and hasattr(named, "fields"):
            size = "(first: 1)" if "first" in field.args else ""
            chosen.append(f"{name}{size} {{ {selection(named, depth - 1)} }}")
    return " ".join(chosen)
