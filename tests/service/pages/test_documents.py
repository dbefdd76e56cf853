"""The documents that pages ask fit the schema and cost no more than anybody may ask for."""

from pathlib import Path

import pytest
from graphql import OperationDefinitionNode, parse

from service.api.schema import DOCUMENTS, built_schema
from service.limits import Limits
from service.pages.asking import FOLDER, text_of
from service.pages.parameters import ROWS

schema = built_schema()

ASKED = sorted(FOLDER.glob("*.graphql"))
MOST = {"first": ROWS, "grouped": True, "ids": [f"{number:08x}" for number in range(8)]}
"""Of the variables that pages give, those that decide how much they ask for."""


@pytest.mark.parametrize("document", ASKED, ids=lambda path: path.stem)
def test_each_is_valid_and_needs_no_key_for_its_cost(document: Path) -> None:
    text = text_of(document.stem)
    prepared = DOCUMENTS.prepare(schema, text)
    names = [one.name.value for one in parse(text).definitions if isinstance(one, OperationDefinitionNode) and one.name]

    costs = {name: prepared.cost(prepared.operation(name), MOST) for name in names}

    assert costs
    assert all(0 < cost <= Limits().cost for cost in costs.values()), costs
