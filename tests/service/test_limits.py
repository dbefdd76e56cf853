"""The limits on a document's shape, and what a query costs."""

import time
from typing import Any

import pytest
from graphql import (
    DocumentNode,
    GraphQLResolveInfo,
    build_schema,
    execute_sync,
    get_introspection_query,
    get_named_type,
    is_leaf_type,
    parse,
    specified_rules,
    validate,
)
from hypothesis import given
from hypothesis import strategies as st

from service.limits import CEILING, Limits, limits_rule
from service.query_cost import length_of, query_cost

SCHEMA = build_schema("""
    type Query {
      hello: String
      run(id: ID): Run
      runs(first: Int, last: Int): RunConnection
      entries(first: Int = 50): RunConnection
      all: [Run!]!
      nodes(ids: [ID!]!): [Run]!
      top(first: Int): [Run!]!
      search(text: String, first: Int): SearchResult
      anything: Anything
    }
    union Anything = Run | Fact
    type Run { name: String tags: [String!]! parent: Run facts: [Fact!]! runs(first: Int, last: Int): RunConnection! }
    type Fact { key: String run: Run }
    type PageInfo { hasNextPage: Boolean }
    type RunEdge { cursor: String node: Run }
    type RunConnection { edges: [RunEdge!]! nodes: [Run!]! pageInfo: PageInfo! totalCount: Int }
    type SearchResult { hits: [Hit!]! hints: [String!]! }
    type Hit { node: Run }
    type Mutation { add(n: Int): Run }
""")
LIMITS = Limits()


def errors_of(query: str, limits: Limits = LIMITS) -> list[str]:
    """Messages of validation with the rule in its place: first, before the standard ones."""
    return [error.message for error in validate(SCHEMA, parse(query), (limits_rule(limits), *specified_rules))]


def cost_of(query: str, operation_name: str | None = None, /, **variables: Any) -> int:
    document = parse(query)
    assert validate(SCHEMA, document) == []
    return query_cost(SCHEMA, document, operation_name, variables)


def nested(levels: int) -> str:
    """A query of so many levels, the last a scalar."""
    return "{run{" + "parent{" * (levels - 2) + "name" + "}" * levels


class TestShape:
    @pytest.mark.parametrize("levels", [2, 12])
    def test_twelve_levels_are_allowed(self, levels: int) -> None:
        assert errors_of(nested(levels)) == []

    @pytest.mark.parametrize("levels", [13, 60])
    def test_more_are_refused_with_the_number_and_the_limit(self, levels: int) -> None:
        assert errors_of(nested(levels)) == [f"The query is nested too deep, levels: {levels}; the limit is 12"]

    def test_levels_are_counted_through_fragments_and_not_for_them(self) -> None:
        spread = "{...A} fragment A on Query {... on Query {run{...B}}} fragment B on Run {%s name %s}"

        assert errors_of(spread % ("parent{" * 10, "}" * 10)) == []
        assert errors_of(spread % ("parent{" * 11, "}" * 11)) != []

    def test_thirty_aliases_are_allowed_and_one_more_is_not(self) -> None:
        def aliased(number: int) -> str:
            return "{" + " ".join(f"a{i}: hello" for i in range(number)) + "}"

        assert errors_of(aliased(30)) == []
        (error,) = validate(SCHEMA, parse(aliased(31)), (limits_rule(LIMITS),))
        assert error.message == "The query has too many aliased or repeated fields: 31; the limit is 30"
        assert error.extensions == {
            "code": "QUERY_TOO_COMPLEX",
            "requested": 31,
            "limit": 30,
            "remedy": "ask for several records with an ids argument, or send several queries",
        }

    def test_aliases_are_counted_as_often_as_their_fragment_is_spread(self) -> None:
        fragment = "fragment F on Query {" + " ".join(f"a{i}: hello" for i in range(10)) + "}"

        assert errors_of("{" + "...F " * 3 + "}" + fragment) == []
        assert errors_of("{" + "...F " * 4 + "}" + fragment) != []

    def test_a_field_beside_itself_counts_like_an_alias(self) -> None:
        assert errors_of("{" + "hello " * 31 + "}") == []
        assert errors_of("{" + "hello " * 32 + "}") != []

    def test_fields_that_fragments_share_are_no_repeats(self) -> None:
        fragments = "".join(f"fragment F{i} on Query {{hello}}" for i in range(60))

        assert errors_of("{" + " ".join(f"...F{i}" for i in range(60)) + "}" + fragments) == []

    def test_each_operation_is_measured_alone_and_each_that_fails_is_told(self) -> None:
        fine, deep = nested(12), nested(13)
        aliases = " ".join(f"a{i}: hello" for i in range(20))

        assert errors_of(f"query A {{{aliases}}} query B {{{aliases}}}") == []
        assert len(errors_of(f"query A {deep} query B {fine} query C {deep}")) == 2

    def test_nothing_else_is_checked_in_what_is_too_complex(self) -> None:
        """The other rules would take long over what is refused anyway."""
        assert errors_of("{zzz " + "hello " * 40 + "}") == [
            "The query has too many aliased or repeated fields: 39; the limit is 30"
        ]

    def test_a_cycle_is_left_to_the_rule_that_names_it(self) -> None:
        messages = errors_of("{...A} fragment A on Query {...B} fragment B on Query {...A a: hello}")

        assert messages == ["Cannot spread fragment 'A' within itself via 'B'."]

    @pytest.mark.parametrize(
        "body",
        [
            "...F{next} ...F{next}",
            "a: hello ...F{next} ...F{next}",
            "... {{...F{next}}} ... on Query {{...F{next}}}",
            "...F{next} ...F{next} ...F0",
        ],
    )
    def test_a_bomb_of_fragments_takes_time_in_its_length(self, body: str) -> None:
        chain = "".join(f"fragment F{i} on Query {{{body.format(next=i + 1)}}}" for i in range(99))
        document = parse("{...F0}" + chain + "fragment F99 on Query {hello}")

        started = time.perf_counter()
        validate(SCHEMA, document, (limits_rule(LIMITS),))
        if validate(SCHEMA, document) == []:
            query_cost(SCHEMA, document, None, {})

        assert time.perf_counter() - started < 1

    def test_equal_limits_have_one_rule_class(self) -> None:
        """Caches of validation compare rules by identity: a class made anew would never hit."""
        assert limits_rule(Limits(depth=7)) is limits_rule(Limits(depth=7))
        assert limits_rule(Limits(depth=7)) is not limits_rule(Limits(depth=8))


