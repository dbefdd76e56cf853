"""``kernelindex compare``."""

import csv
import io
import json

import pytest

from service.sample import FILES
from tests.service.cli.conftest import Command


@pytest.fixture
def ids(cli: Command) -> list[str]:
    """Two runs of the sample's largest group."""
    cli("import", *FILES)
    query = "{ rankings(first: 1) { nodes { entries(first: 2) { nodes { run { digest } } } } } }"
    (group,) = json.loads(cli("query", query).out)["data"]["rankings"]["nodes"]
    return [entry["run"]["digest"] for entry in group["entries"]["nodes"]]


def test_two_runs_in_each_format(cli: Command, ids: list[str]) -> None:
    markdown, table, document = (
        cli("compare", *ids, *form) for form in ([], ["--format", "csv"], ["--format", "json"])
    )

    assert (markdown.status, table.status, document.status) == (0, 0, 0)
    assert markdown.out.startswith("**comparable")
    assert next(csv.reader(io.StringIO(table.out)))[4:] == ids
    assert [run["rank"] for run in json.loads(document.out)["runs"]] == [1, 2]


def test_what_is_wrong_is_said_in_a_line(cli: Command, ids: list[str]) -> None:
    refused = cli("compare", ids[0])

    assert (refused.status, refused.out) == (1, "")
    assert refused.err.startswith("error: ids: 1 ids are given")


def test_a_run_that_is_not_there_is_named(cli: Command, ids: list[str]) -> None:
    refused = cli("compare", ids[0], "nothing")

    assert refused.status == 1
    assert "'nothing' names no run here" in refused.err
