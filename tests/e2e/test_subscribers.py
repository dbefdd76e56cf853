"""Many writers in several processes, many subscribers that come and go: each hears each position once, in order."""

from pathlib import Path

import pytest

from tests.e2e.coming_and_going import SUBSCRIBERS, told


@pytest.mark.parametrize(("seconds", "kills"), [(15, 0), (8, 2)])
async def test_every_subscriber_hears_every_matching_position_once_and_in_order(
    tmp_path: Path, seconds: int, kills: int
) -> None:
    """With ``kills`` the server is killed with SIGKILL meanwhile, and started again."""
    wanted, subscribers = await told(tmp_path, seconds, kills)
    assert len(wanted["all"]) > 100
    assert wanted["timeouts"]
    assert all(one.heard == wanted[one.kind] for one in subscribers)
    assert sum(one.connections for one in subscribers) > 3 * SUBSCRIBERS
