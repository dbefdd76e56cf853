"""The digests that the public catalog has for the very records in the project's files of sources.

Where two conventions are possible, these decide.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from service.sources import flashinfer_traces, kernelbot, sol_leaderboard
from service.sources.base import Told
from service.sources.manifests import manifests_in
from tests.service.sources import reading

PARTS = ("workloadDigest", "protocolDigest", "environmentDigest", "implementationDigest")


@pytest.fixture(scope="module")
def sources(shared: Path) -> Path:
    return shared / "data" / "sources"


@pytest.fixture(scope="module")
def expected(shared: Path) -> Any:
    return json.loads((shared / "data" / "expected" / "sources.json").read_text())


def test_kernel_4_is_the_operation_and_the_seventeen_workloads_of_the_catalog(sources: Path, expected: Any) -> None:
    wanted = expected["sol/api/kernel-4.json"]

    found = reading.bundles(sol_leaderboard.SOURCE, reading.documents(sources / "sol/api/kernel-4.json"))

    assert {bundle.manifests[0].digest for bundle in found} == {wanted["operationDigest"]}
    assert sorted(bundle.manifests[1].digest for bundle in found) == wanted["workloadDigests"]


def test_the_two_seed_submissions_are_the_seed_records(shared: Path, sources: Path, expected: Any) -> None:
    """With the operations and suites of their kernels, as their bundles have them."""
    wanted = expected["sol/api/seed-submissions.json"]
    known = Told(now=reading.NOW, facts={})
    for seed in sorted((shared / "data" / "seeds").glob("*.bundle.json")):
        operation, suite = sorted(manifests_in(json.loads(seed.read_text())), key=lambda one: one.tree["kind"])
        known.facts["", "operation", operation.tree["metadata"]["name"]] = operation
        known.facts["", "suite", operation.digest] = suite

    given = reading.documents(sources / "sol/api/seed-submissions.json")
    runs = [bundle.run for bundle in reading.bundles(sol_leaderboard.SOURCE, given, known) if bundle.run]

    assert {run.spec["sourceNative"]["externalId"]: run.digest for run in runs} == wanted["runDigests"]
    assert {run.spec["sourceNative"]["externalId"]: run.spec["implementationDigest"] for run in runs} == wanted[
        "implementationDigests"
    ]


def test_the_three_flashinfer_traces_are_the_runs_of_the_catalog(sources: Path, expected: Any) -> None:
    wanted = expected["flashinfer/trace"]
    paths = [sources / "flashinfer" / name for name in ("definition.json", "solution.json", "trace.jsonl")]
    given = reading.documents(*paths)
    # The file's code was removed; its digest is told in the expected file.
    given[1]["sources"][0] |= {key: value for key, value in wanted[0]["source"].items() if key != "fileName"}
    known = reading.told(flashinfer_traces.SOURCE, given, revision=wanted[0]["commit"])

    runs = [bundle.run for bundle in reading.bundles(flashinfer_traces.SOURCE, given, known) if bundle.run]

    assert [run.digest for run in runs] == [one["runDigest"] for one in wanted]
    assert [{part: run.spec[part] for part in PARTS} for run in runs] == [
        {part: one[part] for part in PARTS} for one in wanted
    ]
    assert [run.spec["timing"]["latencyNs"]["mean"] for run in runs] == [one["latencyNs"] for one in wanted]


def test_the_eighteen_kernelbot_runs_are_those_of_the_catalog(shared: Path, sources: Path, expected: Any) -> None:
    """The file was cut to three benchmarks of a submission's eighteen; the others' figures are read from the catalog."""
    wanted = expected["kernelbot/fp8-mm-top.json"]
    given = reading.documents(sources / "kernelbot/fp8-mm-top.json", sources / "kernelbot/leaderboards.json")
    row = given[0]["rows"][0]["row"]
    row |= {key: value for key, value in wanted[0]["source"].items() if key != "fileName"}
    row["run_result"] = {**row["run_result"], **_uncut(shared, {one["runDigest"] for one in wanted[3:]})}
    row["run_result"]["benchmark-count"] = "18"

    runs = {
        run.spec["sourceNative"]["benchmark"]: run
        for bundle in reading.bundles(kernelbot.SOURCE, given)
        if (run := bundle.run) and run.spec["sourceNative"]["externalId"] == "submission/30771"
    }

    assert len(wanted) == 18
    assert len(runs) == 19  # and the score
    for one in wanted:
        run = runs[one["benchmark"]]
        assert {part: run.spec[part] for part in PARTS} == {part: one[part] for part in PARTS}
        assert run.digest == one["runDigest"]


def _uncut(shared: Path, digests: set[str]) -> dict[str, str]:
    """What a row said of these runs, as far as the catalog kept it."""
    found: dict[str, str] = {}
    axes: dict[str, dict[str, int]] = {}
    (file,) = (shared / "data" / "catalog").glob("*.jsonl.zst")
    with zstandard.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            row = entry["row"]
            if entry["table"] == "workloads":
                axes[row["workloadDigest"]] = row["manifest"]["spec"].get("axes")
            elif entry["table"] == "benchmark_runs" and row["runDigest"] in digests:
                spec = row["manifest"]["run"]["spec"]
                key = f"benchmark.{spec['sourceNative']['benchmark'].rpartition('/')[2]}"
                latency, metrics = spec["timing"]["latencyNs"], spec["sourceNative"]["metrics"]
                found |= {
                    f"{key}.spec": "; ".join(f"{name}: {size}" for name, size in axes[spec["workloadDigest"]].items()),
                    f"{key}.mean": str(metrics["mean_ns"]),
                    f"{key}.best": str(metrics["best_ns"]),
                    f"{key}.worst": str(latency["maximum"]),
                    f"{key}.std": str(spec["measurements"][0]["value"]),
                    f"{key}.runs": str(spec["timing"]["samples"]),
                }
    return found
