"""Connections: whatever is written between pages, a paging shows each row of the snapshot that it began with once."""

import asyncio
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec
import pytest
from graphql import GraphQLObjectType, get_named_type, is_leaf_type, is_required_argument
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from domain.bundles import Bundle, bundle_of
from domain.commands import (
    ApproveRunner,
    AttestRun,
    CloseIssue,
    Command,
    HideAttestation,
    Ingest,
    RegisterSource,
    ReportIssue,
    RequestRerun,
    StartRerun,
    SuspendRunner,
)
from domain.facts import AttestationType, IssueCategory, IssueOutcome
from domain.manifests import Manifest
from domain.principals import LOCAL
from service.api.execute import execute
from service.api.schema import built_schema
from service.app import Index, open_index
from service.settings import Settings
from tests.examples import (
    OPERATION,
    PROJECT,
    PROTOCOL,
    PUBLIC_KEY,
    START,
    WORKLOAD,
    Clock,
    Ids,
    bundle,
    implementation,
    ingest,
    manifest,
    run,
)
from tests.service.api.asking import ask, error_of

schema = built_schema()

SUITE = manifest(
    "WorkloadSuite",
    {
        "operationSpecDigest": OPERATION.digest,
        "cases": [{"externalId": "a", "axes": {"tokens": 1}}],
        "aggregation": {"metric": "latency", "statistic": "mean"},
        "correctness": {"comparator": "exact"},
    },
)
A = run(100, by="a").digest
PARENTS = {
    "Run": A,
    "Ranking": "sha256:90d8fb48eee127a75f5aaad4b87460915c69e585772d6d534fab1c099cf113a2",
    "Operation": OPERATION.digest,
    "WorkloadCase": WORKLOAD.digest,
    "WorkloadSuite": SUITE.digest,
    "Implementation": implementation("a").digest,
    "Project": PROJECT.digest,
    "Hardware": "hardware/nvidia-b200",
    "Source": "source/tern-board",
}
"""One of each type with connections of its own, with rows in each of them."""

THE_GROUP = PARENTS["Ranking"]


class Listed(NamedTuple):
    """A connection: the type and the field that it is, its other arguments, and what tells its rows apart."""

    parent: str
    field: str
    row: str
    arguments: str = ""

    def query(self, index: Index) -> str:
        window = "first: $first, after: $after, last: $last, before: $before"
        inner = f"""{self.field}({self.arguments} {window}) {{
          totalCount position edges {{ cursor node {{ {self.row} }} }} nodes {{ {self.row} }}
          pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }}"""
        if self.parent == "Snapshot":
            inner = f"at(asOf: {{ position: {beginning(index)} }}) {{ {inner} }}"
        elif self.parent != "Query":
            inner = f'node(id: "{PARENTS[self.parent]}") {{ ... on {self.parent} {{ {inner} }} }}'
        return f"query($first: Int, $after: String, $last: Int, $before: String) {{ {inner} }}"

    async def page(self, index: Index, **window: Any) -> dict[str, Any]:
        data = await ask(index, self.query(index), **window)
        within = {"Query": data, "Snapshot": data.get("at")}.get(self.parent, data.get("node"))
        page: dict[str, Any] = within[self.field]
        assert [edge["node"] for edge in page["edges"]] == page["nodes"]
        cursors = [edge["cursor"] for edge in page["edges"]]
        ends = (page["pageInfo"]["startCursor"], page["pageInfo"]["endCursor"])
        assert ends == ((cursors[0], cursors[-1]) if cursors else (None, None))
        return page


def beginning(index: Index) -> int:
    """The position at which the world was complete: that of the save after the one that opened the log."""
    query = "SELECT position FROM saves ORDER BY position LIMIT 1 OFFSET 1"
    return int(index.views.peek(lambda db: db.execute(query).fetchone()[0]))


OF_THE_LOG = ("events", "history")
"""Forward only, by cursors of the log: test_events.py."""


def connections(*, needing_arguments: bool = False) -> Iterator[Listed]:
    """Every connection of the schema that can be asked for without arguments, or that can't."""
    for type_ in schema._schema.type_map.values():
        if isinstance(type_, GraphQLObjectType):
            for name, field in type_.fields.items():
                connection = get_named_type(field.type)
                if isinstance(connection, GraphQLObjectType) and connection.name.endswith("Connection"):
                    needing = any(map(is_required_argument, field.args.values()))
                    if name not in OF_THE_LOG and needing is needing_arguments:
                        yield Listed(type_.name, name, row_of(get_named_type(connection.fields["nodes"].type)))


