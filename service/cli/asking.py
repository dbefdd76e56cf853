"""``kernelindex query`` and ``kernelindex schema``."""

from typing import Annotated, Any

from cyclopts import Parameter

from domain.errors import ErrorCode, InvalidInput
from domain.json_text import read_json
from service.api.execute import execute
from service.api.schema import built_schema
from service.app import open_index
from service.cli.output import print_json
from service.data_folder import require_log
from service.logs import quiet_logs
from service.settings import Settings


async def query(
    text: Annotated[str, Parameter(name="GRAPHQL")],
    /,
    *,
    variables: str | None = None,
    operation: str | None = None,
    json: bool = False,
) -> int:
    """Run a GraphQL query on the index, here in this process, and print the response.

    Parameters
    ----------
    text
        The query.
    variables
        Its variables, as a JSON object.
    operation
        Which operation to run, where the query has several.
    json
        Print the response on one line.
    """
    quiet_logs()
    if not text.strip():
        raise InvalidInput.because("the query is empty", remedy="write one: '{ stamp { position } }'")
    response = await answer(text, _variables(variables), operation)
    print_json(response, pretty=not json)
    return 1 if response.get("errors") else 0


async def answer(text: str, variables: dict[str, Any] | None = None, operation: str | None = None) -> dict[str, Any]:
    """The response of the index in the data folder, which must be there."""
    settings = Settings()
    require_log(settings.data_dir)
    async with open_index(settings) as index:
        return await execute(index, text, variables, operation)


def _variables(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    variables = read_json(text, "--variables")
    if not isinstance(variables, dict):
        raise InvalidInput.because(
            "the variables are not an object",
            code=ErrorCode.INVALID_ARGUMENT,
            document="--variables",
            remedy='write them as {"name": value}',
        )
    return variables


def schema() -> None:
    """Print the GraphQL schema in its definition language."""
    print(built_schema().as_str())  # noqa: T201
