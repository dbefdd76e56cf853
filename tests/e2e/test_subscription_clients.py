"""The clients that people use: a query, a mutation, and a subscription across a restart of the server."""

import asyncio
import json
import queue
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from gql import Client, gql
from gql.transport.exceptions import TransportError
from gql.transport.websockets import WebsocketsTransport
from websockets.exceptions import WebSocketException

from domain.commands import Ingest
from domain.facts import RunIngested
from domain.principals import LOCAL, Scope
from service.app import open_index, utc_now
from service.event_log import EventLog
from service.keys import KeyStore
from service.keys.database import KeyDatabase
from service.settings import Settings
from tests.e2e.coming_and_going import free_port, started
from tests.e2e.node import node_with_packages
from tests.examples import bundle
from tests.service.api.asking import texts_of

ROOT = Path(__file__).parent.parent.parent
FOLDER = Path(__file__).parent / "subscription_clients"
CLIENTS = ("graphql-ws", "graphql-ws-retrying", "graphql-sse", "apollo", "urql")
BEFORE, AWAY, AFTER = (200, 300), (400, 500), (600, 700)
EXPECTED = 1 + len(BEFORE) + len(AWAY) + len(AFTER)
WAIT_S = 60
INPUT = {"idempotencyKey": "client", **texts_of(bundle(100))}
SUBSCRIPTION = """subscription ($after: LogCursor) { newRuns(after: $after) {
  __typename ... on LogMessage { cursor position } } }"""


class Story:
    """A served index that is written to, stopped, written to and started again."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack, self._port = folder, stack, free_port()
        self._server = started(stack, folder, self._port)
        self.url = f"http://127.0.0.1:{self._port}"
        database = KeyDatabase(folder)
        stack.callback(database.close)
        keys = KeyStore(database, now=utc_now)
        _, self.key = keys.create(principal="heron", name="CI", scopes=[Scope.INGEST])

    def go_on(self, heard: Callable[[int], None]) -> None:
        """Write, restart, write. ``heard`` waits until the client has heard of so many runs."""
        heard(1)
        self._write(*BEFORE)
        heard(1 + len(BEFORE))
        self._server.stop()
        self._write(*AWAY)
        started(self._stack, self._folder, self._port)
        self._write(*AFTER)
        heard(EXPECTED)

    def positions(self) -> list[int]:
        """Where the log has runs."""
        log = EventLog(self._folder / "log.db")
        found = [place for place, one in enumerate(log.read(0, 1_000), 1) if isinstance(one.recorded.fact, RunIngested)]
        log.close()
        return found

    def _write(self, *values: int) -> None:
        async def write() -> None:
            async with open_index(Settings(data_dir=self._folder), follow=False, level=False) as index:
                for value in values:
                    index.ledger.record([Ingest(bundle=bundle(value))], LOCAL)

        thread = threading.Thread(target=asyncio.run, args=(write(),))
        thread.start()
        thread.join(WAIT_S)


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    with ExitStack() as stack:
        yield Story(tmp_path, stack)


@pytest.fixture(scope="module")
def node() -> str:
    return node_with_packages(FOLDER)


class Talk:
    """What a program prints, line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: queue.Queue[str] = queue.Queue()
        self.heard: list[int] = []
        threading.Thread(target=self._read, daemon=True).start()

    def next(self) -> Any:
        """The next line."""
        line = self._lines.get(timeout=WAIT_S)
        assert line, f"the client has ended: {self._process.stderr and self._process.stderr.read()}"
        return json.loads(line)

    def hear(self, count: int) -> None:
        """Read on until so many runs were heard of."""
        while len(self.heard) < count:
            self.heard.append(self.next()["position"])

    def rest(self) -> list[str]:
        """What it still prints until its end."""
        self._process.wait(timeout=WAIT_S)
        return list(iter(lambda: self._lines.get(timeout=WAIT_S), ""))

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put("")


@contextmanager
def talking(command: list[str]) -> Iterator[Talk]:
    process = subprocess.Popen(command, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield Talk(process)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_hears_of_each_run_once_across_a_restart(client: str, node: str, story: Story) -> None:
    command = [node, "clients.mjs", client, story.url, story.key, json.dumps(INPUT), str(EXPECTED)]
    with talking(command) as talk:
        assert talk.next() == {"written": "IngestRunSuccess"}
        story.go_on(talk.hear)
        assert talk.rest() == []
    assert talk.heard == story.positions()


def test_pythons_gql_hears_of_each_run_once_across_a_restart(story: Story) -> None:
    heard: list[int] = []
    changed = threading.Condition()

    def transport() -> WebsocketsTransport:
        url = story.url.replace("http", "ws") + "/graphql"
        return WebsocketsTransport(url=url, init_payload={"Authorization": f"Bearer {story.key}"})

    async def messages(after: str) -> AsyncIterator[Any]:
        async with Client(transport=transport()) as session:
            query = gql(SUBSCRIPTION)
            query.variable_values = {"after": after}
            async for told in session.subscribe(query):
                yield told["newRuns"]

    async def follow() -> None:
        async with Client(transport=transport()) as session:
            after = (await session.execute(gql("{ stamp { cursor } }")))["stamp"]["cursor"]
            mutation = gql("mutation ($input: IngestRunInput!) { ingestRun(input: $input) { __typename } }")
            mutation.variable_values = {"input": INPUT}
            answer = await session.execute(mutation)
            assert answer["ingestRun"]["__typename"] == "IngestRunSuccess"
        while len(heard) < EXPECTED:
            with suppress(TransportError, WebSocketException, OSError):
                async for told in messages(after):
                    after = told["cursor"]
                    if told["__typename"] == "NewRun":
                        with changed:
                            heard.append(told["position"])
                            changed.notify_all()
                    if len(heard) >= EXPECTED:
                        break
            await asyncio.sleep(0.1)

    def hear(count: int) -> None:
        with changed:
            assert changed.wait_for(lambda: len(heard) >= count, WAIT_S)

    following = threading.Thread(target=asyncio.run, args=(follow(),), daemon=True)
    following.start()
    story.go_on(hear)
    following.join(WAIT_S)
    assert heard == story.positions()


def test_code_generators_make_types_of_the_schema_and_the_published_subscription(node: str) -> None:
    documents = sorted(map(str, (ROOT / "service" / "queries").glob("*.graphql")))
    command = [node, "types.mjs", str(ROOT / "schema.graphql"), *documents]
    ran = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False, timeout=WAIT_S)
    assert ran.returncode == 0, ran.stderr
    assert "export type NewRunsSubscription" in ran.stdout
    assert "{ __typename: 'Lagged', cursor: string, position: number }" in ran.stdout