class TestIntrospection:
    FULL = get_introspection_query(
        schema_description=True,
        specified_by_url=True,
        directive_is_repeatable=True,
        input_value_deprecation=True,
        one_of=True,
    )

    def test_the_standard_query_is_allowed_with_all_its_options_and_costs_nothing(self) -> None:
        assert errors_of(self.FULL) == []
        assert cost_of(self.FULL) == 0

    def test_the_standard_query_leaves_room_in_the_budget(self) -> None:
        assert errors_of(self.FULL, Limits(introspection_cost=120_000)) == []
        assert errors_of(self.FULL, Limits(introspection_cost=100_000)) != []

    def test_its_depth_of_fifteen_is_the_bound(self) -> None:
        assert errors_of(self.FULL, Limits(introspection_depth=14)) == [
            "The query is nested too deep, levels: 15; the limit is 14"
        ]

    def test_fifteen_levels_are_for_operations_of_nothing_else(self) -> None:
        inside = "{__typename __schema{queryType" + "{ofType" * 10 + "{name}" + "}" * 10 + "}%s}"

        assert errors_of(inside % "") == []
        assert errors_of(inside % " hello") == ["The query is nested too deep, levels: 13; the limit is 12"]
        assert errors_of(inside % " ...F" + "fragment F on Query {hello}") != []

    @pytest.mark.parametrize(
        "query",
        [
            "{__schema{types{fields{type{fields{type{fields{name}}}}}}}}",
            "{__schema{types{" + " ".join(f"f{i}:fields{{type{{fields{{name}}}}}}" for i in range(4)) + "}}}",
            "{" + " ".join(f"t{i}:__schema{{types{{fields{{args{{name type{{name}}}}}}}}}}" for i in range(15)) + "}",
            "{hello ...A} fragment A on Query {__schema{types{...B}}} fragment B on __Type {"
            + "fields{type{" * 3
            + "name"
            + "}" * 7,
        ],
    )
    def test_introspection_that_multiplies_is_refused(self, query: str) -> None:
        assert any("too much introspection" in message for message in errors_of(query))

    def test_fields_of_ours_with_names_of_introspections_lists_are_not_introspection(self) -> None:
        schema = build_schema("type Query { types: [Query] fields: [Query] name: String }")
        query = "{types{fields{types{fields{types{fields{name}}}}}}}"

        assert validate(schema, parse(query), (limits_rule(LIMITS),)) == []


