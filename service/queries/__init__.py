"""The query documents that we publish: GraphiQL opens with them, and each fits the limits of a reader without a key.

``NAME.graphql`` holds the document, with a comment that says what it is for; ``NAME.variables.json`` beside it holds
variables with which it answers something on an index that has the seed records.
"""

from functools import cache
from pathlib import Path
from typing import Final

import msgspec

FOLDER: Final = Path(__file__).parent
# In the order of GraphiQL's tabs. Another example is a file here and its name in this line.
EXAMPLES: Final = (
    "run",
    "latest-runs",
    "ranking",
    "operations",
    "citations",
    "cited-record",
    "audit-replay",
    "new-runs",
)


class Example(msgspec.Struct, frozen=True):
    """A document and its variables, both as text to be shown and edited."""

    query: str
    variables: str


@cache
def examples() -> tuple[Example, ...]:
    """The examples, in order."""
    return tuple(
        Example(
            (FOLDER / f"{name}.graphql").read_text(encoding="utf-8"),
            (FOLDER / f"{name}.variables.json").read_text(encoding="utf-8").strip(),
        )
        for name in EXAMPLES
    )
