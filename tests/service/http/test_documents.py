"""Query texts are prepared once, kept within bounds, and limited the same for streams."""

import time
from typing import Any

import pytest
import strawberry
from graphql import OperationType

from service.http.documents import KEPT_COSTS, DocumentRejected, Documents
from service.limits import Limits
from tests.service.http.tiny import SECRET, tiny_schema


@pytest.fixture
def documents() -> Documents:
    return Documents(Limits())


@pytest.fixture
def schema(documents: Documents) -> strawberry.Schema:
    return tiny_schema(documents)


class TestCache:
    def test_a_known_text_is_neither_parsed_nor_validated_again(
        self, documents: Documents, schema: strawberry.Schema
    ) -> None:
        first = documents.prepare(schema, "{ hello }")

        assert documents.prepare(schema, "{ hello }") is first
        assert documents.prepare(schema, "{ hello  }") is not first

    async def test_execution_by_the_schema_uses_the_same_document(
        self, documents: Documents, schema: strawberry.Schema
    ) -> None:
        """The extension puts the prepared document in place: graphql-core gets that very object to run."""
        prepared = documents.prepare(schema, "{ hello }")
        seen: list[Any] = []

        class Spy(strawberry.extensions.SchemaExtension):
            def on_execute(self) -> Any:
                seen.append(self.execution_context.graphql_document)
                yield

        schema.extensions = (*schema.extensions, Spy)
        result = await schema.execute("{ hello }")

        assert result.data == {"hello": "world"}
        assert seen == [prepared.document]
        assert seen[0] is prepared.document
        assert len(documents) == 1

    def test_hits_take_a_small_part_of_the_time(self, documents: Documents, schema: strawberry.Schema) -> None:
        text = "{ " + " ".join(f"runs {{ nodes {{ name facts {{ key }} }} }} # {i}\n" for i in range(20)) + "}"

        def seconds() -> float:
            started = time.perf_counter()
            documents.prepare(schema, text)
            return time.perf_counter() - started

        assert min(seconds() for _ in range(5)) < seconds_of_a_miss(schema, text) / 20

    def test_what_is_rejected_is_not_kept(self, documents: Documents, schema: strawberry.Schema) -> None:
        for text in ("{", "{ zzz }"):
            with pytest.raises(DocumentRejected):
                documents.prepare(schema, text)

        assert len(documents) == 0
        assert documents.bytes == 0

    def test_the_texts_used_last_stay_within_the_number(self) -> None:
        documents = Documents(Limits(), entries=2)
        schema = tiny_schema(documents)
        a = documents.prepare(schema, "{ a: hello }")
        documents.prepare(schema, "{ b: hello }")
        documents.prepare(schema, "{ a: hello }")
        documents.prepare(schema, "{ c: hello }")

        assert len(documents) == 2
        assert documents.prepare(schema, "{ a: hello }") is a

    def test_the_texts_kept_stay_within_the_bytes(self) -> None:
        weight = Documents(Limits()).prepare(tiny_schema(Documents(Limits())), "{ a0: hello }").weight
        documents = Documents(Limits(), max_bytes=3 * weight)
        schema = tiny_schema(documents)

        for number in range(9):
            documents.prepare(schema, f"{{ a{number}: hello }}")

        assert len(documents) == 3
        assert documents.bytes == 3 * weight

    def test_a_document_heavier_than_all_the_room_is_run_and_not_kept(self) -> None:
        documents = Documents(Limits(), max_bytes=100)

        prepared = documents.prepare(tiny_schema(documents), "{ hello }")

        assert prepared.operation(None).operation is OperationType.QUERY
        assert (len(documents), documents.bytes) == (0, 0)

    def test_costs_are_right_for_every_page_size_in_any_order(
        self, documents: Documents, schema: strawberry.Schema
    ) -> None:
        prepared = documents.prepare(schema, "query($n: Int = 7) { runs(first: $n) { nodes { name } } }")
        operation = prepared.operation(None)
        sizes = [*range(2 * KEPT_COSTS), 3, 2]

        assert [prepared.cost(operation, {"n": size}) for size in sizes] == [1 + size for size in sizes]
        assert prepared.cost(operation, {}) == 8
        assert prepared.cost(operation, {"n": None}) == 26
        assert prepared.cost(operation, {"n": 5, "other": 9}) == 6

    def test_the_operations_of_a_document_have_their_own_costs(
        self, documents: Documents, schema: strawberry.Schema
    ) -> None:
        prepared = documents.prepare(schema, "query A { run { name } } query B { runs(first: 2) { nodes { name } } }")

        assert [prepared.cost(prepared.operation(name), {}) for name in "ABAB"] == [1, 3, 1, 3]


def seconds_of_a_miss(schema: strawberry.Schema, text: str) -> float:
    """How long the text takes when it is new."""
    started = time.perf_counter()
    Documents(Limits()).prepare(schema, text)
    return time.perf_counter() - started


class TestStreams:
    """``Schema.stream`` is what WebSockets and SSE run: it must neither skip the limits nor leak."""

    async def errors(self, schema: strawberry.Schema, query: str, **extra: Any) -> list[Any]:
        stream = await schema.stream(query, context_value={"who": "anyone"}, **extra)
        results = [result async for result in stream]
        return [error.formatted for result in results for error in getattr(result, "errors", None) or ()]

    @pytest.mark.parametrize(
        ("query", "code"),
        [
            ("subscription {", "GRAPHQL_PARSE_FAILED"),
            ("subscription { zzz }", "GRAPHQL_VALIDATION_FAILED"),
            ("subscription { count " + "x " * 2000 + "}", "QUERY_TOO_COMPLEX"),
            ("subscription A { count } subscription B { count }", "BAD_REQUEST"),
            ("query { runs(first: 2000) { nodes { name } } }", "QUERY_TOO_COMPLEX"),
            ("query { " + " ".join(f"a{i}: hello" for i in range(31)) + "}", "QUERY_TOO_COMPLEX"),
            ("subscription($n: Int!) { count(upTo: $n) }", "BAD_REQUEST"),
            ("subscription { count(upTo: 13) }", "INTERNAL"),
            ("query { broken }", "INTERNAL"),
            ("query { refused }", "INVALID_VALUE"),
        ],
    )
    async def test_each_failure_has_its_code_and_tells_nothing_internal(
        self, schema: strawberry.Schema, query: str, code: str
    ) -> None:
        errors = await self.errors(schema, query)

        assert errors[0]["extensions"]["code"] == code
        assert SECRET not in str(errors)

    async def test_an_unknown_operation_is_refused(self, schema: strawberry.Schema) -> None:
        (error,) = await self.errors(schema, "subscription A { count }", operation_name="Z")

        assert error["extensions"]["code"] == "BAD_REQUEST"

    async def test_a_subscription_within_the_limits_runs(self, schema: strawberry.Schema) -> None:
        stream = await schema.stream("subscription { count(upTo: 3) }")

        assert [result.data async for result in stream] == [{"count": 0}, {"count": 1}, {"count": 2}]  # type: ignore[union-attr]