def row_of(node: Any) -> str:
    """What tells the rows of a connection apart: their ids, else all that they say, with the ids of what they show."""
    if "id" in node.fields:
        return "id"
    said = [name for name, field in node.fields.items() if is_leaf_type(get_named_type(field.type))]
    shown = [name for name, field in node.fields.items() if "id" in getattr(get_named_type(field.type), "fields", ())]
    return " ".join([*said, *(f"{name} {{ id }}" for name in shown)])


def runs(arguments: str) -> Listed:
    return Listed("Query", "runs", "id", arguments)


OF_THE_SCHEMA = tuple(connections())
RUNS, ENTRIES = (
    next(listed for listed in OF_THE_SCHEMA if (listed.parent, listed.field) == wanted)
    for wanted in (("Query", "runs"), ("Ranking", "entries"))
)
FILTERED = (
    *(runs(f"orderBy: {order}") for order in ("RECORDED_AT", "OBSERVED_AT", "PUBLISHED_AT")),
    *(
        runs(f"orderBy: OBSERVED_AT, filter: {{ {criterion} }}")
        for criterion in (
            f'comparisonKey: "{THE_GROUP}"',
            f'workload: "{WORKLOAD.digest}"',
            f'operation: "{OPERATION.digest[7:20]}", eligible: true',
            'source: "local"',
            'hardware: "NVIDIA B200", architecture: "sm_100"',
            'dtype: "bf16", status: TIMEOUT',
            "evidenceAtLeast: REPORTED, eligible: false",
            'observedFrom: "2026-08-02T00:00:00Z", observedTo: "2026-08-03T00:00Z"',
            'publishedFrom: "2026-08-05T00:00:00Z"',
        )
    ),
    Listed("Query", "rankings", "id", f'filter: {{ operation: "{OPERATION.digest}", dtype: "bf16" }}'),
    Listed("Query", "rankings", "id", 'filter: { source: "tern-board", hardware: "nvidia-b200" }'),
    Listed("Query", "operations", "id", 'filter: { family: "rmsnorm" }'),
    Listed("Query", "rerunRequests", "id", f'filter: {{ run: "{A}", hardware: "NVIDIA B200", state: OPEN }}'),
    Listed("Query", "issues", "id", f'filter: {{ run: "{A}", category: OTHER, state: OPEN }}'),
    Listed("Query", "runners", "id", 'filter: { operator: "local", hardware: "nvidia b200", suspended: false }'),
    Listed("Query", "records", "run { id }", "basis: BY_OBSERVATION"),
    Listed("Query", "records", "comparisonKey position cause", f'basis: AS_KNOWN, comparisonKey: "{THE_GROUP}"'),
    Listed("Snapshot", "records", "run { id }", "basis: BY_OBSERVATION"),
)
CONNECTIONS = (*OF_THE_SCHEMA, *FILTERED)


def test_every_type_that_has_a_connection_is_asked_for_one() -> None:
    assert {listed.parent for listed in OF_THE_SCHEMA} == {"Query", "Snapshot", *PARENTS}


def test_every_connection_that_needs_arguments_is_asked_for_with_some() -> None:
    assert {listed[:2] for listed in connections(needing_arguments=True)} <= {listed[:2] for listed in FILTERED}


def protocol(version: str) -> Manifest:
    """Another harness version: another group."""
    return manifest("BenchmarkProtocol", PROTOCOL.spec | {"harness": {"name": "tern-eval", "version": version}})


def in_group(version: str, value: int, by: str, **spec: Any) -> Ingest:
    used = protocol(version)
    one = bundle(value, by=by, protocolDigest=used.digest, **spec)
    assert one.run
    return Ingest(bundle=bundle_of(*(part for part in one.manifests if part.kind != used.kind), used, one.run))


def case_of(size: int) -> Manifest:
    """Another case: another workload of the operation."""
    return manifest("WorkloadCase", WORKLOAD.spec | {"axes": dict.fromkeys(WORKLOAD.spec["axes"], size)})


def on_workload(workload: Manifest, value: int, by: str) -> Ingest:
    one = bundle(value, by=by, workloadDigest=workload.digest)
    assert one.run
    return Ingest(
        bundle=bundle_of(*(part for part in one.manifests if part.digest != WORKLOAD.digest), workload, one.run)
    )


def operation(number: int) -> Ingest:
    """Another operation; every second one has a name that others have."""
    spec = OPERATION.spec | {"axes": {"tokens": {"role": "variable", "type": "integer", "minimum": number + 1}}}
    return Ingest(bundle=bundle_of(manifest("OperationSpec", spec, name=f"rmsnorm-{number // 2}")))


