"""Rows are kept as of a position, parts of answers by the version of the document that they show: no reader can tell."""

from typing import Any

import msgspec
import pytest

from domain.commands import EraseEvent
from domain.principals import LOCAL
from service.api.execute import Api, extensions_of
from service.api.recall import Recall
from service.api.schema import DOCUMENTS, built_schema
from service.api.stored import Stored
from service.app import Index
from service.auth import AT_HOME
from tests.examples import ingest
from tests.service.api.asking import run_of
from tests.service.api.test_snapshots import EVERYTHING
from tests.service.api.test_statements import about

schema = built_schema()

TITLES = "{ runs { nodes { digest title primary { formatted } operation { name } } } }"


def recalling(index: Index) -> Api:
    """An API that keeps what it has read, whatever the settings say."""
    api = Api(index)
    api.recall = Recall(max_bytes=32_000_000)
    return api


async def answer(api: Api, query: str) -> bytes:
    prepared = DOCUMENTS.prepare(schema, query)
    context = api.context(AT_HOME)
    result = await api.execute(prepared, prepared.operation(None), {}, context)
    assert not result.errors
    stamp: dict[str, Any] = extensions_of(context)["stamp"]
    return msgspec.json.encode([result.data, stamp["position"]])


async def test_after_every_write_they_tell_what_the_views_do(index: Index) -> None:
    """Given one reader that keeps what it has read and, after each write, one that has read nothing yet."""
    warm = recalling(index)
    writes = [*(ingest(1000 + number, by=f"n{number}") for number in range(3)), *about(run_of(1000, by="n0"), "n0")]
    for write in writes:
        await index.ledger.handle([write], LOCAL)
        for query in (EVERYTHING, f"{{ at(asOf: {{position: 9}}) {EVERYTHING} }}", EVERYTHING):
            assert await answer(warm, query) == await answer(Api(index), query)


async def test_a_version_that_was_shown_is_not_decoded_again(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    api, read = recalling(index), list[Stored]()
    for number in range(3):
        await index.ledger.handle([ingest(1000 + number, by=f"n{number}")], LOCAL)
    decode = Stored.read

    def counted(self: Stored, decoder: Any) -> None:
        read.append(self)
        decode(self, decoder)

    monkeypatch.setattr(Stored, "read", counted)

    first = await answer(api, TITLES)
    known = len(read)
    assert await answer(api, TITLES) == first
    assert len(read) == known > 0

    await index.ledger.handle([ingest(1003, by="n3")], LOCAL)
    await answer(api, TITLES)
    assert len(read) == known + 1, "only the new run"


async def test_what_was_erased_does_not_even_lie_in_memory(index: Index) -> None:
    api = recalling(index)
    written = await index.ledger.handle([ingest(1000, by="n0")], LOCAL)
    await answer(api, TITLES)
    assert api.recall.bytes > 0

    event = index.log.at(written.position)
    assert event
    await index.ledger.handle(
        [EraseEvent(position=written.position, stream=event.stream, legal_basis="Art. 17")], LOCAL
    )
    fresh = recalling(index)
    assert b'"nodes":[]' in await answer(fresh, TITLES) == await answer(api, TITLES)
    assert api.recall.bytes == fresh.recall.bytes


def test_an_operation_that_outlasts_an_erasure_brings_nothing_back() -> None:
    recall = Recall(max_bytes=100_000)
    recall.be_of(1)
    recall.keep(0, (0, "runs", "sha256:00", 5), {"title": "what was erased"}, 500)
    assert recall.bytes == 0
