"""Several processes at the same files: nobody sees an error, and nothing is recorded twice or lost."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

from domain.facts import LogOpened
from service.event_log import EventLog
from service.sample import FILES
from tests.service.cli.running import running

SAMPLE, *SEEDS = FILES
COUNT = {"query": "{ runs { totalCount } rankings { totalCount } stamp { position } }"}


def importing(*paths: Path, data: Path) -> subprocess.Popen[str]:
    """A process that imports these files."""
    command = [sys.executable, "-c", "from service.cli import main; main()", "import", *map(str, paths), "--json"]
    environment = os.environ | {"KERNELINDEX_DATA_DIR": str(data)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The report of an import that went well."""
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    report: dict[str, Any] = json.loads(out)
    return report


def asked(client: httpx.Client) -> dict[str, Any]:
    """What a reader sees, without an error."""
    answer = client.post("/graphql", json=COUNT)
    assert answer.status_code == 200
    response: dict[str, Any] = answer.json()
    assert "errors" not in response
    data: dict[str, Any] = response["data"]
    return data


def test_a_server_goes_on_answering_while_another_process_imports(tmp_path: Path) -> None:
    with running("serve", "--port", "0", data=tmp_path) as server, httpx.Client(base_url=server.url()) as client:
        process = importing(SAMPLE, *SEEDS, data=tmp_path)
        seen = [asked(client)]
        while process.poll() is None:
            seen.append(asked(client))
        report = ended(process)
        deadline = time.monotonic() + 10
        while (last := asked(client))["runs"]["totalCount"] < 192 and time.monotonic() < deadline:
            time.sleep(0.02)

    positions = [int(one["stamp"]["position"]) for one in seen]
    assert report["counts"]["runs"]["new"] == 192
    assert last["runs"]["totalCount"] == 192
    assert positions == sorted(positions)
    assert len(seen) > 10


def test_two_processes_may_import_the_same_file_at_once(tmp_path: Path) -> None:
    reports = [ended(process) for process in [importing(SAMPLE, data=tmp_path) for _ in range(2)]]

    runs = [report["counts"]["runs"] for report in reports]
    assert sum(count["new"] for count in runs) == 190
    assert sum(count["unchanged"] for count in runs) == 190
    log = EventLog(tmp_path / "log.db")
    events = [committed.recorded for committed in log.read(0, 100_000)]
    log.close()
    ingested = [event.originator_id for event in events if event.originator_id.startswith("run/")]
    assert len(ingested) == len(set(ingested)) == 190
    assert sum(isinstance(event.fact, LogOpened) for event in events) == 1


def test_two_processes_may_import_different_files_at_once(tmp_path: Path) -> None:
    reports = [ended(process) for process in [importing(path, data=tmp_path) for path in FILES]]
    assert [report["counts"]["runs"]["new"] for report in reports] == [190, 1, 1]
