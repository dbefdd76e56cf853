"""``kernelindex erase``: take the payload of an event out of the log, because the law asks for it."""

import asyncio
import re
from typing import Annotated, Final

from cyclopts import Parameter

from domain.commands import EraseEvent
from domain.errors import InvalidInput, NotFound
from domain.json_text import shown
from domain.principals import LOCAL
from projections import erasures
from service.app import open_index
from service.ledger import Refusal
from service.logs import quiet_logs
from service.settings import Settings

# Read strictly: a fraction must not be rounded to somebody else's event.
_POSITION: Final = re.compile(r"[0-9]{1,16}")
LegalBasis = Annotated[str, Parameter(help="The law and the request, for all to read.")]


def erase(position: str, /, *, legal_basis: LegalBasis) -> None:
    """Erase the payload of the event at a position, for ever.

    Its digest stays, so that the log can still be audited. What it said is gone from the log and from every view, at
    all positions; a permalink to its record answers 410. Copies of the log that others keep are theirs to erase, and
    so are your backups.
    """
    if not _POSITION.fullmatch(position):
        raise InvalidInput.because(
            f"{shown(position)} is no position",
            path="position",
            remedy="give the number of one event: it can't be undone",
        )
    quiet_logs()
    asyncio.run(_erase(int(position), legal_basis))


async def _erase(position: int, legal_basis: str) -> None:
    async with open_index(Settings()) as index:
        event = await asyncio.to_thread(index.log.at, position)
        if event is None:
            raise NotFound.because(
                f"the log has no position {position}",
                path="position",
                remedy=f"the first is 1, the last is {index.follower.head.position}",
            )
        command = EraseEvent(position=position, stream=event.stream, legal_basis=legal_basis)
        answer = await index.ledger.handle([command], LOCAL)
        (result,) = answer.results
        if isinstance(result, Refusal):
            raise result.error()
        erasure = await index.views.read(lambda db: erasures.of_event(db, position))
    what = f"the payload of {event.type} at position {position} ({event.stream})"
    if erasure and not result.created:
        print(f"nothing to do: {what} was erased before, by event {erasure.by}: {erasure.legal_basis}")  # noqa: T201
    else:
        print(f"erased {what}; its digest stays")  # noqa: T201
