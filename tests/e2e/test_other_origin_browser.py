"""A page of somebody else's site in a real browser: a query, a mutation, and subscriptions across a restart."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.test_subscription_clients import EXPECTED, INPUT, SUBSCRIPTION, Story, story

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["story"]

MUTATION = "mutation ($input: IngestRunInput!) { ingestRun(input: $input) { __typename } }"
WAIT_MS = 60_000
PAGE = """<!doctype html><meta charset="utf-8"><title>Elsewhere</title>
<script>
  const heard = { socket: [], events: [] }
  const asked = async (url, query, variables, headers) => {
    const body = JSON.stringify({ query, variables })
    const options = { method: "POST", body, headers: { "Content-Type": "application/json", ...headers } }
    const answer = await fetch(`${url}/graphql`, options)
    return { ...(await answer.json()), rate: answer.headers.get("RateLimit") }
  }
  const take = (list, payload) => {
    const told = payload.data.newRuns
    if (told.__typename === "NewRun") list.push(told.position)
    return told.cursor
  }
  // A socket opens anew with the cursor that it heard last; an EventSource does so by itself.
  const overSocket = (url, query, after) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/graphql`, "graphql-transport-ws")
    socket.onopen = () => socket.send(JSON.stringify({ type: "connection_init" }))
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data)
      if (message.type === "connection_ack") {
        socket.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query, variables: { after } } }))
      } else if (message.type === "next") after = take(heard.socket, message.payload)
    }
    socket.onclose = () => setTimeout(() => overSocket(url, query, after), 200)
  }
  const overEvents = (url, query, after) => {
    const named = new URLSearchParams({ query, variables: JSON.stringify({ after }) })
    const source = new EventSource(`${url}/graphql/stream?${named}`)
    source.addEventListener("next", ({ data, lastEventId }) => {
      take(heard.events, JSON.parse(data))
      after = lastEventId
    })
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) setTimeout(() => overEvents(url, query, after), 200)
    }
  }
</script>"""


@contextmanager
def elsewhere(folder: Path) -> Iterator[str]:
    """The page on a server of its own: another port is another origin."""
    (folder / "index.html").write_text(PAGE)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(browser: "Browser", tmp_path_factory: pytest.TempPathFactory) -> Iterator["Page"]:
    with elsewhere(tmp_path_factory.mktemp("elsewhere")) as url, browser.new_context() as context:
        page = context.new_page()
        page.goto(url)
        yield page


def test_it_asks_writes_and_hears_of_everything_across_a_restart(page: "Page", story: Story) -> None:
    def asked(query: str, variables: Any = None, headers: dict[str, str] | None = None) -> Any:
        call = "([url, query, variables, headers]) => asked(url, query, variables, headers)"
        return page.evaluate(call, [story.url, query, variables or {}, headers or {}])

    found = asked("{ runs { totalCount } stamp { cursor } }")
    assert found["data"]["runs"]["totalCount"] == 0
    assert found["rate"], "what a reader needs to behave is told to scripts of any origin"

    start = [story.url, SUBSCRIPTION, found["data"]["stamp"]["cursor"]]
    page.evaluate("(start) => { overSocket(...start); overEvents(...start) }", start)
    written = asked(MUTATION, {"input": INPUT}, {"Authorization": f"Bearer {story.key}"})
    assert written["data"]["ingestRun"]["__typename"] == "IngestRunSuccess"

    def heard(count: int) -> None:
        for transport in ("socket", "events"):
            page.wait_for_function(f"heard.{transport}.length >= {count}", timeout=WAIT_MS)

    story.go_on(heard)
    assert page.evaluate("heard") == {"socket": story.positions(), "events": story.positions()}
    assert len(story.positions()) == EXPECTED
