"""Reading on after a bad row: what is wrong with one keeps no other out."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from domain.errors import InvalidInput
from service.sources.base import Parsed, Refused
from service.sources.values import Fields


def each(
    rows: Iterable[tuple[str, Any]], parse: Callable[[Fields], Iterator[Parsed]], named: Callable[[Any], str]
) -> Iterator[Parsed]:
    """What each row gives, or why it gives nothing: a row is taken whole or not at all.

    ``named`` is the source's own name for a row, as far as it has one.
    """
    for path, row in rows:
        try:
            found = list(parse(Fields(row, path)))
        except InvalidInput as error:
            yield Refused(row=named(row) if isinstance(row, dict) else "", problems=error.problems)
        else:
            yield from found
