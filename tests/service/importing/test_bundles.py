"""Bundles and single manifests in files: what they become, and where they are refused."""

import json
from pathlib import Path

import zstandard

from domain.errors import ErrorCode
from domain.facts import RunIngested, SourceImported, SourceRegistered
from service.app import Index
from service.importing.report import Count
from tests.service.importing.conftest import Import
from tests.service.importing.exports import SEEDS, seed

RUN = "sha256:28c78ea8f808d1b78085d073f400abf64930109cb0ad61efd3634542aaa78a58"


async def test_a_bundle_brings_its_run_its_manifests_and_its_source(index: Index, imported: Import) -> None:
    report = await imported(SEEDS[0])

    assert {kind: count.new for kind, count in report.counts.items()} == {
        "sources": 1,
        "projects": 1,
        "operations": 1,
        "workloads": 1,
        "implementations": 1,
        "protocols": 1,
        "environments": 1,
        "runs": 1,
    }
    assert f"run/{RUN}" in index.log.load([f"run/{RUN}"])
    registered = index.log.load(["source/sol-execbench"])["source/sol-execbench"][0].fact
    assert isinstance(registered, SourceRegistered)
    assert registered.name == "NVIDIA SOL-ExecBench"


async def test_a_known_source_is_registered_once_for_all_files(index: Index, imported: Import) -> None:
    report = await imported(*SEEDS)
    assert report.counts["sources"] == Count(new=1)
    assert report.counts["runs"] == Count(new=2)


async def test_an_unknown_source_is_nobody_s_to_invent(index: Index, tmp_path: Path, imported: Import) -> None:
    tree = seed()
    tree["run"]["spec"]["sourceNative"]["source"] = "tern-board"
    path = tmp_path / "run.json"
    path.write_text(json.dumps(tree["run"]))

    report = await imported(path)

    assert report.refused == []
    facts = [event.fact for event in index.log.load(["source/tern-board"])["source/tern-board"]]
    assert [type(fact) for fact in facts] == [SourceImported]


async def test_yaml_and_json_give_the_same_record(index: Index, tmp_path: Path, imported: Import) -> None:
    tree = seed()
    (tmp_path / "one.json").write_text(json.dumps(tree, indent=2))
    # Every JSON document is a YAML document; this one does not begin as JSON does.
    (tmp_path / "two.yaml").write_text("# the same\n" + json.dumps(tree))

    report = await imported(tmp_path)

    assert report.counts["runs"] == Count(new=1, unchanged=1)
    assert report.refused == []


async def test_lines_of_bundles_are_each_their_own(index: Index, tmp_path: Path, imported: Import) -> None:
    """A bad line is refused at its number; the ones around it are recorded."""
    path = tmp_path / "bundles.jsonl.zst"
    lines = [json.dumps(seed(0)), '{"run": {"kind": "BenchmarkRun"', '{"rnu": {}}', json.dumps(seed(1))]
    path.write_bytes(zstandard.compress("\n".join(lines).encode()))

    report = await imported(path)

    assert report.counts["runs"].new == 2
    broken, unknown = (rejected.problems[0] for rejected in report.refused)
    assert (broken.document, broken.code) == (f"{path}:2", ErrorCode.MALFORMED_DOCUMENT)
    assert (unknown.document, unknown.path, unknown.code) == (f"{path}:3", "rnu", ErrorCode.UNKNOWN_FIELD)
    assert all(problem.remedy for problem in (broken, unknown))


async def test_a_refused_bundle_is_counted_with_its_source(index: Index, tmp_path: Path, imported: Import) -> None:
    tree = seed()
    tree["run"]["spec"]["status"] = "splendid"
    path = tmp_path / "run.json"
    path.write_text(json.dumps(tree))

    report = await imported(path)

    assert report.files[0].sources == {"sol-execbench": Count(refused=1)}
    assert report.counts == {"runs": Count(refused=1)}
    assert report.refused[0].problems[0].path == "run.spec.status"


async def test_another_title_is_told_and_the_first_one_stands(index: Index, tmp_path: Path, imported: Import) -> None:
    tree = seed()
    await imported(SEEDS[0])
    tree["run"]["metadata"]["title"] = "Another title"
    path = tmp_path / "run.json"
    path.write_text(json.dumps(tree))

    report = await imported(path)

    assert (report.metadata_differs, report.counts["runs"]) == (1, Count(unchanged=1))
    (event,) = index.log.load([f"run/{RUN}"])[f"run/{RUN}"]
    assert isinstance(event.fact, RunIngested)
    assert b"Another title" not in bytes(event.fact.manifest)
