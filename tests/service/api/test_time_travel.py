"""What is shown as of a position is what was shown there: of every root field, and of all rows behind them.

One set of views is built along the log, save by save; another has seen the whole log. Wherever the first pauses, the
second, asked as of that position, must answer the same.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from service.app import Index, open_index
from service.settings import Settings
from tests.examples import Clock, Ids
from tests.projections.test_replay import ADOPT, carry_out, save_ends
from tests.service.api.walking import Asking, known_ids, root_fields, unpinned, walk


async def compare_along(index: Index, folder: Path, pauses: Sequence[int], fields: Sequence[str]) -> None:
    """Pause at each of these positions and ask for all of these fields there, and as of there."""
    later = Asking(index)
    async with walk(index, folder) as way:
        for position in pauses:
            then = Asking(await way.on_to(position))
            for asked in fields:
                shown = await later.at(position, asked)
                assert shown == await then.at(position, asked), (position, asked)
                assert unpinned(shown, position) == await then.now(asked), (position, asked)


@pytest.mark.parametrize("seed", [1, 2])
def test_every_root_field_shows_as_of_a_position_what_it_showed_there(seed: int, tmp_path: Path) -> None:
    """All commands that there are, in some order, in saves of some size: together they bring about every fact."""
    some = Random(seed)
    order = some.sample(range(ADOPT + 1), k=ADOPT + 1)

    walked = tmp_path / "walked"
    walked.mkdir()

    async def checked() -> None:
        async with open_index(Settings(data_dir=tmp_path), now=Clock(), new_id=Ids()) as index:
            while order:
                size = some.randint(1, 5)
                carry_out(index, order[:size])
                del order[:size]
            await index.follower.catch_up()
            pauses = save_ends(index.log.read(0, 10_000))
            fields = list(root_fields(known_ids(index)))
            await compare_along(index, walked, pauses, fields)

    asyncio.run(checked())
