"""The caches of Apollo Client and Relay keep what they hold by ``id``: two readings of one run must not become one."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from domain.principals import LOCAL
from service.app import open_index
from service.settings import Settings
from service.web import create_app
from tests.e2e.node import node_with_packages
from tests.examples import ingest, run
from tests.service.http.serving import serving

FOLDER = Path(__file__).parent / "client_caches"
SLOWER, FASTER = run(100), run(90, by="stork")


@pytest.fixture(scope="module")
def node() -> str:
    """Node's path, with the clients installed and our queries compiled by Relay's compiler against our schema."""
    node = node_with_packages(FOLDER)
    (FOLDER / "__generated__").mkdir(exist_ok=True)
    command = [node, "node_modules/relay-compiler/cli.js", "relay.config.json"]
    compiled = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False, timeout=120)
    assert compiled.returncode == 0, compiled.stdout + compiled.stderr
    return node


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """An index in which a faster run followed a slower one: its address, and the position before that."""

    async def write() -> int:
        async with open_index(Settings(data_dir=tmp_path)) as index:
            position = (await index.ledger.handle([ingest(100)], LOCAL)).position
            await index.ledger.handle([ingest(90, by="stork")], LOCAL)
            return position

    position = asyncio.run(write())
    with serving(create_app(Settings(data_dir=tmp_path)), lifespan=True) as base_url:
        yield f"{base_url}/graphql", position


def test_both_clients_keep_what_is_now_and_what_was_then_apart(node: str, served: tuple[str, int]) -> None:
    url, position = served
    command = [node, "caches.mjs", url, SLOWER.digest, str(position)]

    ran = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False, timeout=60)

    assert ran.returncode == 0, ran.stderr
    results = json.loads(ran.stdout)
    assert [(one["client"], one["first"]) for one in results] == [
        ("apollo", "now"),
        ("apollo", "then"),
        ("relay", "now"),
        ("relay", "then"),
    ]
    for one in results:
        for readings in (one["readings"], one["again"]):
            assert told(readings["now"]) == (SLOWER.digest, SLOWER.digest, 2, 2, FASTER.digest, 1)
            pinned = f"{SLOWER.digest}@{position}"
            assert told(readings["then"]) == (pinned, SLOWER.digest, 1, 1, pinned, 1)
        assert sorted(one["ids"]) == sorted([SLOWER.digest, FASTER.digest, f"{SLOWER.digest}@{position}"])


def told(of: dict[str, Any]) -> tuple[object, ...]:
    """What a reading says: id, digest, rank, size of the group, and its leader with its rank."""
    ranking, leader = of["ranking"], of["ranking"]["leader"]
    return of["id"], of["digest"], ranking["rank"], ranking["groupSize"], leader["id"], leader["ranking"]["rank"]
