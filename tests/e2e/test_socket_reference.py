"""The same conversations with our server and with that of the graphql-ws package: they answer alike."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from service.http.lifetimes import Lifetimes
from service.settings import Settings
from service.web import create_app
from tests.e2e.node import node_with_packages
from tests.service.http.serving import serving

FOLDER = Path(__file__).parent / "subscription_clients"
PAUSE_S, PATIENCE_S = 0.3, 3
INIT = {"type": "connection_init"}
SILENT = "%silence%"
"""Stands for a subscription that tells nothing for now, in the words of each schema."""


class Servers(NamedTuple):
    """The addresses of the two."""

    ours: str
    theirs: str


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    node = node_with_packages(FOLDER)
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("served"), requests_per_minute=100_000))
    command = [node, "reference.mjs"]
    with (
        serving(app, lifespan=True) as url,
        subprocess.Popen(command, cwd=FOLDER, stdout=subprocess.PIPE, text=True) as reference,
    ):
        app.state.web.sockets.lifetimes = Lifetimes(init=2)
        port = reference.stdout.readline().strip() if reference.stdout else ""
        yield Servers(url.replace("http", "ws"), f"ws://127.0.0.1:{port}")
        reference.kill()


def subscribe(query: Any, name: Any = "1", **payload: Any) -> dict[str, Any]:
    return {"id": name, "type": "subscribe", "payload": {"query": query, **payload}}


CONVERSATIONS: dict[str, list[Any]] = {
    "nothing at all": [],
    "no JSON": ["{"],
    "a list": [[]],
    "a number": [1],
    "null": [None],
    "an unknown type": [{"type": "unknown"}],
    "no type": [{}],
    "an operation without an id": [INIT, {"type": "subscribe", "payload": {"query": "{ __typename }"}}],
    "an empty id": [INIT, subscribe("{ __typename }", "")],
    "an id that is a number": [INIT, subscribe("{ __typename }", 1)],
    "an operation without a payload": [INIT, {"id": "1", "type": "subscribe"}],
    "a query that is no text": [INIT, subscribe(1)],
    "variables that are no object": [INIT, subscribe("{ __typename }", variables=1)],
    "a name that is no text": [INIT, subscribe("{ __typename }", operationName=1)],
    "nulls where nothing is meant": [INIT, subscribe("{ __typename }", variables=None, operationName=None)],
    "an operation before the beginning": [subscribe("{ __typename }")],
    "a second beginning": [INIT, INIT],
    "an operation under a name that is in use": [INIT, subscribe(SILENT), subscribe(SILENT)],
    "another operation under another name": [INIT, subscribe(SILENT), subscribe("{ __typename }", "2")],
    "a name again that has been completed": [
        INIT,
        subscribe(SILENT),
        {"id": "1", "type": "complete"},
        subscribe("{a}"),
    ],
    "the end of what never began": [INIT, {"id": "9", "type": "complete"}, subscribe("{ __typename }")],
    "a ping before the beginning": [{"type": "ping"}, INIT],
    "a ping with a payload": [INIT, {"type": "ping", "payload": {"any": ["thing"]}}],
    "a ping with a payload that is no object": [INIT, {"type": "ping", "payload": 1}],
    "a pong": [INIT, {"type": "pong"}, {"type": "pong", "payload": {"a": 1}}],
    "an unknown field, and on": [INIT, subscribe("{ nothing }"), subscribe("{ __typename }", "2")],
    "an operation that is not there": [INIT, subscribe("query A { __typename }", operationName="B")],
    "a query": [INIT, subscribe("{ __typename }")],
}


BETTER: dict[str, tuple[list[Any], list[Any]]] = {
    "what only servers say": ([INIT, {"type": "connection_ack"}], [{"type": "connection_ack"}, 4400]),
    "an error of syntax, and on": (
        [INIT, subscribe("{"), subscribe("{ __typename }", "2")],
        [
            {"type": "connection_ack"},
            {"id": "1", "type": "error", "errors": True},
            {"id": "2", "type": "next", "about": {"__typename": "Query"}},
            {"id": "2", "type": "complete"},
            None,
        ],
    ),
}
"""Where that server ends the connection with 4500, as if something were wrong inside; and what ours says."""


async def test_both_answer_alike(servers: Servers) -> None:
    ours, theirs = await asyncio.gather(
        all_heard(servers.ours, CONVERSATIONS, "subscription { newRuns { __typename } }"),
        all_heard(servers.theirs, CONVERSATIONS, "subscription { silence }"),
    )
    assert ours == theirs


async def test_ours_tells_a_mistake_of_the_client_from_one_of_the_server(servers: Servers) -> None:
    said = {name: conversation for name, (conversation, _) in BETTER.items()}
    assert await all_heard(servers.ours, said, "") == {name: answer for name, (_, answer) in BETTER.items()}
    assert {answer[-1] for answer in (await all_heard(servers.theirs, said, "")).values()} == {4500}


@pytest.mark.parametrize("offered", ["graphql-ws", "something"])
async def test_both_refuse_another_protocol(servers: Servers, offered: str) -> None:
    assert await spoken(servers.ours, offered) == await spoken(servers.theirs, offered) == 4406


async def all_heard(address: str, conversations: dict[str, list[Any]], silent: str) -> dict[str, list[Any]]:
    """What a server answers to each of several conversations at the same time."""
    answers = await asyncio.gather(*(heard(address, one, silent) for one in conversations.values()))
    return dict(zip(conversations, answers, strict=True))


async def heard(address: str, conversation: list[Any], silent: str) -> list[Any]:
    """What a server says to a conversation, in order, and the code with which it closes; None where it does not."""
    said: list[str | bytes] = []
    async with connect(f"{address}/graphql", subprotocols=[Subprotocol("graphql-transport-ws")]) as socket:
        with suppress(ConnectionClosed):
            for message in conversation:
                text = message if isinstance(message, str) else json.dumps(message).replace(SILENT, silent)
                await socket.send(text)
                await asyncio.sleep(PAUSE_S)  # what it brings about comes before the next
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE_S):
                    while True:
                        said.append(await socket.recv())
        told = [brief(json.loads(text)) for text in said]
        return [*(one for one in told if one.get("about") != "CaughtUp"), socket.close_code]


def brief(message: dict[str, Any]) -> dict[str, Any]:
    """A message without what differs by schema: results and the texts of errors."""
    payload = message.get("payload")
    match message["type"]:
        case "next":
            data = payload["data"] if isinstance(payload, dict) else {}
            told = data.get("newRuns")
            return {**{key: message[key] for key in ("id", "type")}, "about": told["__typename"] if told else data}
        case "error":
            return {"id": message["id"], "type": "error", "errors": isinstance(payload, list)}
        case _:
            return message


async def spoken(address: str, offered: str) -> int | None:
    """The code with which a server ends a connection of another protocol."""
    try:
        async with connect(f"{address}/graphql", subprotocols=[Subprotocol(offered)]) as socket:
            with suppress(ConnectionClosed, TimeoutError):
                await asyncio.wait_for(socket.recv(), PATIENCE_S)
            return socket.close_code
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else None
