"""Bundles as people write them: every problem located, nothing guessed."""

from typing import Any

import pytest

from domain.bundles import MAX_ALIASES, read_bundle
from domain.errors import ErrorCode, InvalidInput, Problem
from tests.examples import API_VERSION, PROJECT, run

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
