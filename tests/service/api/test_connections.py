"""Connections: whatever is written between pages, a paging shows each row of the snapshot that it began with once."""

import asyncio
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec
import pytest
from graphql import GraphQLObjectType, get_named_type
from hypothesis import given, settings
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
from service.api.schema import schema
from service.app import Index, open_index
from service.settings import Settings
from tests.examples import OPERATION, PROTOCOL, PUBLIC_KEY, START, WORKLOAD, Clock, Ids, bundle, ingest, manifest, run
from tests.service.api.asking import ask, error_of


class Listed(NamedTuple):
    """A connection: the field that it is, its other arguments, and what tells its rows apart."""

    field: str
    arguments: str = ""
    row: str = "id"
    within: str = ""

    def query(self) -> str:
        window = "first: $first, after: $after, last: $last, before: $before"
        page = f"""({self.arguments} {window}) {{
          totalCount position edges {{ cursor node {{ {self.row} }} }} nodes {{ {self.row} }}
          pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }}"""
        inner = f"{self.field}{page}"
        if self.within:
            inner = f"{self.within} {{ {inner} }}"
        return f"query($first: Int, $after: String, $last: Int, $before: String) {{ {inner} }}"

    async def page(self, index: Index, **window: Any) -> dict[str, Any]:
        data = await ask(index, self.query(), **window)
        parent = next(iter(data.values())) if self.within else data
        page: dict[str, Any] = parent[self.field]
        assert [edge["node"] for edge in page["edges"]] == page["nodes"]
        cursors = [edge["cursor"] for edge in page["edges"]]
        ends = (page["pageInfo"]["startCursor"], page["pageInfo"]["endCursor"])
        assert ends == ((cursors[0], cursors[-1]) if cursors else (None, None))
        return page


A = run(100, by="a").digest
THE_GROUP = "sha256:90d8fb48eee127a75f5aaad4b87460915c69e585772d6d534fab1c099cf113a2"

CONNECTIONS = (
    Listed("runs"),
    *(Listed("runs", f"orderBy: {order}") for order in ("RECORDED_AT", "OBSERVED_AT", "PUBLISHED_AT")),
    *(
        Listed("runs", f"orderBy: OBSERVED_AT, filter: {{ {criterion} }}")
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
    Listed("rankings"),
    Listed("rankings", f'filter: {{ operation: "{OPERATION.digest}", dtype: "bf16" }}'),
    Listed("rankings", 'filter: { source: "tern-board", hardware: "nvidia-b200" }'),
    Listed("entries", row="rank value run { id }", within=f'ranking(comparisonKey: "{THE_GROUP}")'),
    Listed("operations"),
    Listed("operations", 'filter: { family: "rmsnorm" }'),
    Listed("sources"),
    Listed("rerunRequests"),
    Listed("rerunRequests", f'filter: {{ run: "{A}", hardware: "NVIDIA B200", state: OPEN }}'),
    Listed("issues"),
    Listed("issues", f'filter: {{ run: "{A}", category: OTHER, state: OPEN }}'),
    Listed("runners"),
    Listed("runners", 'filter: { operator: "local", hardware: "nvidia b200", suspended: false }'),
    Listed("records", "basis: BY_OBSERVATION", row="run { id }"),
    Listed("records", f'basis: AS_KNOWN, comparisonKey: "{THE_GROUP}"', row="comparisonKey position cause"),
    *(Listed(field, within=f'run(id: "{A}")') for field in ("attestations", "reruns", "issues")),
)


def test_every_connection_of_the_schema_is_here() -> None:
    fields = {
        name
        for type_ in schema._schema.type_map.values()
        if isinstance(type_, GraphQLObjectType)
        for name, field in type_.fields.items()
        if get_named_type(field.type).name.endswith("Connection")
    }

    of_the_log = {"events", "history"}  # forward only, by cursors of the log: test_events.py
    assert fields - of_the_log == {listed.field for listed in CONNECTIONS}


def protocol(version: str) -> Manifest:
    """Another harness version: another group."""
    return manifest("BenchmarkProtocol", PROTOCOL.spec | {"harness": {"name": "tern-eval", "version": version}})


def in_group(version: str, value: int, by: str, **spec: Any) -> Ingest:
    used = protocol(version)
    one = bundle(value, by=by, protocolDigest=used.digest, **spec)
    assert one.run
    return Ingest(bundle=bundle_of(*(part for part in one.manifests if part.kind != used.kind), used, one.run))


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
    *(RegisterSource(slug=slug, name=name, kind="leaderboard") for slug, name in (("x", "B"), ("y", "A"), ("z", "B"))),
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
        *(about(one, name) for one in ("runner", "rerun", "issue", "attestation")),
        StartRerun(rerun=f"{number % 3}", runner="0", now=START, lease_s=60),
        SuspendRunner(runner="1", reason="its clocks were not locked"),
        CloseIssue(issue=f"{number % 3}", outcome=IssueOutcome.NOTED, note="It has one."),
        HideAttestation(attestation=f"{number % 3}", reason="an advertisement"),
    )[kind]


