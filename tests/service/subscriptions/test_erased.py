"""What was erased is told to nobody any more, however it lay ready."""

from typing import Any

from domain.commands import AttestRun, EraseEvent
from domain.facts import AttestationType
from domain.principals import LOCAL
from service.app import Index
from tests.examples import FINCH, bundle, run
from tests.service.api.asking import ingest_all
from tests.service.subscriptions.listening import hub_of, listening

SECRET = "Written by Quilla Ferrand, Rue du Bac 7"
EVENTS = """subscription ($after: LogCursor) { events(after: $after) {
  __typename ... on LogMessage { position } ... on EventRecorded { event { data } } } }"""


async def attest(index: Index) -> int:
    """Say of a run what must go later; answers the position of that."""
    said = AttestRun(attestation="a-1", run=run(1).digest, type=AttestationType.REPRODUCED, note=SECRET, salt="7f3a")
    return (await index.ledger.handle([said], FINCH)).position


async def erase(index: Index, position: int) -> None:
    event = index.log.at(position)
    assert event
    await index.ledger.handle([EraseEvent(position=position, stream=event.stream, legal_basis="GDPR Art. 17")], LOCAL)


def said(messages: list[Any]) -> bool:
    return any(SECRET in (message["event"]["data"] or "") for message in messages if "event" in message)


async def test_whoever_comes_after_an_erasure_is_not_told_what_was_rendered_before(index: Index) -> None:
    """Given a message that was rendered, and is kept for whoever comes again, when its event is erased."""
    await ingest_all(index, bundle(1))
    position = await attest(index)
    hub = hub_of(index)
    async with listening(hub, index, EVENTS, after="LOG_START") as listener:
        assert said(await listener.until("CaughtUp"))
    await erase(index, position)
    async with listening(hub, index, EVENTS, after="LOG_START") as listener:
        heard = await listener.until("CaughtUp")
        assert position in [message["position"] for message in heard]
        assert not said(heard)


async def test_a_channel_that_stays_open_drops_what_it_kept(index: Index) -> None:
    """Given a subscriber that keeps the channel open over the erasure, when another one joins it."""
    await ingest_all(index, bundle(1))
    hub = hub_of(index)
    async with listening(hub, index, EVENTS) as first:
        await first.until("CaughtUp")
        position = await attest(index)
        assert said(await first.take(1))
        await erase(index, position)
        assert not said(await first.take(1))
        async with listening(hub, index, EVENTS, after="LOG_START") as second:
            heard = await second.until("CaughtUp")
            assert [message["position"] for message in heard] == list(range(1, index.follower.head.position + 1))
            assert not said(heard)
