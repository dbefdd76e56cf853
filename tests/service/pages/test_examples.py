"""The query documents that we publish fit the schema and the limits, and answer something on the seed records."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from graphql import OperationType

from service.api.schema import DOCUMENTS, built_schema
from service.limits import Limits
from service.queries import EXAMPLES, FOLDER, examples
from tests.service.pages.seeded import SEED_RUN

schema = built_schema()

PUBLISHED = sorted(FOLDER.glob("*.graphql"))


def variables_of(document: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(document.with_suffix(".variables.json").read_text(encoding="utf-8"))
    return values


def first_message(client: httpx.Client, sent: dict[str, Any]) -> Any:
    """What a subscription opens with."""
    with client.stream("POST", "/graphql/stream", json=sent, headers={"Accept": "text/event-stream"}) as response:
        data = (line for line in response.iter_lines() if line.startswith("data: "))
        return json.loads(next(data).removeprefix("data: "))


@pytest.mark.parametrize("document", PUBLISHED, ids=lambda path: path.stem)
def test_each_published_document_is_valid_and_needs_no_key_for_its_cost(document: Path) -> None:
    prepared = DOCUMENTS.prepare(schema, document.read_text(encoding="utf-8"))

    cost = prepared.cost(prepared.operation(None), variables_of(document))

    assert 0 < cost <= Limits().cost == 1_000


def test_every_published_document_is_among_the_examples() -> None:
    assert sorted(EXAMPLES) == [path.stem for path in PUBLISHED]


@pytest.mark.parametrize("number", range(len(EXAMPLES)), ids=EXAMPLES)
def test_each_example_answers_with_its_variables_as_they_stand(client: httpx.Client, number: int) -> None:
    """A reader who only presses the button sees data: nothing is null that the example is about, nothing empty."""
    example = examples()[number]
    sent = {"query": example.query, "variables": json.loads(example.variables)}

    if DOCUMENTS.prepare(schema, example.query).operation(None).operation is OperationType.SUBSCRIPTION:
        answer = first_message(client, sent)
    else:
        answer = client.post("/graphql", json=sent).json()

    assert "errors" not in answer
    assert all(answer["data"].values())
    assert not [name for name, value in answer["data"].items() if isinstance(value, dict) and value.get("nodes") == []]


def test_the_first_example_is_the_page_of_the_seed_record(client: httpx.Client) -> None:
    first = examples()[0]

    answer = client.post("/graphql", json={"query": first.query, "variables": json.loads(first.variables)}).json()

    run = answer["data"]["run"]
    assert run["digest"] == SEED_RUN
    assert run["primary"] == {"formatted": "353.4 µs", "metric": "latency", "statistic": "mean"}
    assert run["evidence"]["level"] == "REPORTED"


@pytest.mark.parametrize("number", range(len(EXAMPLES)), ids=EXAMPLES)
def test_each_example_begins_with_a_title_and_names_its_operation(number: int) -> None:
    """The panel lists the titles, and a tab is named after the operation."""
    example = examples()[number]
    title, *_ = example.query.splitlines()

    assert title.startswith("# ")
    assert 5 < len(title) <= 60
    assert DOCUMENTS.prepare(schema, example.query).operation(None).name is not None
