"""``kernelindex compare``."""

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from domain.errors import ErrorCode, KernelIndexError, Problem
from service.cli.asking import answer
from service.logs import quiet_logs

QUERY = """query($ids: [ID!]!, $format: ComparisonFormat!) {
  compare(ids: $ids) { comparable export(format: $format) }
}"""


async def compare(
    *ids: Annotated[str, Parameter(name="ID")],
    format: Literal["json", "markdown", "csv"] = "markdown",  # noqa: A002 the option's name
) -> int:
    """Put 2 to 8 runs of the index side by side: every field, what keeps them from being compared first.

    Parameters
    ----------
    ids
        The runs: digests, prefixes of at least 8 hex digits, or aliases.
    format
        How to print them.
    """
    quiet_logs()
    response = await answer(QUERY, {"ids": list(ids), "format": format.upper()})
    if errors := response.get("errors"):
        raise KernelIndexError(*(_problem(error) for error in errors))
    print(response["data"]["compare"]["export"], end="")  # noqa: T201
    return 0


def _problem(error: dict[str, Any]) -> Problem:
    extensions = error["extensions"]
    return Problem(
        code=ErrorCode(extensions["code"]),
        message=error["message"],
        path=extensions.get("path", ""),
        remedy=extensions.get("remedy", ""),
    )
