"""Queries by projection give what graphql-core gives, byte for byte, whatever is asked and whatever the documents hold."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
import pytest
import pytest_asyncio
from graphql import ArgumentNode, FieldNode, OperationType, Visitor, parse, print_ast, visit
from graphql import parse_const_value as const
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from hypothesis_graphql import nodes, queries

from domain.commands import Ingest
from domain.principals import LOCAL
from service.api.context import Context
from service.api.execute import Api
from service.api.schema import DOCUMENTS, built_schema
from service.api.stored import Stored
from service.app import Index, open_index
from service.auth import AT_HOME
from service.errors_out import execution_errors
from service.http.documents import DocumentRejected, Prepared
from service.settings import Settings
from tests.examples import OPERATION, PROTOCOL, WORKLOAD, Clock, Ids, bundle
from tests.service.api.asking import ask, run_of
from tests.service.api.test_statements import ENTRIES, GROUPS, NODES, OPERATIONS, PAGE, RERUNS, SAID, SOURCES, about

schema = built_schema()

RUNS = [run_of(1000 + number, by=f"n{number}") for number in range(3)]
IDS = [one.digest for one in (*RUNS, OPERATION, WORKLOAD, PROTOCOL)] + [
    "source/heron",
    "rerun/n0",
    "runner/n0",
    "attestation/n0",
    "issue/n0",
    "nothing",
    f"{RUNS[0].digest}@30",
]
SCALARS: dict[str, st.SearchStrategy[Any]] = dict.fromkeys(
    ("Digest", "DateTime", "Date", "URL", "LogCursor", "ManifestText"), st.just(nodes.String("x"))
)
SCALARS["Position"] = st.just(nodes.Int(1))
GENERATED = settings(
    max_examples=40,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # a query of the whole schema takes minutes to shrink
    suppress_health_check=list(HealthCheck),
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Index]:
    """An index with three runs of a group, and everything that can be said of one."""
    folder: Path = tmp_path_factory.mktemp("world")
    async with open_index(Settings(data_dir=folder), now=Clock(), new_id=Ids()) as index:
        for number in range(3):
            await index.ledger.handle([Ingest(bundle=bundle(1000 + number, by=f"n{number}"))], LOCAL)
        await index.ledger.handle(about(RUNS[0], "n0"), LOCAL)
        yield index


pytestmark = pytest.mark.asyncio(loop_scope="module")


def context_of(index: Index, moment: Context | None = None) -> Context:
    context = Api(index).context(AT_HOME)
    if moment:
        context.read_at = moment.read_at
    return context


def response(result: Any) -> bytes:
    # Fields that wait for a thread fail in no particular order.
    errors = sorted(execution_errors(result.errors or []), key=msgspec.json.encode)
    return msgspec.json.encode({"data": result.data, "errors": errors})


async def both(index: Index, query: str, variables: dict[str, Any]) -> tuple[bytes, bytes]:
    """The response by projection, the first time and from what is kept of that, and that of graphql-core alone."""
    prepared, api = DOCUMENTS.prepare(schema, query), Api(index)
    contexts = [api.context(AT_HOME) for _ in range(2)]
    contexts[1].read_at = contexts[0].read_at
    first, again = [
        response(await api.execute(prepared, prepared.operation(None), variables, context)) for context in contexts
    ]
    assert again == first
    plain = await schema.execute(query, variables, context_of(index, contexts[0]))
    return first, response(plain)


class Sensible(Visitor):
    """Gives arguments values that mean something: generated ones hardly ever name what there is."""

    def __init__(self, draw: st.DataObject, key: str) -> None:
        super().__init__()
        self.draw, self.key = draw, key

    def enter_field(self, node: FieldNode, *_: Any) -> FieldNode:
        arguments = [one for one in node.arguments or () if one.name.value not in ("after", "before", "last")]
        return replace(node, arguments=tuple(self._sensible(one) for one in arguments))

    def _sensible(self, argument: ArgumentNode) -> ArgumentNode:
        name = argument.name.value
        values: dict[str, st.SearchStrategy[str]] = {
            "id": st.sampled_from(IDS).map(lambda one: f'"{one}"'),
            "ids": st.lists(st.sampled_from(IDS), max_size=5).map(lambda some: msgspec.json.encode(some).decode()),
            "first": st.integers(-1, 3).map(str),
            "comparisonKey": st.sampled_from([self.key, "sha256:" + 64 * "0"]).map(lambda one: f'"{one}"'),
            "asOf": st.integers(0, 30).map(lambda position: f"{{position: {position}}}"),
            "accessedOn": st.just('"2026-08-01"'),
            "style": st.just("null"),
        }
        return replace(argument, value=const(self.draw.draw(values[name]))) if name in values else argument


async def key_of(index: Index) -> str:
    data = await ask(index, "{ rankings { nodes { id } } }")
    return str(data["rankings"]["nodes"][0]["id"])


def prepared_or_none(query: str) -> Prepared | None:
    try:
        return DOCUMENTS.prepare(schema, query)
    except DocumentRejected:
        return None


@GENERATED
@given(data=st.data())
async def test_any_query_is_answered_as_graphql_core_answers_it(world: Index, data: st.DataObject) -> None:
    query = await generated(world, data)
    projected, plain = await both(world, query, {})
    assert projected == plain


@GENERATED
@given(data=st.data(), seed=st.integers(0, 2**16))
async def test_so_it_is_over_documents_with_faults(world: Index, data: st.DataObject, seed: int) -> None:
    """Fields are missing, null or of another type: the same errors, at the same places, and the same nulls above them."""
    query = await generated(world, data)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Stored, "__init__", damaging(Stored.__init__, seed))
        projected, plain = await both(world, query, {})
    assert projected == plain


async def generated(index: Index, data: st.DataObject) -> str:
    query = data.draw(QUERIES)
    query = print_ast(visit(parse(query), Sensible(data, await key_of(index))))
    # Over a limit, it would not be executed at all.
    assume(prepared_or_none(query) is not None)
    return query


QUERIES = queries(schema.as_str(), custom_scalars=SCALARS)


def damaging(make: Callable[..., None], seed: int) -> Callable[..., None]:
    def damaged_one(self: Stored, text: bytes, *others: Any) -> None:
        make(self, damaged(text, seed), *others)

    return damaged_one


def damaged(text: bytes, seed: int) -> bytes:
    """The document with one of its fields missing, null or of another type; which one follows from the seed."""
    document: dict[str, Any] = msgspec.json.decode(text)
    number = crc32(text, seed)
    name = sorted(document)[number % len(document)]
    match number // 97 % 5:
        case 0:
            del document[name]
        case 1:
            document[name] = None
        case 2:
            document[name] = {"no": "sense"}
        case 3:
            document[name] = [1, None]
    return msgspec.json.encode(document)


BY_HAND = [
    "{ a: runs(first: 1) { nodes { digest } } b: runs(first: 2) { nodes { id: shortId shortId } } }",
    (
        "{ runs { nodes { ...F ... on Node { id } } } } fragment F on Run { digest primary { ...M } } "
        "fragment M on Measurement { value unit }"
    ),
    "{ runs { nodes { primary { value } ...G } } } fragment G on Run { primary { unit } evidence { level } }",
    (
        "{ __typename runs { __typename nodes { __typename workload { __typename label ... on WorkloadCase { axes { name } }"
        " ... on WorkloadSuite { caseCount } } } edges { cursor node { digest } } pageInfo { endCursor } totalCount } }"
    ),
    "{ at(asOf: {position: 12}) { stamp { position } runs { nodes { id ranking { leader { id } } } } } }",
    (
        "{ runs { nodes { permalink pinnedPermalink citation(format: BIBTEX) { content } lifecycle { dispute { reason } }"
        " attestations { nodes { note run { digest } } } reruns { nodes { state } } issues { totalCount } } } }"
    ),
]


@pytest.mark.parametrize("query", [PAGE, SAID, RERUNS, ENTRIES, GROUPS, OPERATIONS, SOURCES, NODES, *BY_HAND])
async def test_what_is_asked_every_day_needs_no_graphql_core(
    world: Index, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = {"first": 2, "ids": IDS[:-1]}
    projected, plain = await both(world, query, variables)
    assert projected == plain

    async def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("graphql-core was asked")

    monkeypatch.setattr(schema, "execute", refused)
    prepared = DOCUMENTS.prepare(schema, query)
    result = await Api(world).execute(prepared, prepared.operation(None), variables, context_of(world))
    assert response(result) == plain


@pytest.mark.parametrize("with_primary", [True, False])
@pytest.mark.parametrize("without_digest", [True, False])
async def test_directives_decide_each_time(world: Index, *, with_primary: bool, without_digest: bool) -> None:
    query = """query($with: Boolean!, $without: Boolean = false) { runs { nodes {
      shortId digest @skip(if: $without) ... @include(if: $with) { primary { value } } } } }"""
    projected, plain = await both(world, query, {"with": with_primary, "without": without_digest})
    assert projected == plain
    assert (b"primary" in plain, b"digest" in plain) == (with_primary, not without_digest)


async def test_what_is_compiled_is_bounded(world: Index) -> None:
    names = [f"v{number}" for number in range(6)]
    query = f"query({' '.join(f'${name}: Boolean!' for name in names)}) {{ runs {{ nodes {{ digest " + (
        " ".join(f"{name}: shortId @skip(if: ${name})" for name in names) + " } } }"
    )
    prepared = DOCUMENTS.prepare(schema, query)
    for number in range(64):
        variables = {name: bool(number >> bit & 1) for bit, name in enumerate(names)}
        await Api(world).execute(prepared, prepared.operation(None), variables, context_of(world))
        assert 1 <= len(prepared.projections) <= 16
    assert prepared.operation(None).operation is OperationType.QUERY
