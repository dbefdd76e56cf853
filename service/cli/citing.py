"""``kernelindex cite``."""

import sys
from typing import Any, Final

from domain.errors import ErrorCode, InvalidInput
from service.api.execute import execute
from service.app import open_index
from service.citations import CitationFormat
from service.cli.output import print_json
from service.data_folder import require_log
from service.logs import quiet_logs
from service.queries import FOLDER
from service.settings import Settings

FORMATS: Final = {one.name.lower().replace("_", "-"): one for one in CitationFormat}


async def cite(
    run: str,
    /,
    *runs: str,
    format: str = "text",  # noqa: A002 the option's name
    style: str | None = None,
    accessed_on: str | None = None,
    json: bool = False,
) -> int:
    """Print citations of runs, as of what the log holds now.

    What could not be found, and what deserves a second look, goes to standard error. The exit status is 1 when
    something was not found.

    Parameters
    ----------
    run
        The id of a run: a digest, a prefix of at least 8 digits, or an alias; with @POSITION as it stood then.
    runs
        More of them.
    format
        text, bibtex, biblatex, csl-json, ris or schema-org; or a style, for text in it.
    style
        A style of the CSL project: apa, chicago, ieee, mla, acm, nature and some ten thousand more.
    accessed_on
        The day of access, as 2026-08-01; by default today (UTC).
    json
        Print the whole export as JSON, with its problems and warnings.
    """
    quiet_logs()
    as_, in_style = _chosen(format, style)
    variables = {"ids": [run, *runs], "format": as_.name, "style": in_style, "accessedOn": accessed_on}
    settings = Settings()
    require_log(settings.data_dir)
    async with open_index(settings) as index:
        document = (FOLDER / "citations.graphql").read_text(encoding="utf-8")
        response = await execute(index, document, variables)
    if errors := response.get("errors"):
        _say(*(_error(error["message"], error["extensions"].get("remedy")) for error in errors))
        return 1
    export = response["data"]["citations"]
    if json:
        print_json(export)
    else:
        sys.stdout.write(export["content"])
        _say(*(_error(problem["message"], problem["remedy"]) for problem in export["problems"]))
        _say(*(f"warning: {warned['message']}" for warned in export["warnings"]))
    return 1 if export["problems"] else 0


def _chosen(name: str, style: str | None) -> tuple[CitationFormat, str | None]:
    """The format, and the style where there is one: ``--format apa`` is short for ``--style apa``."""
    if name in FORMATS:
        return FORMATS[name], style
    if style is not None:
        raise InvalidInput.because(
            f"{name!r} is not a format",
            code=ErrorCode.INVALID_ARGUMENT,
            path="--format",
            remedy=f"take one of {', '.join(FORMATS)}, or the style without a format",
        )
    return CitationFormat.TEXT, name


def _error(message: str, remedy: Any) -> str:
    return f"error: {message} ({remedy})" if remedy else f"error: {message}"


def _say(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr)  # noqa: T201
