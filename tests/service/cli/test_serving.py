"""``kernelindex serve``, ``demo`` and ``push``, as they are run from a shell."""

import json
import shlex
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from service.importing.report import Count
from service.sample import FILES, FIRST_RUN
from tests.service.cli.conftest import Command
from tests.service.cli.running import running


@pytest.fixture
def busy() -> Iterator[int]:
    """A port where somebody else listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_a_busy_port_is_said_at_once_with_another_one(cli: Command, data: Path, busy: int, command: str) -> None:
    refused = cli(command, "--port", busy)
    assert refused.status == 1
    assert refused.err == (
        f"error: port {busy} of 127.0.0.1 is in use (stop what listens there, or take another: --port {busy + 1})\n"
    )
    assert not data.exists()


@pytest.mark.parametrize("port", ["70000", "-1"])
def test_what_is_no_port_is_not_taken_for_another_one(cli: Command, port: str) -> None:
    answered = cli("serve", f"--port={port}")
    assert answered.status == 1
    assert "is not a port" in answered.err


def test_an_address_that_is_not_ours_is_said(cli: Command) -> None:
    refused = cli("serve", "--host", "203.0.113.7", "--port", 0)
    assert refused.status == 1
    assert "203.0.113.7 is not an address of this machine" in refused.err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_ends_well_when_it_is_told_to(data: Path, number: signal.Signals) -> None:
    with running("serve", "--port", "0", data=data) as server:
        assert httpx.get(f"{server.url()}/readyz").status_code == 200
        assert server.stop(number) == 0
    assert "Traceback" not in "".join(server.lines)


def test_the_demo_serves_the_sample_and_what_it_prints_works(data: Path) -> None:
    with running("demo", "--port", "0", data=data) as demo:
        url = demo.url()
        printed = {line.split()[0]: line.strip() for line in demo.lines if line.strip()}
        opened = httpx.get(printed["Open"].split()[1], headers={"Accept": "text/html"})
        run = httpx.get(printed["A"].split()[-1], headers={"Accept": "application/json"})
        asked = subprocess.run(
            shlex.split(printed["From"].removeprefix("From here ")), capture_output=True, check=False, timeout=20
        )
        pasted = httpx.post(f"{url}/graphql", json={"query": printed["To"].removeprefix("To paste  ")})
        cited = subprocess.run(
            printed["Cite"].removeprefix("Cite it").strip(), shell=True, capture_output=True, check=False, timeout=60
        )
        status = demo.stop()
    assert opened.status_code == 200
    assert "html" in opened.headers["content-type"]
    assert (run.status_code, run.json()["kind"]) == (200, "BenchmarkRun")
    assert f"/runs/{FIRST_RUN}" in printed["A"]
    assert len(json.loads(asked.stdout)["data"]["runs"]["nodes"]) == 3
    assert "errors" not in pasted.json()
    assert cited.returncode == 0
    assert cited.stdout.startswith(f"@misc{{ki-{FIRST_RUN[:12]}-p".encode())
    assert f"{url}/runs/{FIRST_RUN}/at/".encode() in cited.stdout
    assert status == 0


def test_the_demo_can_be_run_again_and_imports_nothing_twice(cli: Command, data: Path) -> None:
    def position() -> int:
        stamp = json.loads(cli("query", "{ runs { totalCount } }").out)["extensions"]["stamp"]
        return int(stamp["position"])

    positions = []
    for _ in range(2):
        with running("demo", "--port", "0", data=data) as demo:
            demo.url()
            demo.stop()
        positions.append(position())
    assert positions[0] == positions[1] > 1000


def test_push_sends_files_and_prints_the_same_summary(cli: Command, data: Path, tmp_path: Path) -> None:
    with running("demo", "--port", "0", data=data) as demo:
        url = demo.url()
        pushed = cli("push", *FILES[1:], "--server", url, "--json")
        wrong = tmp_path / "wrong.json"
        wrong.write_text("{}")
        refused = cli("push", wrong, "--server", url)
    assert pushed.status == 0
    counts = json.loads(pushed.out)["counts"]["runs"]
    assert Count(**counts) == Count(unchanged=2)
    assert refused.status == 1
    assert f"refused: {wrong}: " in refused.out


def test_push_says_where_it_found_nobody(cli: Command) -> None:
    failed = cli("push", FILES[1], "--server", "http://127.0.0.1:9")
    assert failed.status == 1
    assert failed.err.startswith("error: http://127.0.0.1:9 can't be reached")
