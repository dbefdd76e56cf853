"""What a runner asks for is in the schema, and fits its limits."""

import pytest
from graphql import parse, validate

from service.api.schema import built_schema
from service.runner import documents

schema = built_schema()


@pytest.mark.parametrize(
    "document",
    [
        text
        for name, text in vars(documents).items()
        if name.isupper() and isinstance(text, str) and text.lstrip().startswith(("query", "mutation"))
    ],
)
def test_what_it_asks_is_in_the_schema(document: str) -> None:
    assert validate(schema._schema, parse(document)) == []
