"""How many SQL statements an operation takes does not depend on how much it returns."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
from graphql import GraphQLObjectType, get_named_type, is_leaf_type, is_required_argument

from domain.bundles import Bundle, bundle_of
from domain.commands import (
    ApproveRunner,
    AttestRun,
    Command,
    Ingest,
    OpenDispute,
    RegisterSource,
    ReportIssue,
    RequestRerun,
    StartRerun,
)
from domain.facts import AttestationType, IssueCategory
from domain.manifests import Manifest
from domain.principals import LOCAL
from service.api.execute import Api
from service.api.schema import DOCUMENTS, built_schema
from service.app import Index
from service.auth import AT_HOME
from tests.examples import OPERATION, PROJECT, PROTOCOL, PUBLIC_KEY, START, WORKLOAD, bundle, implementation, manifest
from tests.service.api.asking import ask
from tests.service.api.test_schema import selection

schema = built_schema()

PAGE = """query($first: Int!) { runs(first: $first) { totalCount nodes {
  digest aliases manifest canonical permalink stamp { position }
  primary { value formatted } evidence { level reasons { fact position } }
  ranking { rank tied groupSize leader { digest ranking { rank } } }
  implementation { name operation { name } project { name aliases } }
  project { name } operation { slug aliases } workload { label operation { name } }
  protocol { harness } environment { hardware { product } }
  source { name } artifacts { digest recorded } duplicates { digest }
} } }"""
SAID = """query($first: Int!) { runs(first: $first) { nodes {
  submittedBy attestationCounts { type count } lifecycle { dispute { reason issue { id } } } } } }"""
RERUNS = """query($first: Int!) { rerunRequests(first: $first) { totalCount nodes {
  state run { digest implementation { name } } runner { host } } } }"""
ISSUES = "query($first: Int!) { issues(first: $first) { totalCount nodes { text run { digest source { name } } } } }"
ENTRIES = """query($first: Int!) { rankings(first: 1) { nodes { operation { name } leader { digest }
  entries(first: $first) { totalCount nodes { rank run { digest implementation { name } source { name } } } } } } }"""
GROUPS = """query($first: Int!) { rankings(first: $first) { nodes {
  size profile leader { digest implementation { name } } operation { name } workload { label }
  protocol { harness } environment { digest } hardware { product } } } }"""
PROOFS = "query($first: Int!) { runs(first: $first) { nodes { citation(proof: true) { proof } } } }"
OPERATIONS = "query($first: Int!) { operations(first: $first) { totalCount nodes { name aliases manifest } } }"
SOURCES = "query($first: Int!) { sources(first: $first) { totalCount nodes { name policy { licence } } } }"
NODES = """query($ids: [ID!]!) { nodes(ids: $ids) { id
  ... on Run { ranking { rank } implementation { name } source { name } }
  ... on Implementation { name operation { name } }
  ... on Ranking { size leader { digest } }
  ... on Event { type digest }
} }"""

SUITE = manifest(
    "WorkloadSuite",
    {
        "operationSpecDigest": OPERATION.digest,
        "cases": [{"externalId": "a", "axes": {"tokens": 1}}],
        "aggregation": {"metric": "latency", "statistic": "mean"},
        "correctness": {"comparator": "exact"},
    },
)

MANY = 100


def numbered(number: int) -> Bundle:
    """A run whose references are shared by no other: another implementation, protocol, environment and source."""
    protocol = manifest("BenchmarkProtocol", PROTOCOL.spec | {"harness": {"name": "h", "version": str(number)}})
    hardware = {"vendor": "nvidia", "product": f"Card {number}", "architecture": "sm_90"}
    environment = manifest("ExecutionEnvironment", {"hardware": hardware, "software": {}})
    log = {"digest": f"sha256:{number:064}", "uri": f"https://example.org/{number}"}
    one = bundle(
        100 + number,
        by=f"n{number}",
        protocolDigest=protocol.digest,
        environmentDigest=environment.digest,
        evidence={"logs": log},
        sourceNative={"source": f"board-{number}", "externalId": "same"},
    )
    kept = [part for part in one.manifests if part.kind not in (protocol.kind, environment.kind)]
    assert one.run
    return bundle_of(*kept, protocol, environment, one.run, record={"aliases": [f"alias-{number}"]})


def operation(number: int) -> Bundle:
    spec = OPERATION.spec | {"axes": {"tokens": {"role": "variable", "type": "integer", "minimum": number + 1}}}
    return bundle_of(manifest("OperationSpec", spec), record={"aliases": [f"operation-{number}"]})


def of_one(number: int) -> tuple[Bundle, ...]:
    """Runs of one implementation: on another workload each, and in another group on one suite each."""
    case = manifest("WorkloadCase", WORKLOAD.spec | {"axes": dict.fromkeys(WORKLOAD.spec["axes"], number + 2)})
    protocol = manifest("BenchmarkProtocol", PROTOCOL.spec | {"harness": {"name": "i", "version": str(number)}})
    on_case = bundle(100 + number, workloadDigest=case.digest)
    on_suite = bundle(100 + number, workloadDigest=SUITE.digest, protocolDigest=protocol.digest)
    assert on_case.run
    assert on_suite.run
    kept = [part for part in on_case.manifests if part.digest not in (WORKLOAD.digest, PROTOCOL.digest)]
    return bundle_of(*kept, PROTOCOL, case, on_case.run), bundle_of(*kept, protocol, SUITE, on_suite.run)


def about(run: Manifest | None, name: str) -> tuple[Command, ...]:
    """A rerun by a runner of its own, an issue with a dispute, and an attestation."""
    assert run
    host, hardware = f"host-{name}", "NVIDIA B200"
    return (
        ApproveRunner(runner=name, operator="local", host=host, hardware=hardware, public_key=PUBLIC_KEY),
        RequestRerun(rerun=name, run=run.digest),
        StartRerun(rerun=name, runner=name, now=START, lease_s=60),
        ReportIssue(issue=name, run=run.digest, category=IssueCategory.OTHER, text="No title.", salt="s"),
        OpenDispute(dispute=name, run=run.digest, blocking=False, reason="no title", issue=name),
        AttestRun(attestation=name, run=run.digest, type=AttestationType.REPRODUCED, note="Same.", salt="s"),
    )


@pytest.fixture(autouse=True)
async def _world(index: Index) -> None:
    """A hundred of everything, and a group of a hundred."""
    numbers = range(MANY)
    commands = [
        *(Ingest(bundle=numbered(number)) for number in numbers),
        *(Ingest(bundle=bundle(100 + number, by=f"n{number}")) for number in numbers),
        *(Ingest(bundle=operation(number)) for number in numbers),
        *(Ingest(bundle=part) for number in numbers for part in of_one(number)),
        *(RegisterSource(slug=f"board-{number}", name=f"Board {number}", kind="board") for number in numbers),
        *(said for number in numbers for said in about(numbered(number).run, f"{number}")),
    ]
    await index.ledger.handle(commands, LOCAL)
    await settle(index)


async def settle(index: Index) -> None:
    """Let nothing run statements but queries: the follower asks nothing more, and what is signed stays signed."""
    await index.follower.stop()
    await index.proving.checkpoint()


@contextmanager
def counted(index: Index) -> Iterator[list[str]]:
    """The statements that are run on the views and on the log, which holds the requests too."""
    seen: list[str] = []

    def note(statement: str) -> None:
        # What the full-text index does inside a statement is traced as a comment; transactions are no statements.
        if not statement.startswith(("--", "BEGIN", "ROLLBACK")):
            seen.append(statement)

    traced(index, note)
    yield seen
    traced(index, None)


def traced(index: Index, note: Callable[[str], None] | None) -> None:
    for connection in connections_of(index):
        # One that is too many for the pool by now is closed, and runs no statement.
        with suppress(sqlite3.ProgrammingError):
            connection.set_trace_callback(note)


def connections_of(index: Index) -> list[sqlite3.Connection]:
    """All connections that can be read through: as many of the log as its pool ever opens at once in these tests."""
    pool = index.log._store._reader.pool
    with ExitStack() as opened:
        for _ in range(pool.pool_size):
            opened.callback(pool.put_connection, pool.get_connection())
        of_log = [one._sqlite_conn for one in pool._in_use.values()]
    return [index.views._peeker, index.views._reader._conn, *of_log]


async def statements(index: Index, query: str, **variables: Any) -> int:
    with counted(index) as seen:
        await ask(index, query, **variables)
    return len(seen)


@pytest.mark.parametrize(
    ("query", "bound"),
    [
        (PAGE, 31),
        (SAID, 5),
        (ENTRIES, 13),
        (GROUPS, 13),
        (OPERATIONS, 6),
        (SOURCES, 4),
        (RERUNS, 8),
        (ISSUES, 7),
        (PROOFS, 20),
    ],
    ids=["runs", "what is said", "ranking entries", "rankings", "operations", "sources", "reruns", "issues", "proofs"],
)
async def test_a_page_takes_as_many_statements_for_100_rows_as_for_10(index: Index, query: str, bound: int) -> None:
    ten = await statements(index, query, first=10)
    hundred = await statements(index, query, first=MANY)

    assert hundred == ten <= bound


PARENTS = {
    "Run": numbered(0).run.digest,  # type: ignore[union-attr]
    "Ranking": "",
    "Operation": OPERATION.digest,
    "WorkloadCase": WORKLOAD.digest,
    "WorkloadSuite": SUITE.digest,
    "Implementation": implementation("heron").digest,
    "Project": PROJECT.digest,
    "Hardware": "hardware/nvidia-b200",
    "Source": "source/local",
}
"""One of each type with connections of its own, with a hundred rows in each. Of rankings the largest one."""


def connections() -> Iterator[tuple[str, str, Any]]:
    """Every connection of the schema: the type and the field that it is, and the type of its rows."""
    for type_ in schema._schema.type_map.values():
        if isinstance(type_, GraphQLObjectType):
            for name, field in type_.fields.items():
                connection = get_named_type(field.type)
                if isinstance(connection, GraphQLObjectType) and connection.name.endswith("Connection"):
                    yield type_.name, name, get_named_type(connection.fields["nodes"].type)


CONNECTIONS = tuple(connections())
ROWS = {row.name: (parent, field, row) for parent, field, row in reversed(CONNECTIONS)}
BESIDE_ROWS = [
    (
        parent,
        field,
        f"{name}{'(first: 2)' if 'first' in inner.args else ''} {{ {selection(get_named_type(inner.type), 2)} }}",
    )
    for parent, field, row in ROWS.values()
    for name, inner in row.fields.items()
    if not is_leaf_type(get_named_type(inner.type)) and not any(map(is_required_argument, inner.args.values()))
]
"""For each type of rows one connection of it, with each field of objects that a row has: connections among them."""


async def page_query(index: Index, parent: str, field: str, of_row: str) -> str:
    count = "" if field in ("events", "history") else "totalCount"
    arguments = "basis: BY_OBSERVATION," if field == "records" else ""
    inner = f"{field}({arguments} first: $first) {{ {count} nodes {{ {of_row} }} }}"
    if parent == "Snapshot":
        position = (await ask(index, "{ stamp { position } }"))["stamp"]["position"]
        inner = f"at(asOf: {{ position: {position} }}) {{ {inner} }}"
    elif parent != "Query":
        found = (await ask(index, "{ rankings(first: 1) { nodes { id } } }"))["rankings"]["nodes"][0]["id"]
        inner = f'node(id: "{PARENTS[parent] or found}") {{ ... on {parent} {{ {inner} }} }}'
    return f"query($first: Int!) {{ {inner} }}"


async def test_so_does_every_connection_with_everything_that_its_rows_have(index: Index) -> None:
    """Of the whole schema, in one index: each connection with its rows' own fields, each type of rows with the rest."""
    of_rows = [(parent, field, selection(row, 1)) for parent, field, row in CONNECTIONS]
    for parent, field, of_row in (*of_rows, *BESIDE_ROWS):
        query = await page_query(index, parent, field, of_row)

        one, hundred = [await unlimited(index, query, first=first) for first in (1, MANY)]

        # One that asks for each row by itself takes as many as there are rows.
        assert max(one, hundred) <= 40, (parent, field, of_row, one, hundred)


