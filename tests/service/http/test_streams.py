"""Server-sent events: graphql-sse's distinct connections, and what a browser's EventSource does by itself."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest
from starlette.applications import Starlette

from domain.commands import Ingest
from domain.principals import LOCAL, Scope
from service.app import utc_now
from service.http.lifetimes import Lifetimes
from service.keys import KeyStore
from service.keys.database import KeyDatabase
from service.settings import Settings
from service.web import create_app
from tests.examples import bundle
from tests.service.http.serving import serving

SUBSCRIPTION = "subscription ($after: LogCursor) { newRuns(after: $after) { __typename ... on LogMessage { cursor } } }"
ACCEPT = {"Accept": "text/event-stream"}


class Event(NamedTuple):
    """An event as it stands on the wire; a comment is one of no kind."""

    kind: str
    data: Any
    id: str | None = None


class Place(NamedTuple):
    """A served index and its address."""

    app: Starlette
    url: str
    folder: Path

    @asynccontextmanager
    async def streaming(self, query: str = SUBSCRIPTION, **headers: str) -> AsyncIterator[AsyncIterator[Event]]:
        """The events of an operation that is sent by POST."""
        async with (
            httpx.AsyncClient(base_url=self.url, timeout=10) as client,
            client.stream("POST", "/graphql/stream", json={"query": query}, headers=ACCEPT | headers) as response,
        ):
            assert response.status_code == 200
            assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
            assert response.headers["access-control-allow-origin"] == "*"
            yield events(response)

    def ingest(self, *values: int) -> None:
        """Write runs as another process does."""
        for value in values:
            self.app.state.web._index.ledger.record([Ingest(bundle=bundle(value))], LOCAL)


async def events(response: httpx.Response) -> AsyncIterator[Event]:
    """The events of a response."""
    text = ""
    async for chunk in response.aiter_text():
        text += chunk
        while "\n\n" in text:
            block, _, text = text.partition("\n\n")
            parts = (line.partition(": ") for line in block.splitlines())
            fields = {name: value for name, _, value in parts}
            data = fields.get("data") or None
            yield Event(fields.get("event", ""), msgspec.json.decode(data) if data else None, fields.get("id"))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    app = create_app(Settings(data_dir=tmp_path))
    with serving(app, lifespan=True) as url:
        yield Place(app, url, tmp_path)


async def test_each_event_has_its_cursor_as_id(place: Place) -> None:
    async with place.streaming() as told:
        opening = await anext(told)
        place.ingest(1)
        run = await anext(told)
    assert (opening.kind, opening.data["data"]["newRuns"]["__typename"]) == ("next", "CaughtUp")
    assert (run.kind, run.data["data"]["newRuns"]["__typename"]) == ("next", "NewRun")
    assert [one.id for one in (opening, run)] == [one.data["data"]["newRuns"]["cursor"] for one in (opening, run)]


async def test_last_event_id_goes_on_where_it_was_cut_off(place: Place) -> None:
    place.ingest(1, 2, 3)
    everything = SUBSCRIPTION.replace("after: $after", 'after: "LOG_START"').replace("($after: LogCursor)", "")
    async with place.streaming(everything) as told:
        first = [await anext(told) for _ in range(2)]
    async with place.streaming(everything, **{"Last-Event-ID": str(first[-1].id)}) as told:
        rest = [await anext(told) for _ in range(2)]
    assert [one.data["data"]["newRuns"]["__typename"] for one in rest] == ["NewRun", "CaughtUp"]
    assert len({one.id for one in [*first, rest[0]]}) == 3


async def test_a_query_is_answered_once_and_completed(place: Place) -> None:
    async with place.streaming("{ __typename }") as told:
        answer, end = [one async for one in told]
    assert answer.data["data"] == {"__typename": "Query"}
    assert end == Event("complete", None)


@pytest.mark.parametrize(
    ("query", "code"),
    [("{", "GRAPHQL_PARSE_FAILED"), ("{ nothing }", "GRAPHQL_VALIDATION_FAILED")],
)
async def test_what_can_not_run_is_told_in_the_stream_and_completed(place: Place, query: str, code: str) -> None:
    async with place.streaming(query) as told:
        answer, end = [one async for one in told]
    assert answer.data["errors"][0]["extensions"]["code"] == code
    assert end.kind == "complete"


async def test_a_last_event_id_that_is_no_cursor_is_an_error(place: Place) -> None:
    async with place.streaming(**{"Last-Event-ID": "7"}) as told:
        answer = await anext(told)
    extensions = answer.data["errors"][0]["extensions"]
    assert (extensions["code"], extensions["path"]) == ("INVALID_CURSOR", "Last-Event-ID")


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"method": "POST", "json": {"query": "{ __typename }"}, "headers": {"Accept": "application/json"}}, 406),
        ({"method": "POST", "content": b"{", "headers": ACCEPT | {"Content-Type": "application/json"}}, 400),
        ({"method": "POST", "content": b"{}", "headers": ACCEPT | {"Content-Type": "text/plain"}}, 415),
        ({"method": "POST", "json": {}, "headers": ACCEPT}, 400),
        ({"method": "GET", "headers": ACCEPT}, 400),
        ({"method": "PUT", "json": {"query": "{ __typename }"}, "headers": ACCEPT}, 405),
        ({"method": "POST", "json": {}, "headers": ACCEPT | {"Authorization": "Bearer ki_nonsense"}}, 401),
    ],
)
async def test_what_is_no_request_is_refused_in_json(place: Place, request_: dict[str, Any], status: int) -> None:
    async with httpx.AsyncClient(base_url=place.url) as client:
        answer = await client.request(url="/graphql/stream", **request_)
    assert answer.status_code == status
    assert answer.json()["errors"][0]["extensions"]["code"]


async def test_an_event_source_subscribes_by_get_but_a_link_writes_nothing(place: Place) -> None:
    async with httpx.AsyncClient(base_url=place.url, headers=ACCEPT, timeout=10) as client:
        async with client.stream("GET", "/graphql/stream", params={"query": SUBSCRIPTION}) as response:
            assert (await anext(events(response))).data["data"]["newRuns"]["__typename"] == "CaughtUp"
        answer = await client.get("/graphql/stream", params={"query": "mutation { __typename }"})
    assert "METHOD_NOT_ALLOWED" in answer.text


async def test_a_quiet_stream_shows_signs_of_life(place: Place) -> None:
    place.app.state.web.streams.lifetimes = Lifetimes(keep_alive=0.05)
    async with place.streaming() as told:
        await anext(told)
        assert await anext(told) == Event("", None)


async def test_a_key_that_is_revoked_ends_its_stream(place: Place) -> None:
    place.app.state.web.streams.lifetimes = Lifetimes(check=0.05)
    store = KeyStore(KeyDatabase(place.folder), now=utc_now)
    key, text = store.create(principal="heron", name="CI", scopes=[Scope.ATTEST])
    async with place.streaming(Authorization=f"Bearer {text}") as told:
        await anext(told)
        store.revoke(key.id)
        answer, end = [one async for one in told]
    assert answer.data["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
    assert end.kind == "complete"


async def test_an_old_stream_ends_without_completing_so_that_clients_come_back(place: Place) -> None:
    place.app.state.web.streams.lifetimes = Lifetimes(check=0.05, whole=0.1)
    async with place.streaming() as told:
        assert [one.kind async for one in told] == ["next"]


async def test_when_the_server_stops_streams_end(place: Place) -> None:
    async with place.streaming() as told:
        await anext(told)
        place.app.state.web.streams.end()
        assert [one async for one in told] == []


async def test_who_leaves_is_forgotten(place: Place) -> None:
    hub = place.app.state.web.streams.operations._hub
    async with place.streaming() as told:
        await anext(told)
        assert len(hub) == 1
    async with httpx.AsyncClient(base_url=place.url) as client:
        for _ in range(100):
            await client.get("/healthz")
            if not len(hub):
                break
    assert not len(hub)