class TestCost:
    @pytest.mark.parametrize(
        ("query", "cost"),
        [
            ("{hello}", 0),
            ("{run{name tags}}", 1),
            ("{run{parent{parent{name}}}}", 3),
            # pages: the connection is one, each of its items another
            ("{runs{nodes{name}}}", 26),
            ("{runs(first: 100){nodes{name}}}", 101),
            ("{runs(last: 7){nodes{name}}}", 8),
            ("{runs(first: null){nodes{name}}}", 26),
            ("{runs(first: 0){nodes{name}}}", 1),
            ("{runs(first: -5){nodes{name}}}", 1),
            ("{runs(first: 3, last: 9){nodes{name}}}", 10),
            ("{runs(first: 5){totalCount}}", 26),
            ("{runs(first: 10){nodes{runs{totalCount}}}}", 1 + 10 * (1 + 1 + 25)),
            ("{runs(first: 5){pageInfo{hasNextPage}}}", 2),
            # the schema's own default page
            ("{entries{nodes{name}}}", 51),
            # an edge and its node are one
            ("{runs(first: 10){edges{node{name}}}}", 11),
            ("{runs(first: 10){edges{cursor}}}", 11),
            ("{runs(first: 10){edges{node{parent{name}}}}}", 21),
            ("{runs(first: 10){nodes{parent{name}}}}", 21),
            # pages in pages multiply
            ("{runs(first: 10){nodes{runs(first: 10){nodes{name}}}}}", 1 + 10 * (1 + 1 + 10)),
            # plain lists, lists with a page of their own, lists by ids
            ("{all{name}}", 10),
            ("{run{facts{key}}}", 11),
            ("{all{facts{key}}}", 10 * 11),
            ("{top(first: 4){facts{key}}}", 4 * 11),
            ("{top{name}}", 25),
            ('{nodes(ids: ["a", "b", "c"]){name}}', 3),
            ('{nodes(ids: "a"){name}}', 1),
            ("{nodes(ids: []){name}}", 0),
            # what takes first without being a list passes it to the lists inside
            ('{search(text: "x", first: 40){hits{node{name}} hints}}', 1 + 40 * 2),
            ("{search{hits{node{name}}}}", 1 + 25 * 2),
            # fragments, unions, directives, introspection
            (
                "{runs(first: 5){...C}} fragment C on RunConnection {nodes{name} edges{...E}} fragment E on RunEdge {node{name}}",
                11,
            ),
            ("{run{...F ...F}} fragment F on Run {parent{name}}", 3),
            ("{anything{... on Run{parent{name}} ... on Fact{run{name}}}}", 3),
            ("{run @include(if: false){name}}", 1),
            ("{__typename run{__typename} __schema{types{name}}}", 1),
            ("mutation {add{facts{key}}}", 11),
        ],
    )
    def test_objects_are_counted_and_multiplied_by_pages(self, query: str, cost: int) -> None:
        assert cost_of(query) == cost

    @pytest.mark.parametrize(
        ("variables", "cost"),
        [
            ({"n": 4}, 5),
            ({"n": 4.0}, 5),
            ({"n": 0}, 1),
            ({"n": None}, 26),
            ({}, 8),
            ({"m": 3}, 8),
            ({"n": 10**30}, CEILING),
        ],
    )
    def test_a_page_size_may_be_a_variable_with_a_default(self, variables: dict[str, Any], cost: int) -> None:
        assert cost_of("query($n: Int = 7){runs(first: $n){nodes{name}}}", **variables) == cost

    def test_a_variable_without_default_that_is_not_sent_leaves_the_standard_page(self) -> None:
        assert cost_of("query($n: Int){runs(first: $n){nodes{name}}}") == 26

    def test_ids_may_be_a_variable_or_hold_some(self) -> None:
        assert cost_of("query($i: [ID!]!){nodes(ids: $i){name}}", i=["a"] * 60) == 60
        assert cost_of('query($i: ID!){nodes(ids: ["a", $i]){name}}', i="b") == 2
        assert cost_of("query($i: [ID!]! = [%s, 1]){nodes(ids: $i){name}}" % ("9" * 5000)) == 2

    def test_variables_reach_into_fragments_of_each_operation(self) -> None:
        query = (
            "query A($n: Int = 2){...F} query B($n: Int = 3){...F} fragment F on Query {runs(first: $n){nodes{name}}}"
        )

        assert (cost_of(query, "A"), cost_of(query, "B"), cost_of(query, "B", n=9)) == (3, 4, 10)

    def test_the_cost_stops_at_a_number_that_every_client_can_read(self) -> None:
        page = "runs(first: 2000000000){nodes{%s}}"
        assert cost_of("{" + page % (page % (page % "name")) + "}") == CEILING

    @pytest.mark.parametrize(
        ("value", "length"),
        [(3, 3), (3.0, 3), (3.5, None), (True, None), (None, None), ([1, 2], 2), ([], 0), ("x", 1), ({}, 1), (-1, 0)],
    )
    def test_only_numbers_and_lists_say_how_long(self, value: object, length: int | None) -> None:
        assert length_of(value) == length


