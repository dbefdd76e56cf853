"""Reading the documents of a source: numbers exactly as they are written, and rows of tables by column."""

import csv
import json
from collections.abc import Iterator
from decimal import Decimal
from io import StringIO
from typing import Any

from domain.errors import ErrorCode, InvalidInput
from service.importing.files import MAX_DOCUMENT_BYTES


def read_exactly(text: bytes, document: str = "") -> Any:
    """The tree of a JSON text, with fractions as decimals. Raises :class:`InvalidInput`.

    What no record may hold (NaN, text that is not NFC) is let through here: one row's fault must not cost the others.
    """
    if len(text) > MAX_DOCUMENT_BYTES:
        message = f"is larger than {MAX_DOCUMENT_BYTES // 2**20} MiB"
        raise InvalidInput.because(
            message, code=ErrorCode.DOCUMENT_TOO_LARGE, document=document, remedy="fetch it in smaller pages"
        )
    try:
        return json.loads(
            text.decode("utf-8-sig"), parse_float=Decimal, parse_constant=Decimal, object_pairs_hook=_object
        )
    except InvalidInput as error:
        raise error.within(document) from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput.because(
            f"is not JSON: {error}",
            code=ErrorCode.MALFORMED_DOCUMENT,
            document=document,
            remedy="fetch it again, whole and unchanged",
        ) from None


def read_row(text: bytes, document: str = "") -> dict[str, str]:
    """A row of a table by column. Raises :class:`InvalidInput` where it has more or fewer columns than the heading."""
    try:
        heading, *rows = csv.reader(StringIO(text.decode("utf-8-sig"), newline=""), strict=True)
    except (ValueError, csv.Error) as error:
        raise InvalidInput.because(
            f"is not a row of a table: {error}",
            code=ErrorCode.MALFORMED_DOCUMENT,
            document=document,
            remedy="write it as RFC 4180 says",
        ) from None
    if twice := next((name for name in heading if heading.count(name) > 1), None):
        raise InvalidInput.because(
            "stands more than once in the heading",
            code=ErrorCode.DUPLICATE_KEY,
            document=document,
            path=twice,
            remedy="give each column a name of its own",
        )
    columns = [len(row) for row in rows]
    if columns != [len(heading)]:
        raise InvalidInput.because(
            f"has {' and '.join(map(str, columns)) or 'no'} columns where the heading has {len(heading)}",
            code=ErrorCode.MALFORMED_DOCUMENT,
            document=document,
            path=heading[min(len(heading), *columns) - 1] if columns else "",
            remedy="a decimal comma or a comma that is not quoted shifts all columns behind it",
        )
    return dict(zip(heading, rows[0], strict=True))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = next(_repeated(pairs))
        raise InvalidInput.because(
            f"the key {twice!r} stands in one object twice", code=ErrorCode.DUPLICATE_KEY, remedy="keep one of the two"
        )
    return members


def _repeated(pairs: list[tuple[str, Any]]) -> Iterator[str]:
    seen = set()
    for key, _ in pairs:
        if key in seen:
            yield key
        seen.add(key)
