"""The server audits of the npm package graphql-http, the specification's own checks, against a real server."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.settings import Settings
from service.web import create_app
from tests.e2e.node import node_with_packages
from tests.service.http.serving import serving

FOLDER = Path(__file__).parent / "graphql_http_audit"
AUDITS = 61  # of graphql-http 1.23.1


@pytest.fixture(scope="module")
def graphql_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint under audit: the application as it is served, over an empty index."""
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("audit")))
    with serving(app, lifespan=True) as base_url:
        yield f"{base_url}/graphql"


@pytest.fixture(scope="module")
def node() -> str:
    """Node's path, with the audits' packages installed as the lock file says."""
    return node_with_packages(FOLDER)


def test_every_audit_passes(graphql_url: str, node: str) -> None:
    """Not only what the specification demands, but all that it recommends."""
    command = [node, "audit.mjs", graphql_url]
    run = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False, timeout=120)

    assert run.returncode == 0, run.stderr
    results = json.loads(run.stdout)
    assert [result for result in results if result["status"] != "ok"] == []
    assert len(results) == AUDITS
