"""``kernelindex erase``."""

import asyncio
from pathlib import Path

from domain.principals import LOCAL
from service.app import open_index
from service.settings import Settings
from tests.examples import Clock, Ids, ingest
from tests.service.cli.conftest import Command


def test_what_was_erased_before_is_said_to_be_so_and_by_which_event(cli: Command, data: Path) -> None:
    async def write() -> int:
        async with open_index(Settings(data_dir=data), now=Clock(), new_id=Ids()) as index:
            return (await index.ledger.handle([ingest(100)], LOCAL)).position

    position = asyncio.run(write())

    first = cli("erase", position, "--legal-basis", "GDPR, article 17")
    again = cli("erase", position, "--legal-basis", "a court")

    assert (first.status, first.out.split(" the ")[0]) == (0, "erased")
    assert again.status == 0
    assert again.out.startswith("nothing to do: the payload of RunIngested")
    assert f"was erased before, by event {position + 1}: GDPR, article 17" in again.out