KINDS = 16


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
insertions = st.lists(st.integers(0, KINDS - 1), max_size=2)
windows = st.builds(
    Window,
    st.integers(0, 6),
    st.booleans(),
    st.none() | st.integers(0, 20),
    st.none() | st.integers(0, 20),
)


@settings(max_examples=35, deadline=None)
@given(st.sampled_from(CONNECTIONS), st.booleans(), st.lists(st.tuples(sizes, insertions), min_size=1, max_size=12))
def test_paging_visits_each_row_of_the_beginning_once(
    listed: Listed, backward: bool, steps: list[tuple[int, list[int]]]
) -> None:
    async def paged() -> None:
        async with world() as index:
            beginning = await listed.page(index, first=100)
            rows, seen, cursor = beginning["nodes"], list[Any](), None
            assert rows, "a list without rows shows nothing"
            for number, (size, inserted) in enumerate([*steps, *[(3, list[int]())] * len(rows)]):
                window = {"last": size, "before": cursor} if backward else {"first": size, "after": cursor}
                page = await listed.page(index, **window)
                assert (page["totalCount"], page["position"]) == (len(rows), beginning["position"])
                seen = page["nodes"] + seen if backward else seen + page["nodes"]
                cursor = page["pageInfo"]["startCursor" if backward else "endCursor"]
                more = page["pageInfo"]["hasPreviousPage" if backward else "hasNextPage"]
                assert more is (len(seen) < len(rows))
                if not more:
                    break
                for kind in inserted:
                    await index.ledger.handle([insert(kind, number)], LOCAL)
            assert seen == rows

    asyncio.run(paged())


@settings(max_examples=35, deadline=None)
@given(st.sampled_from(CONNECTIONS), st.lists(windows, min_size=1, max_size=6), insertions)
def test_a_window_is_a_slice(listed: Listed, asked: list[Window], inserted: list[int]) -> None:
    """``first``, ``last``, ``after`` and ``before`` in any combination mean what they mean for a Python list."""

    async def checked() -> None:
        async with world() as index:
            beginning = await listed.page(index, first=100)
            rows, cursors = beginning["nodes"], [edge["cursor"] for edge in beginning["edges"]]
            for number, kind in enumerate(inserted):
                await index.ledger.handle([insert(kind, number)], LOCAL)
            for window in asked:
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
                    assert page["nodes"] == kept
                if window.backward and before is not None and after is None:
                    assert page["pageInfo"]["hasPreviousPage"] is (len(between) > window.size)
                if not window.backward and after is not None and before is None:
                    assert page["pageInfo"]["hasNextPage"] is (len(between) > window.size)

    asyncio.run(checked())


