"""The whole application in process, over an index of its own, with a clock that a test moves and keys that it makes."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from starlette.applications import Starlette

from domain.principals import Scope
from service.keys import Key, KeyStore
from service.keys.database import KeyDatabase
from service.settings import Settings
from service.web import create_app
from tests.examples import Ids
from tests.service.clocks import Hands

ADDRESS = "192.0.2.1"


class Site:
    """A served index. ``keys`` writes to its key file by connections of its own, as the command line does."""

    def __init__(self, app: Starlette, folder: Path, clock: Hands, stack: AsyncExitStack) -> None:
        self.app = app
        self.clock = clock
        self._stack = stack
        database = KeyDatabase(folder)
        stack.callback(database.close)
        self.keys = KeyStore(database, now=clock)

    def key(self, *scopes: Scope, **given: Any) -> tuple[Key, dict[str, str]]:
        """A new key, and the header that sends it."""
        key, text = self.keys.create(**{"principal": "heron", "name": "Heron's CI", "scopes": scopes, **given})
        return key, {"Authorization": f"Bearer {text}"}

    async def at(self, address: str) -> httpx.AsyncClient:
        """A client at this address."""
        transport = httpx.ASGITransport(self.app, client=(address, 50_000))
        client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000")
        return await self._stack.enter_async_context(client)


@asynccontextmanager
async def site(folder: Path, *, demo: bool = False, **settings: Any) -> AsyncIterator[tuple[Site, httpx.AsyncClient]]:
    """The site, and a client at ``ADDRESS`` (of the demo: at this machine)."""
    clock = Hands()
    app = create_app(Settings(data_dir=folder, **settings), now=clock, new_id=Ids(), demo=demo)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(app.router.lifespan_context(app))
        served = Site(app, folder, clock, stack)
        yield served, await served.at("127.0.0.1" if demo else ADDRESS)


async def asked(
    client: httpx.AsyncClient, query: str, headers: dict[str, str] | None = None, **variables: Any
) -> httpx.Response:
    """The answer to a POSTed operation."""
    return await client.post("/graphql", json={"query": query, "variables": variables}, headers=headers or {})


def error(response: httpx.Response) -> dict[str, Any]:
    """The extensions of the only error of an answer."""
    (only,) = response.json()["errors"]
    extensions: dict[str, Any] = only["extensions"]
    return extensions
