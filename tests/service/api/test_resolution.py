"""A record becomes whole, and ranked, when the last manifest that it refers to arrives: in any order, from anywhere."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.bundles import read_bundle
from domain.commands import RegisterSource
from domain.principals import LOCAL
from service.app import Index, open_index
from service.settings import Settings
from tests.examples import Clock, Ids
from tests.service.api.asking import ask, ingest_all

FILE = Path(__file__).parents[2] / "fixtures" / "seeds" / "sol-submission-17401.bundle.json"
BUNDLE = json.loads(FILE.read_text(encoding="utf-8"))
QUERY = (Path(__file__).parent / "record.graphql").read_text(encoding="utf-8")
RUN = "sha256:28c78ea8f808d1b78085d073f400abf64930109cb0ad61efd3634542aaa78a58"
ALIAS = {"record": {"aliases": ["009_expert_token_scatter_with_weighted_forward_backward"]}}

STEPS = (
    "run",
    "protocol",
    "environment",
    "workload",
    "operation",
    "operation+alias",
    "implementation",
    "project",
    "implementation+project",
    "source",
)
"""What is registered, each by itself; an implementation learns its project from a bundle that holds both."""


async def take(index: Index, step: str) -> None:
    if step == "source":
        command = RegisterSource(slug="sol-execbench", name="NVIDIA SOL-ExecBench", kind="leaderboard")
        await index.ledger.handle([command], LOCAL)
        return
    parts = {name: BUNDLE[name] for name in step.split("+") if name != "alias"}
    await ingest_all(index, read_bundle(parts | (ALIAS if step.endswith("+alias") else {})))


def lasting(run: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on when things were registered."""
    reasons = [one["fact"] for one in run["evidence"]["reasons"]]
    kept = {name: value for name, value in run.items() if name not in ("stamp", "pinnedPermalink", "position")}
    return kept | {"recordedAt": None, "publishedAt": None, "evidence": run["evidence"] | {"reasons": reasons}}


async def after(steps: Sequence[str]) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        async with open_index(Settings(data_dir=Path(folder)), now=Clock(), new_id=Ids()) as index:
            for step in steps:
                await take(index, step)
            return lasting((await ask(index, QUERY, id=RUN))["run"])


WHOLE: dict[str, Any] = asyncio.run(after(STEPS))


@settings(max_examples=25, deadline=None)
@given(st.permutations(STEPS))
def test_the_order_of_registration_leaves_no_trace(steps: list[str]) -> None:
    run = asyncio.run(after(steps))

    assert run == WHOLE
    assert run["ranking"]["rank"] == 1
    assert run["unresolved"] == []


async def test_two_processes_make_one_record_whole(tmp_path: Path) -> None:
    """While a third one serves: it sees the record unresolved, and whole and ranked in the end, and never an error."""
    settings = Settings(data_dir=tmp_path)
    async with open_index(settings) as index:
        await take(index, "source")
        first = await process(tmp_path, "protocol", "implementation+project", "operation")
        second = await process(tmp_path, "workload", "run", "environment", "implementation")
        for one in (first, second):
            assert one.stdin
            one.stdin.write(b"\n")
        seen: list[dict[str, Any] | None] = []
        async with asyncio.timeout(30):
            while not (seen and seen[-1] and seen[-1]["ranking"]["rank"]):
                seen.append((await ask(index, QUERY, id=RUN))["run"])
                await asyncio.sleep(0.005)
        assert [await one.wait() for one in (first, second)] == [0, 0]
        await take(index, "operation+alias")
        whole = (await ask(index, QUERY, id=RUN))["run"]

    assert {run["ranking"]["rank"] for run in seen if run} <= {None, 1}
    assert lasting(whole) == WHOLE


async def process(folder: Path, *parts: str) -> asyncio.subprocess.Process:
    command = (sys.executable, "-m", "tests.service.api.ingest_parts", str(folder), str(FILE), *parts)
    root = Path(__file__).parents[3]
    started = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, cwd=root)
    assert started.stdout
    assert await started.stdout.readline() == b"ready\n"
    return started
