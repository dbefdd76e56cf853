"""What a page shows it asks of the API, in process: the documents are such as any frontend may send."""

import asyncio
from functools import cache
from pathlib import Path
from typing import Any, Final

from domain.errors import ErrorCode, KernelIndexError
from projections.model import Doc
from service.api.context import Context
from service.api.schema import schema
from service.errors_out import cause_of, refused

FOLDER: Final = Path(__file__).parent / "documents"


async def ask(context: Context, document: str, operation: str | None = None, /, **variables: Any) -> Doc:
    """The data of an operation of ``documents/<document>.graphql``, asked as the caller of the context.

    Raises what any of its fields raises: a page is shown whole or not at all.
    """
    try:
        async with asyncio.timeout(context.index.settings.query_timeout_s):
            result = await schema.execute(
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
    """The text of a document."""
    return (FOLDER / f"{document}.graphql").read_text(encoding="utf-8")
