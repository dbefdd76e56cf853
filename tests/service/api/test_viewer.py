"""``viewer`` and ``rateLimit``: what a client learns of itself, and nothing of a key's secret."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from domain.principals import Scope
from service.api.schema import built_schema
from service.app import Index
from tests.service.api.asking import ask
from tests.service.site import Site, asked, site

schema = built_schema()

VIEWER = "{ viewer { principal name scopes sources keyId expiresAt } }"


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[Site, httpx.AsyncClient]]:
    async with site(tmp_path) as served:
        yield served


async def test_without_a_key_there_is_no_viewer(served: tuple[Site, httpx.AsyncClient]) -> None:
    _, client = served
    assert (await asked(client, VIEWER)).json()["data"] == {"viewer": None}


async def test_a_key_tells_all_that_it_is_good_for(served: tuple[Site, httpx.AsyncClient]) -> None:
    on, client = served
    key, header = on.key(
        Scope.RERUN,
        Scope.INGEST,
        name="Ana's laptop",
        sources=["tern-board", "a-lab"],
        expires_at=datetime(2027, 1, 31, tzinfo=UTC),
    )
    assert (await asked(client, VIEWER, header)).json()["data"]["viewer"] == {
        "principal": "heron",
        "name": "Ana's laptop",
        "scopes": ["INGEST", "RERUN"],
        "sources": ["a-lab", "tern-board"],
        "keyId": key.id,
        "expiresAt": "2027-01-31T00:00:00.000000Z",
    }


async def test_no_sources_and_all_sources_differ(served: tuple[Site, httpx.AsyncClient]) -> None:
    on, client = served
    query = "{ viewer { sources expiresAt } }"
    own, every = on.key(Scope.INGEST)[1], on.key(Scope.INGEST, sources=None)[1]
    assert (await asked(client, query, own)).json()["data"]["viewer"] == {"sources": [], "expiresAt": None}
    assert (await asked(client, query, every)).json()["data"]["viewer"] == {"sources": None, "expiresAt": None}


async def test_every_scope_has_its_name_in_the_schema(served: tuple[Site, httpx.AsyncClient]) -> None:
    on, client = served
    _, header = on.key(*Scope)
    told = (await asked(client, "{ viewer { scopes } }", header)).json()["data"]["viewer"]["scopes"]
    assert set(told) == {scope.name for scope in Scope}


async def test_in_process_it_is_who_holds_the_log(index: Index) -> None:
    data = await ask(index, "{ viewer { principal name sources keyId } rateLimit { limit remaining } }")
    assert data == {
        "viewer": {"principal": "local", "name": None, "sources": None, "keyId": None},
        "rateLimit": {"limit": 6_000, "remaining": 6_000},
    }


def test_both_are_asked_now_and_of_no_snapshot() -> None:
    """They are fields of Query alone: what can be asked of any position is in Reads."""
    text = schema.as_str()
    reads = text[text.index("interface Reads ") :].partition("\n}")[0]
    query = text[text.index("type Query ") :].partition("\n}")[0]
    assert "  viewer: Viewer\n" in query
    assert "  rateLimit: RateLimit!" in query
    assert "viewer" not in reads
    assert "rateLimit" not in reads
