"""The limits of the index as it is served, each at both sides of its boundary, without a key and with one."""

import asyncio
import gc
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import httpx
import pytest

from domain.principals import Scope
from projections import identities, paging
from tests.service.site import Site, asked, error, site

KIB = 1024


class Served(NamedTuple):
    """A site, a client of it, and the headers of a keyless caller and of two keys."""

    site: Site
    client: httpx.AsyncClient
    nobody: dict[str, str]
    reader: dict[str, str]
    writer: dict[str, str]


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with site(tmp_path, query_timeout_s=0.3) as (one, client):
        _, reader = one.key(Scope.ATTEST)
        _, writer = one.key(Scope.INGEST)
        yield Served(one, client, {}, reader, writer)


def spreads(tokens: int) -> str:
    """A document of exactly so many tokens (an even number), with nothing else about it."""
    return "{__typename " + "...F " * ((tokens - 10) // 2) + "} fragment F on Query {__typename}"


def sized(size: int) -> bytes:
    """A well-formed request of exactly that many bytes."""
    start, end = b'{"query": "{__typename}", "variables": {"a": "', b'"}}'
    return start + b"x" * (size - len(start) - len(end)) + end


def nested(levels: int) -> bytes:
    """A well-formed request whose JSON is nested so deep."""
    return b'{"query": "{__typename}", "variables": ' + b'{"a":' * (levels - 2) + b"[]" + b"}" * (levels - 1)


def code(response: httpx.Response) -> str | None:
    """The code of its error, None where there is none."""
    return None if "errors" not in response.json() else str(error(response)["code"])


def several(count: int, field: str) -> str:
    """A selection of a field under so many names."""
    return " ".join(f"a{number}: {field}" for number in range(count))


def leaders(levels: int) -> str:
    """A query of so many levels, at least 2, along the leaders of groups."""
    inner = "ranking{leader{" * ((levels - 2) // 2) + ("ranking{rank}" if levels % 2 else "shortId")
    return '{run(id: "00000000"){' + inner + "}" * ((levels - 2) // 2 * 2) + "}}"


PAGES_OF_1000 = several(10, "runs(first: 99){nodes{shortId}}")
PARTS = "operation{slug} project{name} implementation{title} protocol{digest} environment{digest} source{slug}"
PAGES_OF_5000 = several(8, f"runs(first: 78){{nodes{{shortId {PARTS} evidence{{level}}}}}}")

WITHIN_AND_BEYOND = {
    "depth": (leaders(12), leaders(13)),
    "aliases": ("{" + several(30, "__typename") + "}", "{" + several(31, "__typename") + "}"),
    "tokens": (spreads(2_000), spreads(2_002)),
    "cost": (f"{{{PAGES_OF_1000}}}", f"{{{PAGES_OF_1000} stamp{{position}}}}"),
    "counts": (
        "{" + several(30, "runs(first: 7){totalCount nodes{shortId}}") + " stamp{position}" + "}",
        "{" + several(30, "runs(first: 8){totalCount nodes{shortId}}") + "}",
    ),
}


@pytest.mark.parametrize(("fits", "over"), WITHIN_AND_BEYOND.values(), ids=WITHIN_AND_BEYOND.keys())
async def test_a_document_at_a_limit_is_answered_and_one_beyond_it_refused(
    served: Served, fits: str, over: str
) -> None:
    assert code(await asked(served.client, fits)) is None
    assert code(await asked(served.client, over)) == "QUERY_TOO_COMPLEX"


async def test_with_a_key_a_query_may_cost_5000(served: Served) -> None:
    fits, over = f"{{{PAGES_OF_5000}}}", f"{{{PAGES_OF_5000} stamp{{position}}}}"
    assert code(await asked(served.client, fits)) == "QUERY_TOO_COMPLEX"
    for key in (served.reader, served.writer):
        assert code(await asked(served.client, fits, key)) is None
        assert error(await asked(served.client, over, key))["requested"] == 5_001


@pytest.mark.parametrize("path", ["/graphql", "/ingest"])
async def test_who_may_ingest_may_send_5_mib_and_everybody_else_256_kib(served: Served, path: str) -> None:
    async def sent(size: int, key: dict[str, str]) -> bool:
        headers = {**key, "Content-Type": "application/json", "Idempotency-Key": f"{size}"}
        response = await served.client.post(path, content=sized(size), headers=headers)
        return "BODY_TOO_LARGE" not in response.text

    assert [await sent(5 * KIB * KIB + more, served.writer) for more in (0, 1)] == [True, False]
    assert [await sent(256 * KIB + more, served.reader) for more in (0, 1)] == [True, False]
    if path == "/graphql":
        assert [await sent(256 * KIB + more, served.nobody) for more in (0, 1)] == [True, False]


async def test_64_levels_of_json_are_read_and_65_are_not(served: Served) -> None:
    headers = {"Content-Type": "application/json"}
    fits, over = [await served.client.post("/graphql", content=nested(levels), headers=headers) for levels in (64, 65)]
    assert (code(fits), code(over)) == (None, "BAD_REQUEST")


async def test_batches_are_off(served: Served) -> None:
    for batch in ([], [{"query": "{__typename}"}]):
        assert code(await served.client.post("/graphql", json=batch)) == "BAD_REQUEST"


INGEST = 'mutation($b: [BundleInput!]!){ingestRuns(input: {bundles: $b, idempotencyKey: "k"}){__typename}}'
ANYTHING = "query($f: RunFilter){runs(filter: $f){totalCount}}"


async def test_variables_hold_2000_values_without_a_key_that_may_ingest(served: Served) -> None:
    """They are coerced before anybody is asked what for: of 17,000 bundles without a key that alone took a second."""
    lists = [["x"] * 998, ["x"] * 999, ["x"] * 1_000]
    for key in (served.nobody, served.reader):
        fits = await asked(served.client, "{__typename}", key, a=lists[0], b=lists[2])
        over = await asked(served.client, "{__typename}", key, a=lists[1], b=lists[2])
        assert (code(fits), code(over)) == (None, "QUERY_TOO_COMPLEX")
    assert code(await asked(served.client, "{__typename}", served.writer, a=lists[2], b=lists[2])) is None


async def test_with_it_they_hold_60000(served: Served) -> None:
    given = {f"a{number}": ["x"] * 999 for number in range(60)}
    fits = await asked(served.client, "{__typename}", served.writer, **given)
    over = await asked(served.client, "{__typename}", served.writer, **given, one="more")
    assert (code(fits), code(over)) == (None, "QUERY_TOO_COMPLEX")


async def test_no_list_in_them_holds_more_than_1000(served: Served) -> None:
    """Up to there the mutation itself says how many it takes."""
    answers = [await asked(served.client, INGEST, served.writer, b=[{"run": "x"}] * count) for count in (1_000, 1_001)]
    assert answers[0].json()["data"] == {"ingestRuns": {"__typename": "InvalidInput"}}
    assert code(answers[1]) == "QUERY_TOO_COMPLEX"


async def test_unknown_fields_end_validation_after_ten(served: Served) -> None:
    """Each would quote the whole literal and look for what was meant: 640 of them took half a second."""
    unknown = {f"field{number}": 1 for number in range(640)}
    literal = ", ".join(f"{name}: 1" for name in unknown)
    written = await asked(served.client, f"{{runs(filter: {{{literal}}}){{totalCount}}}}")
    given = await asked(served.client, ANYTHING, f=unknown)
    assert len(written.json()["errors"]) == 11
    assert "aborted" in written.json()["errors"][-1]["message"]
    assert len(given.json()["errors"]) <= 51


IDS = ", ".join(f'"{number:08}"' for number in range(9))
NINE = f"{{nodes(ids: [{IDS}]){{id}}}}"


@pytest.mark.parametrize(
    ("module", "name", "query"), [(paging, "count", "{runs{totalCount}}"), (identities, "matches", NINE)]
)
async def test_a_query_out_of_time_lets_go_of_the_reader_s_thread(
    served: Served, monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, query: str
) -> None:
    """The statement itself is ended, without a word in the log; another query that it kept waiting is answered."""
    ended: list[str] = []
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))

    def endless(db: sqlite3.Connection, *_: Any) -> None:
        try:
            db.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
        except sqlite3.OperationalError as error:
            ended.append(str(error))
            raise

    with monkeypatch.context() as patched:
        patched.setattr(module, name, endless)
        slow = await asked(served.client, query)
    assert (slow.status_code, code(slow)) == (504, "QUERY_TIMEOUT")
    assert code(await asked(served.client, query)) is None
    gc.collect()
    # On the event loop, for whose turn it was too long, and in the reader's thread, if there was time left for it.
    assert set(ended) == {"interrupted"}
    assert complaints == []
