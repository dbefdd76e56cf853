"""What a page shows it asks of the API, in process: the documents are such as any frontend may send.

A page that can be shown as of an earlier moment has in its document an operation ``<Name>At`` beside ``<Name>``, which
asks the same ``at(asOf: $asOf)``.
"""

import asyncio
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request

from domain.errors import ErrorCode, KernelIndexError
from projections.model import Doc
from service.api.context import Context
from service.api.schema import built_schema
from service.errors_out import cause_of, refused
from service.pages.parameters import moment

FOLDER: Final = Path(__file__).parent / "documents"
SPREAD: Final = re.compile(r"\.\.\.(\w+)")


async def show(request: Request, context: Context, document: str, operation: str, /, **variables: Any) -> Doc:
    """The data of an operation as of the moment in the address (``?at=``), else now.

    Its ``pinned`` is the stamp of that moment, None for now; its ``site`` is what permalinks begin with.
    """
    site = context.snapshot.base_url
    if as_of := moment(request, context.accessed_at):
        data = await ask(context, document, f"{operation}At", asOf=as_of, **variables)
        return {**data["at"], "pinned": data["at"]["stamp"], "site": site}
    return {**await ask(context, document, operation, **variables), "pinned": None, "site": site}


async def ask(context: Context, document: str, operation: str, /, **variables: Any) -> Doc:
    """The data of an operation of ``documents/<document>.graphql``, asked as the caller of the context.

    Raises what any of its fields raises: a page is shown whole or not at all.
    """
    try:
        async with asyncio.timeout(context.index.settings.query_timeout_s):
            result = await built_schema().execute(
                text_of(document), variable_values=variables, context_value=context, operation_name=operation
            )
    except TimeoutError:
        context.give_up()
        raise refused(ErrorCode.QUERY_TIMEOUT, "It took too long to gather this page", remedy="try again") from None
    for error in result.errors or ():
        cause = cause_of(error)
        raise cause if isinstance(cause, KernelIndexError) else RuntimeError(f"{document}.graphql: {error}") from cause
    data: Doc = result.data or {}
    return data


@cache
def text_of(document: str) -> str:
    """The text of a document, with the fragments that it shares with others."""
    text = _read(FOLDER / f"{document}.graphql")
    shared = [name for name in dict.fromkeys(SPREAD.findall(text)) if f"fragment {name} on" not in text]
    return "\n".join([text, *(_read(FOLDER / "shared" / f"{name}.graphql") for name in shared)])


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