async def unlimited(index: Index, query: str, **variables: Any) -> int:
    """The same below what the API lets a query cost, to ask for as much of it as there is."""
    api = Api(index)
    prepared = DOCUMENTS.prepare(schema, query)
    operation_ = prepared.operation(None)
    with counted(index) as seen:
        answered = await api.execute(prepared, operation_, variables, api.context(AT_HOME))
    assert not answered.errors, answered.errors
    return len(seen)


@pytest.mark.parametrize("text", ["gpu:card", "op:rmsnorm", "numbered source:board"])
async def test_so_does_a_search(index: Index, text: str) -> None:
    query = """query($text: String!, $first: Int!) { search(text: $text, first: $first) {
      totalCount hits { matched snippet node { id ... on Run { ranking { rank } implementation { name } } } } } }"""

    ten = await statements(index, query, text=text, first=10)
    hundred = await statements(index, query, text=text, first=MANY)

    # Each kind of hit takes a statement, and a connection's first look into the full-text index two more.
    assert max(ten, hundred) <= 16


async def test_so_does_a_comparison(index: Index) -> None:
    runs = (await ask(index, "{ runs(first: 8) { nodes { digest } } }"))["runs"]["nodes"]
    digests = [run["digest"] for run in runs]
    query = """query($ids: [ID!]!) { compare(ids: $ids) { verdict fields { path } export(format: CSV)
      runs { rank run { digest implementation { name } } } } }"""

    assert await statements(index, query, ids=digests[:2]) == await statements(index, query, ids=digests) <= 10