# Queries made at random, for a schema whose lists are exactly as long as they were asked to be.

FIELDS = {
    "Query": ["hello", "run", "runs", "entries", "all", "nodes", "top", "search"],
    "Run": ["name", "tags", "parent", "facts", "runs"],
    "Fact": ["key", "run"],
    "RunConnection": ["edges", "nodes", "pageInfo", "totalCount"],
    "RunEdge": ["cursor", "node"],
    "PageInfo": ["hasNextPage"],
    "SearchResult": ["hits", "hints"],
    "Hit": ["node"],
}


def queries() -> st.SearchStrategy[str]:
    """Selections of the root, each field under a name of its own, so that execution merges none."""
    return selections().map(_with_names)


def _with_names(query: str) -> str:
    first, *rest = query.split("_:")
    return first + "".join(f"f{number}:{part}" for number, part in enumerate(rest))


@st.composite
def selections(draw: st.DrawFn, parent: str = "Query", depth: int = 5) -> str:
    parts = []
    for name in draw(st.lists(st.sampled_from(FIELDS[parent]), min_size=1, max_size=2, unique=True)):
        field = SCHEMA.type_map[parent].fields[name]  # type: ignore[attr-defined]
        inner = get_named_type(field.type)
        if not is_leaf_type(inner) and depth == 0:
            continue
        arguments = ""
        if "first" in field.args and draw(st.booleans()):
            arguments = f"(first: {draw(st.integers(0, 3))})"
        if "ids" in field.args:
            arguments = f"(ids: {[str(i) for i in range(draw(st.integers(0, 3)))]})".replace("'", '"')
        body = "" if is_leaf_type(inner) else draw(selections(inner.name, depth - 1))
        wrap = draw(st.sampled_from(["%s", "... {%s}", f"... on {parent} {{%s}}"]))
        parts.append(wrap % f"_: {name}{arguments}{body}")
    return "{" + " ".join(parts or ["__typename"]) + "}"


class Counting:
    """A resolver of everything, that counts the objects it makes (an edge and its node as one)."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.objects = 0

    def __call__(self, source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
        if is_leaf_type(get_named_type(info.return_type)):
            self.objects += self.limits.count_cost if info.field_name == "totalCount" else 0
            return ["x"] if "[" in str(info.return_type) else 1
        length = self.length(source, info, arguments)
        number = length if "[" in str(info.return_type) else 1
        if not (info.parent_type.name == "RunEdge" and info.field_name == "node"):
            self.objects += number
        made = [{"page": length} for _ in range(number)]
        return made if "[" in str(info.return_type) else made[0]

    def length(self, source: Any, info: GraphQLResolveInfo[Any], arguments: dict[str, Any]) -> int:
        """How many items: the field's own page or ids, or the page of the object that holds it."""
        if "ids" in arguments:
            return len(arguments["ids"])
        if "first" in info.parent_type.fields[info.field_name].args:
            first = arguments.get("first")
            return self.limits.page_size if first is None else int(first)
        is_page = info.parent_type.name in ("RunConnection", "SearchResult")
        return int(source["page"]) if is_page else self.limits.list_size


@given(queries())
def test_the_cost_is_the_number_of_objects_that_execution_makes(query: str) -> None:
    """Where lists are as long as they were asked to be, the cost foretells the work exactly."""
    limits = Limits(page_size=2, list_size=3)
    document: DocumentNode = parse(query)
    counting = Counting(limits)

    result = execute_sync(SCHEMA, document, {}, field_resolver=counting)

    assert result.errors is None
    assert query_cost(SCHEMA, document, None, {}, limits) == counting.objects


@given(queries(), st.integers(1, 4))
def test_a_fragment_costs_what_it_would_cost_written_out(query: str, times: int) -> None:
    spread = parse("{" + "...F " * times + "} fragment F on Query " + query)

    assert query_cost(SCHEMA, spread, None, {}) == times * query_cost(SCHEMA, parse(query), None, {})


def test_a_document_without_operations_is_within_every_limit() -> None:
    assert list(validate(SCHEMA, parse("fragment F on Query {hello}"), (limits_rule(LIMITS),))) == []