def published(value: int, by: str, day: int) -> Ingest:
    one = bundle(value, by=by)
    return Ingest(bundle=msgspec.structs.replace(one, published_at=f"2026-08-{day:02}T00:00:00Z"))


def about(kind: str, name: str) -> Command:
    """Another runner, request, issue or attestation, of the run A."""
    match kind:
        case "runner":
            host = f"host-{name}"
            return ApproveRunner(
                runner=name, operator="local", host=host, hardware="NVIDIA B200", public_key=PUBLIC_KEY
            )
        case "rerun":
            return RequestRerun(rerun=name, run=A)
        case "issue":
            return ReportIssue(issue=name, run=A, category=IssueCategory.OTHER, text="No title.", salt="s")
        case _:
            return AttestRun(attestation=name, run=A, type=AttestationType.REPRODUCED, note="Same.", salt="s")


WORLD = (
    ingest(100, by="a"),
    ingest(100, by="b"),
    ingest(90, by="c", observedAt="2026-08-02T12:00Z"),
    ingest(100, by="d", observedAt="2026-08-02T12:00:00.5Z"),
    ingest(110, by="e", sourceNative={"source": "tern-board"}),
    ingest(100, by="f", status="timeout"),
    ingest(None, by="g"),
    *(in_group(version, 50, by=by) for version in ("1", "2", "3") for by in ("a", "b")),
    in_group("4", 70, by="a", sourceNative={"source": "tern-board"}),
    published(95, "h", 5),
    published(96, "i", 6),
    Ingest(bundle=Bundle(run=bundle(120, by="unresolved").run)),
    *(operation(number) for number in range(5)),
    *(
        RegisterSource(slug=slug, name=name, kind="leaderboard")
        for slug, name in (("x", "B"), ("y", "A"), ("z", "B"), ("tern-board", "Tern"))
    ),
    *(on_workload(SUITE, 30 + number, by=by) for number, by in enumerate("abc")),
    *(on_workload(case_of(size), 30, by="a") for size in (2, 4)),
    *(about(one, f"{number}") for number in range(3) for one in ("runner", "rerun", "issue", "attestation")),
    RequestRerun(rerun="of-b", run=run(100, by="b").digest),
    ReportIssue(issue="on-b", run=run(100, by="b").digest, category=IssueCategory.LICENSE, text="None.", salt="s"),
)


def insert(kind: int, number: int) -> Command:
    """What is written between pages: something into every list, before, between and behind its rows, and to rows of it."""
    name = f"new-{number}"
    return (
        ingest(80 + number, by=name, observedAt=f"2026-08-0{number % 3 + 1}T12:00:00Z"),
        ingest(100, by=name),
        ingest(100, by=name, status="timeout"),
        in_group("2", 40 + number, by=name),
        in_group(f"new-{number}", 40, by="a"),
        published(97, name, number % 9 + 1),
        operation(5 + number),
        RegisterSource(slug=f"s{number}", name="B", kind="leaderboard"),
        on_workload(case_of(100 + number), 50, by="a"),
        on_workload(SUITE, 25 + number, by=name),
        ingest(105, by=name, sourceNative={"source": "tern-board"}),
        *(about(one, name) for one in ("runner", "rerun", "issue", "attestation")),
        StartRerun(rerun=f"{number % 3}", runner="0", now=START, lease_s=60),
        SuspendRunner(runner="1", reason="its clocks were not locked"),
        CloseIssue(issue=f"{number % 3}", outcome=IssueOutcome.NOTED, note="It has one."),
        HideAttestation(attestation=f"{number % 3}", reason="an advertisement"),
    )[kind]


KINDS = 19


@asynccontextmanager
async def world() -> AsyncIterator[Index]:
    with TemporaryDirectory() as folder:
        async with open_index(Settings(data_dir=Path(folder)), now=Clock(), new_id=Ids()) as index:
            await index.ledger.handle(WORLD, LOCAL)
            yield index


class Window(NamedTuple):
    """``after`` and ``before`` are places in the list, None for the argument not given."""

    size: int
    backward: bool
    after: int | None
    before: int | None


sizes = st.integers(1, 5)
insertions = st.lists(st.integers(0, KINDS - 1), max_size=4)
windows = st.builds(
    Window,
    st.integers(0, 6),
    st.booleans(),
    st.none() | st.integers(0, 20),
    st.none() | st.integers(0, 20),
)


