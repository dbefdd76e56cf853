"""graphql-transport-ws at its edges, as graphql-ws's own server behaves, on a real server."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from domain.principals import Scope
from service.app import utc_now
from service.http.lifetimes import Lifetimes
from service.keys import Key, KeyStore
from service.keys.database import KeyDatabase
from service.settings import Settings
from service.web import create_app
from tests.examples import bundle
from tests.service.api.asking import texts_of
from tests.service.http.serving import serving

SUBSCRIPTION = "subscription { newRuns { __typename ... on LogMessage { cursor position } } }"
INGEST = "mutation ($input: IngestRunInput!) { ingestRun(input: $input) { __typename } }"
QUICK = Lifetimes(init=0.3, check=0.05, keep_alive=0.1, stuck=0.5)


class Place:
    """A served index and its address."""

    def __init__(self, app: Starlette, url: str, folder: Path) -> None:
        self.app = app
        self.url = url
        self._folder = folder

    def lifetimes(self, lifetimes: Lifetimes) -> None:
        self.app.state.web.sockets.lifetimes = lifetimes

    def key(self, *scopes: Scope) -> tuple[KeyStore, Key, str]:
        """A store of keys, a new one in it, and its text."""
        store = KeyStore(KeyDatabase(self._folder), now=utc_now)
        key, text = store.create(principal="heron", name="CI", scopes=scopes)
        return store, key, text

    @asynccontextmanager
    async def opened(self, **options: Any) -> AsyncIterator[ClientConnection]:
        """A socket that has not said anything."""
        address = self.url.replace("http", "ws") + "/graphql"
        async with connect(address, **{"subprotocols": ["graphql-transport-ws"], **options}) as socket:
            yield socket

    @asynccontextmanager
    async def initialised(self, **payload: Any) -> AsyncIterator[ClientConnection]:
        """A socket that was acknowledged."""
        async with self.opened() as socket:
            await say(socket, type="connection_init", payload=payload)
            assert await heard(socket) == {"type": "connection_ack"}
            yield socket


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("served")
    app = create_app(Settings(data_dir=folder, requests_per_minute=100_000))
    with serving(app, lifespan=True) as url:
        yield Place(app, url, folder)


@pytest.fixture
def place(served: Place) -> Place:
    served.lifetimes(Lifetimes())
    return served


async def say(socket: ClientConnection, **message: Any) -> None:
    await socket.send(json.dumps(message))


async def heard(socket: ClientConnection) -> Any:
    return json.loads(await asyncio.wait_for(socket.recv(), 10))


async def subscribed(socket: ClientConnection, name: str, query: str, **variables: Any) -> None:
    await say(socket, id=name, type="subscribe", payload={"query": query, "variables": variables})


async def closed(socket: ClientConnection) -> tuple[int, str]:
    """The code and reason with which the server ends the connection, whatever it says before."""
    async with asyncio.timeout(10):
        with suppress(ConnectionClosed):
            while True:
                await socket.recv()
    return socket.close_code or 0, socket.close_reason or ""


@pytest.mark.parametrize(
    "message",
    [
        "",
        "not json",
        "null",
        "[]",
        '"ping"',
        "{}",
        '{"type": 1}',
        '{"type": "unknown"}',
        '{"type": "next", "id": "1", "payload": {}}',
        '{"type": "connection_ack"}',
        '{"type": "ping", "payload": 1}',
        '{"type": "subscribe"}',
        '{"type": "subscribe", "id": "", "payload": {"query": "{ __typename }"}}',
        '{"type": "subscribe", "id": 1, "payload": {"query": "{ __typename }"}}',
        '{"type": "subscribe", "id": "1"}',
        '{"type": "subscribe", "id": "1", "payload": {}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": 1}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{ __typename }", "variables": 1}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{ __typename }", "operationName": 1}}',
        '{"type": "complete"}',
        '{"type": "ping", "type": "ping"}',
        "[" * 100_000,
        b"\x00",
    ],
)
async def test_an_invalid_message_ends_the_connection_with_4400(place: Place, message: str | bytes) -> None:
    async with place.initialised() as socket:
        await socket.send(message)
        code, reason = await closed(socket)
    assert code == 4400
    assert "Traceback" not in reason


async def test_two_initialisations_end_it_with_4429(place: Place) -> None:
    async with place.initialised() as socket:
        await say(socket, type="connection_init")
        assert await closed(socket) == (4429, "Too many initialisation requests")


async def test_subscribing_before_the_acknowledgement_ends_it_with_4401(place: Place) -> None:
    async with place.opened() as socket:
        await subscribed(socket, "1", SUBSCRIPTION)
        assert await closed(socket) == (4401, "Unauthorized")


@pytest.mark.parametrize("key", ["Bearer ki_nonsense", "nonsense", 1, {}])
async def test_a_key_that_is_not_taken_ends_it_with_4401(place: Place, key: Any) -> None:
    async with place.opened() as socket:
        await say(socket, type="connection_init", payload={"Authorization": key})
        assert (await closed(socket))[0] == 4401


async def test_who_says_nothing_is_ended_with_4408(place: Place) -> None:
    place.lifetimes(QUICK)
    async with place.opened() as socket:
        assert await closed(socket) == (4408, "Connection initialisation timeout")


async def test_the_same_id_twice_ends_it_with_4409(place: Place) -> None:
    async with place.initialised() as socket:
        await subscribed(socket, "1", SUBSCRIPTION)
        await heard(socket)
        await subscribed(socket, "1", SUBSCRIPTION)
        assert await closed(socket) == (4409, "Subscriber for 1 already exists")


@pytest.mark.parametrize("protocols", [["graphql-ws"], ["soap"], None])
async def test_another_protocol_or_none_ends_it_with_4406(place: Place, protocols: list[str] | None) -> None:
    async with place.opened(subprotocols=protocols) as socket:
        assert await closed(socket) == (4406, "Subprotocol not acceptable")


async def test_a_ping_is_answered_with_its_payload_before_and_after_the_acknowledgement(place: Place) -> None:
    async with place.opened() as socket:
        await say(socket, type="ping", payload={"at": 1})
        assert await heard(socket) == {"type": "pong", "payload": {"at": 1}}
        await say(socket, type="ping")
        assert await heard(socket) == {"type": "pong"}
        await say(socket, type="pong")
        await say(socket, type="connection_init")
        assert await heard(socket) == {"type": "connection_ack"}


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{", "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("query A { __typename } query B { __typename }", "BAD_REQUEST"),
        ("subscription ($after: LogCursor!) { newRuns(after: $after) { __typename } }", "BAD_REQUEST"),
        ('subscription { newRuns(after: "x") { __typename } }', "INVALID_CURSOR"),
        ("subscription { newRuns { __typename } events { __typename } }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { newRuns { " + "... on NewRun { run { " + "ranking { leader { " * 12, "GRAPHQL_PARSE_FAILED"),
    ],
)
async def test_what_can_not_run_is_answered_and_leaves_the_socket_open(place: Place, query: str, code: str) -> None:
    async with place.initialised() as socket:
        for _ in range(2):  # the id is free again
            await subscribed(socket, "1", query)
            answer = await heard(socket)
            assert (answer["id"], answer["type"]) == ("1", "error")
            assert answer["payload"][0]["extensions"]["code"] == code
        await subscribed(socket, "1", "{ __typename }")
        assert (await heard(socket))["payload"]["data"] == {"__typename": "Query"}
        assert await heard(socket) == {"id": "1", "type": "complete"}


async def test_an_unforeseen_error_says_nothing_of_itself(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any) -> None:
        raise ValueError("password=hunter2")

    monkeypatch.setattr(place.app.state.web.sockets.operations._hub, "subscribe", broken)
    async with place.initialised() as socket:
        await subscribed(socket, "1", SUBSCRIPTION)
        answer = await heard(socket)
    assert answer["payload"][0]["message"] == "Unexpected error"
    assert "hunter2" not in json.dumps(answer)


async def test_completing_ends_a_subscription_and_frees_its_id(place: Place) -> None:
    async with place.initialised() as socket:
        await say(socket, id="unknown", type="complete")
        for _ in range(3):
            await subscribed(socket, "1", SUBSCRIPTION)
            assert (await heard(socket))["payload"]["data"]["newRuns"]["__typename"] == "CaughtUp"
            await say(socket, id="1", type="complete")
        await say(socket, type="ping")
        assert await heard(socket) == {"type": "pong"}


async def test_a_mutation_is_run_and_a_subscription_on_the_same_socket_hears_of_it(place: Place) -> None:
    _, _, key = place.key(Scope.INGEST)
    async with place.initialised(Authorization=f"Bearer {key}") as socket:
        await subscribed(socket, "s", SUBSCRIPTION)
        await heard(socket)
        given = {"idempotencyKey": "1", **texts_of(bundle())}
        await subscribed(socket, "m", INGEST, input=given)
        messages = [await heard(socket) for _ in range(3)]
    kinds = {(one["id"], one["type"]) for one in messages}
    assert kinds == {("s", "next"), ("m", "next"), ("m", "complete")}
    (answer,) = (one["payload"] for one in messages if one["id"] == "m" and one["type"] == "next")
    assert answer["data"] == {"ingestRun": {"__typename": "IngestRunSuccess"}}
    assert answer["extensions"]["stamp"]["cursor"]


async def test_without_a_key_nothing_is_written(place: Place) -> None:
    async with place.initialised() as socket:
        await subscribed(socket, "m", INGEST, input={"idempotencyKey": "1", **texts_of(bundle())})
        assert (await heard(socket))["payload"]["data"] == {"ingestRun": {"__typename": "Forbidden"}}


async def test_a_key_that_is_revoked_ends_its_streams_and_no_others(place: Place) -> None:
    place.lifetimes(QUICK)
    store, key, text = place.key(Scope.ATTEST)
    async with place.initialised() as keyless, place.initialised(authorization=f"Bearer {text}") as keyed:
        for socket in (keyless, keyed):
            await subscribed(socket, "1", SUBSCRIPTION)
            await heard(socket)
        store.revoke(key.id)
        code, reason = await closed(keyed)
        assert (code, "not taken any more" in reason) == (4401, True)
        await say(keyless, type="ping")
        assert await heard(keyless) == {"type": "pong"}


async def test_a_twenty_first_operation_is_refused_and_the_others_go_on(place: Place) -> None:
    async with place.initialised() as socket:
        for number in range(20):
            await subscribed(socket, str(number), SUBSCRIPTION)
            await heard(socket)
        await subscribed(socket, "20", SUBSCRIPTION)
        refused = await heard(socket)
        assert (refused["id"], refused["payload"][0]["extensions"]["code"]) == ("20", "RATE_LIMITED")
        await say(socket, id="0", type="complete")
        await subscribed(socket, "20", SUBSCRIPTION)
        assert (await heard(socket))["type"] == "next"


@pytest.mark.parametrize("times", [Lifetimes(check=0.05, idle=0.1), Lifetimes(check=0.05, whole=0.1)])
async def test_an_idle_or_an_old_connection_is_ended_so_that_clients_come_back(place: Place, times: Lifetimes) -> None:
    place.lifetimes(times)
    async with place.initialised() as socket:
        assert (await closed(socket))[0] == 1001


async def test_a_connection_with_a_subscription_is_not_idle(place: Place) -> None:
    place.lifetimes(Lifetimes(check=0.02, idle=0.1))
    async with place.initialised() as socket:
        await subscribed(socket, "1", SUBSCRIPTION)
        await heard(socket)
        await asyncio.sleep(0.3)
        await say(socket, type="ping")
        assert await heard(socket) == {"type": "pong"}


async def test_a_page_of_any_origin_may_open_a_socket(place: Place) -> None:
    async with place.opened(origin="https://elsewhere.example") as socket:
        await say(socket, type="connection_init")
        assert await heard(socket) == {"type": "connection_ack"}


async def test_too_many_connections_are_refused_before_they_are_opened(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, requests_per_minute=2))
    with serving(app, lifespan=True) as url:
        place = Place(app, url, tmp_path)
        async with place.opened(), place.opened():
            with pytest.raises(InvalidStatus) as refused:
                async with place.opened():
                    pass
    assert refused.value.response.status_code == 429


async def test_a_client_that_does_not_read_is_cut_and_the_others_hear_everything(place: Place) -> None:
    """What it is sent piles up only as far as the channel keeps it."""
    place.lifetimes(QUICK)
    _, _, key = place.key(Scope.INGEST)
    fields = " ".join(f"a{number}: manifest" for number in range(25))
    long = f'subscription {{ newRuns(after: "LOG_START") {{ ... on NewRun {{ run {{ {fields} }} }} }} }}'
    async with httpx.AsyncClient(base_url=place.url, headers={"Authorization": f"Bearer {key}"}) as client:
        given = {"idempotencyKey": "1", "bundles": [texts_of(bundle(value)) for value in range(1_001, 1_200)]}
        query = "mutation ($input: IngestRunsInput!) { ingestRuns(input: $input) { __typename } }"
        assert (await client.post("/graphql", json={"query": query, "variables": {"input": given}})).is_success
        async with place.opened(max_queue=1) as socket:
            await say(socket, type="connection_init")
            await heard(socket)
            for number in range(10):
                await subscribed(socket, str(number), long)
            for _ in range(100):
                await asyncio.sleep(0.1)
                if not len(place.app.state.web.sockets.operations._hub):
                    break
    assert not len(place.app.state.web.sockets.operations._hub)