async def test_so_do_nodes(index: Index) -> None:
    data = await ask(index, "{ runs(first: 100) { nodes { digest comparisonKey } } }")
    runs = [run["digest"] for run in data["runs"]["nodes"]]
    keys = [run["comparisonKey"] for run in data["runs"]["nodes"]]

    def ids(each: int) -> list[str]:
        return [
            *(f"alias-{number}" for number in range(each)),
            *(implementation(f"n{number}").digest[7:20] for number in range(each)),
            *keys[:each],
            *runs[:each],
            *(f"source/board-{number}" for number in range(each)),
            *(f"event/{7 * number + 1}" for number in range(each)),
        ]

    few = await statements(index, NODES, ids=ids(2))
    many = await statements(index, NODES, ids=ids(16))

    assert many == few <= 22


async def test_a_group_is_ranked_once_per_change(index: Index) -> None:
    """Its pages, and the ranks of its runs, are read from the ranking that the first of them made."""
    key = (await ask(index, "{ rankings(first: 1) { nodes { id } } }"))["rankings"]["nodes"][0]["id"]
    query = (
        f'query($first: Int!) {{ ranking(comparisonKey: "{key}") {{ entries(first: $first) {{ nodes {{ rank }} }} }} }}'
    )
    api = Api(index)

    async def ranked() -> int:
        with counted(index) as seen:
            result = await schema.execute(query, variable_values={"first": 50}, context_value=api.context(AT_HOME))
        assert not result.errors
        return sum("eligible" in statement for statement in seen)

    assert [await ranked(), await ranked()] == [1, 0]
    index.follower.start()
    await index.ledger.handle([Ingest(bundle=bundle(1, by="new"))], LOCAL)
    assert [await ranked(), await ranked()] == [1, 0]
    await index.ledger.handle([Ingest(bundle=operation(1_000))], LOCAL)
    assert await ranked() == 0