class Paging:
    """One paging through a connection, page by page, by the steps that it is told to make."""

    def __init__(self, listed: Listed, beginning: dict[str, Any], *, backward: bool) -> None:
        self.listed = listed
        self.beginning = beginning
        self.backward = backward
        self.seen: list[Any] = []
        self.cursor: str | None = None
        self.more = True

    async def step(self, index: Index, size: int) -> None:
        if not self.more:
            return
        sizes, cursors = ("last", "before") if self.backward else ("first", "after")
        page = await self.listed.page(index, **{sizes: size, cursors: self.cursor})
        rows = self.beginning["nodes"]
        assert (page["totalCount"], page["position"]) == (len(rows), self.beginning["position"]), self.listed
        self.seen = page["nodes"] + self.seen if self.backward else self.seen + page["nodes"]
        self.cursor = page["pageInfo"]["startCursor" if self.backward else "endCursor"]
        self.more = page["pageInfo"]["hasPreviousPage" if self.backward else "hasNextPage"]
        assert self.more is (len(self.seen) < len(rows)), self.listed


UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)
"""An example takes a second or more: to make a failing one smaller takes minutes."""

directions = st.lists(st.booleans(), min_size=len(CONNECTIONS), max_size=len(CONNECTIONS))


@settings(max_examples=8, deadline=None, phases=UNSHRUNK)
@given(directions, st.lists(st.tuples(sizes, insertions), min_size=1, max_size=6))
def test_paging_visits_each_row_of_the_beginning_once(backward: list[bool], steps: list[tuple[int, list[int]]]) -> None:
    """Of every connection of the schema, all of them paged at the same time, with inserts between the pages."""

    async def paged() -> None:
        async with world() as index:
            pagings = [
                Paging(listed, await listed.page(index, first=100), backward=back)
                for listed, back in zip(CONNECTIONS, backward, strict=True)
            ]
            assert [paging.listed for paging in pagings if not paging.beginning["nodes"]] == []
            for number, (size, inserted) in enumerate([*steps, (100, [])]):
                for paging in pagings:
                    await paging.step(index, size)
                if inserted:
                    await index.ledger.handle([insert(kind, number) for kind in dict.fromkeys(inserted)], LOCAL)
            for paging in pagings:
                assert paging.seen == paging.beginning["nodes"], paging.listed

    asyncio.run(paged())


@settings(max_examples=8, deadline=None, phases=UNSHRUNK)
@given(st.lists(windows, min_size=1, max_size=5), insertions)
def test_a_window_is_a_slice(asked: list[Window], inserted: list[int]) -> None:
    """``first``, ``last``, ``after`` and ``before`` in any combination mean what they mean for a Python list."""

    async def checked() -> None:
        async with world() as index:
            beginnings = [(listed, await listed.page(index, first=100)) for listed in CONNECTIONS]
            if inserted:
                await index.ledger.handle([insert(kind, 1) for kind in dict.fromkeys(inserted)], LOCAL)
            for listed, beginning in beginnings:
                for window in asked:
                    await is_a_slice(index, listed, beginning, window)

    asyncio.run(checked())


async def is_a_slice(index: Index, listed: Listed, beginning: dict[str, Any], window: Window) -> None:
    rows, cursors = beginning["nodes"], [edge["cursor"] for edge in beginning["edges"]]
    after = None if window.after is None else window.after % len(rows)
    before = None if window.before is None else window.before % len(rows)
    between = rows[0 if after is None else after + 1 : before]
    size = {"last" if window.backward else "first": window.size}
    given_cursors = {
        name: cursors[place] for name, place in (("after", after), ("before", before)) if place is not None
    }
    page = await listed.page(index, **size, **given_cursors)
    if given_cursors:
        kept = between[max(0, len(between) - window.size) :] if window.backward else between[: window.size]
        assert page["nodes"] == kept, listed
    if window.backward and before is not None and after is None:
        assert page["pageInfo"]["hasPreviousPage"] is (len(between) > window.size), listed
    if not window.backward and after is not None and before is None:
        assert page["pageInfo"]["hasNextPage"] is (len(between) > window.size), listed


