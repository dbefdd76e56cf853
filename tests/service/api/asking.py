"""Asking the API in process, as tests do it."""

import json
from typing import Any

from domain.bundles import Bundle
from domain.commands import Ingest
from domain.identity import canonical_json
from domain.manifests import Manifest
from domain.principals import LOCAL
from service.api.execute import execute
from service.app import Index
from tests.examples import bundle


async def ask(index: Index, query: str, **variables: Any) -> Any:
    """The data of an operation that has no errors."""
    response = await execute(index, query, variables)
    assert "errors" not in response, response["errors"]
    return response["data"]


async def error_of(index: Index, query: str, **variables: Any) -> dict[str, Any]:
    """The extensions of the only error of an operation."""
    response = await execute(index, query, variables)
    assert len(response.get("errors", ())) == 1, response
    extensions: dict[str, Any] = response["errors"][0]["extensions"]
    return extensions


async def ingest_all(index: Index, *bundles: Bundle) -> int:
    """Take bundles in, each as a save of its own; answers the position after the last."""
    position = 0
    for one in bundles:
        answer = await index.ledger.handle([Ingest(bundle=one)], LOCAL)
        position = answer.position
    return position


def run_of(median_ns: int | None = 8120, *, by: str = "heron", **spec: Any) -> Manifest:
    """The run of :func:`tests.examples.bundle`."""
    run = bundle(median_ns, by=by, **spec).run
    assert run is not None
    return run


def text_of(manifest: Manifest | dict[str, Any]) -> str:
    """A manifest as a client sends it: the text of a document."""
    return manifest.canonical.decode() if isinstance(manifest, Manifest) else canonical_json(manifest).decode()


def texts_of(one: Bundle) -> dict[str, str]:
    """The parts of a bundle as ``BundleInput`` takes them."""
    parts = {
        "SoftwareProject": "project",
        "OperationSpec": "operation",
        "WorkloadCase": "workload",
        "WorkloadSuite": "workload",
        "ImplementationRevision": "implementation",
        "BenchmarkProtocol": "protocol",
        "ExecutionEnvironment": "environment",
        "BenchmarkRun": "run",
    }
    manifests = (*one.manifests, *((one.run,) if one.run else ()))
    return {parts[manifest.kind]: text_of(manifest) for manifest in manifests}


def tree_of(one: Bundle) -> dict[str, Any]:
    """A bundle as ``POST /ingest`` takes it."""
    return {part: json.loads(text) for part, text in texts_of(one).items()}