class TestWhatIsRefused:
    @pytest.fixture(autouse=True)
    async def _world(self, index: Index) -> None:
        await index.ledger.handle(WORLD, LOCAL)

    @pytest.fixture(
        params={(one.field, one.within): one for one in CONNECTIONS}.values(), ids=lambda one: str(one.field)
    )
    def listed(self, request: pytest.FixtureRequest) -> Listed:
        connection: Listed = request.param
        return connection

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
        self, index: Index, listed: Listed, window: dict[str, Any], path: str
    ) -> None:
        error = await error_of(index, listed.query(), **window)

        assert (error["code"], error["path"]) == ("INVALID_ARGUMENT", path)
        assert error["remedy"]

    @pytest.mark.parametrize("side", ["after", "before"])
    async def test_cursors_that_are_none_of_this_list(self, index: Index, listed: Listed, side: str) -> None:
        size = {"first": 2} if side == "after" else {"last": 2}
        cursor = (await listed.page(index, first=1))["pageInfo"]["endCursor"]
        other = CONNECTIONS[0] if listed.field != "runs" else CONNECTIONS[-1]
        log_cursor = (await ask(index, "{ stamp { cursor } }"))["stamp"]["cursor"]
        elsewhere = (await other.page(index, first=1))["pageInfo"]["endCursor"]
        name, position, key = msgspec.json.decode(decoded(cursor))
        for wrong in (
            "",
            "x",
            "é",
            cursor[:-1],
            cursor + "=",
            cursor + "!",
            log_cursor,
            elsewhere,
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
        ):
            error = await error_of(index, listed.query(), **size, **{side: wrong})
            assert (error["code"], error["path"]) == ("INVALID_CURSOR", side), wrong
            assert error["remedy"]

    async def test_a_cursor_of_another_log(self, index: Index, listed: Listed, tmp_path: Path) -> None:
        async with open_index(Settings(data_dir=tmp_path / "other"), now=Clock(), new_id=lambda: "other") as other:
            await other.ledger.handle(WORLD, LOCAL)
            cursor = (await listed.page(other, first=1))["pageInfo"]["endCursor"]

        error = await error_of(index, listed.query(), first=1, after=cursor)

        assert error["code"] == "INVALID_CURSOR"

    async def test_an_entry_of_a_run_that_was_never_ranked(self, index: Index) -> None:
        entries = next(listed for listed in CONNECTIONS if listed.field == "entries")
        cursor = (await entries.page(index, first=1))["pageInfo"]["endCursor"]
        name, position, _ = msgspec.json.decode(decoded(cursor))

        for forged in ([name, position, ["sha256:0"]], [name, 1, ["sha256:0"]]):
            error = await error_of(index, entries.query(), first=1, after=encoded(forged))
            assert error["code"] == "INVALID_CURSOR"

    async def test_ends_of_different_pagings_don_t_fit_together(self, index: Index, listed: Listed) -> None:
        early = (await listed.page(index, first=1))["pageInfo"]["endCursor"]
        await index.ledger.handle([ingest(5, by="later")], LOCAL)
        late = (await listed.page(index, first=2))["pageInfo"]["endCursor"]

        error = await error_of(index, listed.query(), first=1, after=early, before=late)

        assert (error["code"], error["path"]) == ("INVALID_ARGUMENT", "before")


async def test_a_page_has_25_rows_unless_told_otherwise(index: Index) -> None:
    await index.ledger.handle([ingest(100 + number, by=f"n{number}") for number in range(30)], LOCAL)

    within = f'ranking(comparisonKey: "{THE_GROUP}")'
    for listed in (CONNECTIONS[0], Listed("entries", row="rank", within=within)):
        page = await listed.page(index)
        assert (len(page["nodes"]), page["totalCount"], page["pageInfo"]["hasNextPage"]) == (25, 30, True)


def decoded(cursor: str) -> bytes:
    return urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))


def encoded(value: Any) -> str:
    return urlsafe_b64encode(msgspec.json.encode(value)).rstrip(b"=").decode()
