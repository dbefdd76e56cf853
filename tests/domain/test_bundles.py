"""Bundles as people write them: every problem located, nothing guessed."""

import json
from typing import Any

import pytest

from domain.bundle_records import MAX_ALIASES
from domain.bundles import read_bundle
from domain.errors import ErrorCode, InvalidInput, Problem
from domain.manifests import Manifest
from tests.examples import API_VERSION, OPERATION, PROJECT, run

RUN: Any = {"apiVersion": API_VERSION, "kind": "BenchmarkRun", "metadata": {"name": "r"}, "spec": run().spec}


def problems(tree: Any) -> list[Problem]:
    """What is wrong with a bundle."""
    with pytest.raises(InvalidInput) as caught:
        read_bundle(tree, "file.json")
    return list(caught.value.problems)


def test_a_single_manifest_is_a_bundle_of_one() -> None:
    assert read_bundle(RUN).run == read_bundle({"run": RUN}).run
    tree: Any = {"apiVersion": API_VERSION, "kind": "SoftwareProject", "metadata": {"name": "p"}, "spec": PROJECT.spec}
    assert read_bundle(tree).manifests[0].digest == PROJECT.digest


def test_all_problems_of_all_parts_are_told_at_once() -> None:
    found = problems({"run": {**RUN, "extra": 1}, "workload": 7, "record": {"source": "Not A Slug"}})
    assert {problem.path.split(".")[0] for problem in found} == {"run", "workload", "record"}
    assert {problem.document for problem in found} == {"file.json"}
    assert all(problem.remedy for problem in found)


def test_an_unknown_part_is_named() -> None:
    [problem] = problems({"run": RUN, "benchmark": {}})
    assert (problem.code, problem.path) == (ErrorCode.UNKNOWN_FIELD, "benchmark")


def test_an_empty_bundle_is_refused() -> None:
    [problem] = problems({})
    assert problem.code is ErrorCode.MISSING_FIELD


@pytest.mark.parametrize(
    ("record", "path"),
    [
        ({"aliases": ["x"] * (MAX_ALIASES + 1)}, "record.aliases"),
        ({"aliases": [""]}, "record.aliases[0]"),
        ({"aliases": [" padded"]}, "record.aliases[0]"),
        ({"aliases": ["fine", "abc\u202ecba"]}, "record.aliases[1]"),
        ({"aliases": ["\u2067abc"]}, "record.aliases[0]"),
        ({"aliases": ["ab\u200bc"]}, "record.aliases[0]"),
        ({"aliases": ["ab\x9fc"]}, "record.aliases[0]"),
        ({"aliases": ["ab\u2028c"]}, "record.aliases[0]"),
        ({"aliases": ["abc\ufeff"]}, "record.aliases[0]"),
        ({"publishedOn": "2026-13-01"}, "record.publishedOn"),
        ({"publishedOn": "24.08.2026"}, "record.publishedOn"),
        ({"publishedAt": "2026-08-24T00:00:00"}, "record.publishedAt"),
        ({"externalId": ""}, "record.externalId"),
        ({"owner": "x"}, "record.owner"),
        ("text", "record"),
    ],
)
def test_a_record_is_checked_field_by_field(record: Any, path: str) -> None:
    assert [problem.path for problem in problems({"run": RUN, "record": record})] == [path]


def test_a_day_of_publication_is_its_first_instant() -> None:
    assert read_bundle({"run": RUN, "record": {"publishedOn": "2026-08-24"}}).published_at == "2026-08-24T00:00:00Z"


def test_aliases_name_the_run() -> None:
    read = read_bundle({"run": RUN, "record": {"aliases": ["old"]}})
    assert read.run
    assert read.aliases == (("old", read.run.digest),)


@pytest.mark.parametrize("alias", ["x", "äöü µs 核心", "flashinfer/gemm 5", "a" * 200])
def test_an_alias_is_a_line_in_any_script(alias: str) -> None:
    assert read_bundle({"run": RUN, "record": {"aliases": [alias]}}).aliases[0][0] == alias


def test_aliases_of_several_manifests_without_a_run_name_none_of_them() -> None:
    """They were dropped without a word."""
    manifests = {"project": tree_of(PROJECT), "operation": tree_of(OPERATION)}
    [problem] = problems({**manifests, "record": {"aliases": ["old"]}})
    assert (problem.code, problem.path) == (ErrorCode.INVALID_VALUE, "record.aliases")
    assert read_bundle({"project": manifests["project"], "record": {"aliases": ["old"]}}).aliases == (
        ("old", PROJECT.digest),
    )


def tree_of(manifest: Manifest) -> Any:
    """A manifest as it is written."""
    return json.loads(manifest.canonical)