class TestWhatIsRefused:
    @pytest.fixture(autouse=True)
    async def _world(self, index: Index) -> None:
        await index.ledger.handle(WORLD, LOCAL)

    @pytest.mark.parametrize(
        ("window", "path"),
        [
            ({"first": 1, "last": 1}, "first"),
            ({"first": 101}, "first"),
            ({"first": -1}, "first"),
            ({"last": 101}, "last"),
            ({"last": -1}, "last"),
            ({"before": "x"}, "before"),
        ],
    )
    async def test_sizes_that_contradict_each_other_or_the_bounds(
        self, index: Index, window: dict[str, Any], path: str
    ) -> None:
        for listed in OF_THE_SCHEMA:
            error = await error_of(index, listed.query(index), **window)
            assert (error["code"], error["path"]) == ("INVALID_ARGUMENT", path), listed
            assert error["remedy"]

    @pytest.mark.parametrize("side", ["after", "before"])
    async def test_cursors_that_are_none_of_this_list(self, index: Index, side: str) -> None:
        size = {"first": 2} if side == "after" else {"last": 2}
        log_cursor = (await ask(index, "{ stamp { cursor } }"))["stamp"]["cursor"]
        cursors = {listed: (await listed.page(index, first=1))["pageInfo"]["endCursor"] for listed in OF_THE_SCHEMA}
        for listed, cursor in cursors.items():
            elsewhere = cursors[ENTRIES if listed.field == "runs" else RUNS]
            for wrong in (log_cursor, elsewhere, *spoiled(cursor)):
                error = await error_of(index, listed.query(index), **size, **{side: wrong})
                assert (error["code"], error["path"]) == ("INVALID_CURSOR", side), (listed, wrong)
                assert error["remedy"]

    async def test_a_cursor_of_another_log(self, index: Index, tmp_path: Path) -> None:
        async with open_index(Settings(data_dir=tmp_path / "other"), now=Clock(), new_id=lambda: "other") as other:
            await other.ledger.handle(WORLD, LOCAL)
            cursors = {listed: (await listed.page(other, first=1))["pageInfo"]["endCursor"] for listed in OF_THE_SCHEMA}

        for listed, cursor in cursors.items():
            error = await error_of(index, listed.query(index), first=1, after=cursor)
            assert error["code"] == "INVALID_CURSOR", listed

    async def test_a_cursor_of_another_parent(self, index: Index) -> None:
        query = "query($after: String) { operations { nodes { rankings(first: 1, after: $after) { nodes { id } } } } }"
        rankings = next(one for one in OF_THE_SCHEMA if (one.parent, one.field) == ("WorkloadSuite", "rankings"))
        cursor = (await rankings.page(index, first=1))["pageInfo"]["endCursor"]

        response = await execute(index, query, {"after": cursor})

        assert {error["extensions"]["code"] for error in response["errors"]} == {"INVALID_CURSOR"}

    async def test_an_entry_of_a_run_that_was_never_ranked(self, index: Index) -> None:
        cursor = (await ENTRIES.page(index, first=1))["pageInfo"]["endCursor"]
        name, position, _ = msgspec.json.decode(decoded(cursor))

        for forged in ([name, position, ["sha256:0"]], [name, 1, ["sha256:0"]]):
            error = await error_of(index, ENTRIES.query(index), first=1, after=encoded(forged))
            assert error["code"] == "INVALID_CURSOR"

    async def test_ends_of_different_pagings_don_t_fit_together(self, index: Index) -> None:
        early = {listed: (await listed.page(index, first=1))["pageInfo"]["endCursor"] for listed in OF_THE_SCHEMA}
        await index.ledger.handle([ingest(5, by="later")], LOCAL)
        for listed in OF_THE_SCHEMA:
            if listed.parent == "Snapshot":
                # Of one moment there is one paging.
                continue
            late = (await listed.page(index, first=2))["pageInfo"]["endCursor"]

            error = await error_of(index, listed.query(index), first=1, after=early[listed], before=late)

            assert (error["code"], error["path"]) == ("INVALID_ARGUMENT", "before"), listed


def spoiled(cursor: str) -> list[str]:
    """What is nearly this cursor."""
    name, position, key = msgspec.json.decode(decoded(cursor))
    return [
        *("", "x", "é", cursor[:-1], cursor + "=", cursor + "!"),
        encoded([name, position + 1000, key]),
        encoded([name, 0, key]),
        encoded([name, -1, key]),
        encoded([name, position, [*key, "z"]]),
        encoded([name, position, []]),
        encoded([name, position, [None] * len(key)]),
        encoded([name, position, [2**70] * len(key)]),
        encoded([name, position, [{}] * len(key)]),
        encoded([name, position]),
        encoded({"listing": name}),
    ]


async def test_a_page_has_25_rows_unless_told_otherwise(index: Index) -> None:
    await index.ledger.handle([ingest(100 + number, by=f"n{number}") for number in range(30)], LOCAL)

    for listed in (RUNS, ENTRIES):
        page = await listed.page(index)
        assert (len(page["nodes"]), page["totalCount"], page["pageInfo"]["hasNextPage"]) == (25, 30, True)


def decoded(cursor: str) -> bytes:
    return urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))


def encoded(value: Any) -> str:
    return urlsafe_b64encode(msgspec.json.encode(value)).rstrip(b"=").decode()
