"""Sending files to a running index: what arrives, and that nothing arrives twice."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from domain.errors import ErrorCode, KernelIndexError
from service.importing import sending
from service.importing.report import Count
from service.importing.sending import Sender
from service.settings import Settings
from service.web import create_app
from tests.service.http.serving import serving
from tests.service.importing.exports import SAMPLE, SEEDS, seed


def answer(status: int, headers: dict[str, str] | None = None) -> ASGIApp:
    """An application that answers this to everything."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        listed = [(name.encode(), text.encode()) for name, text in (headers or {}).items()]
        await send({"type": "http.response.start", "status": status, "headers": listed})
        await send({"type": "http.response.body", "body": b"sorry"})

    return app


class Way:
    """What stands between a client and an index. ``seen`` holds the bodies that were sent, by their keys."""

    def __init__(self, app: Starlette) -> None:
        self._app = app
        self.seen: list[tuple[str, bytes]] = []
        self.meddle: Callable[[bytes], ASGIApp | None] = lambda _: None
        self.loses_answers = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        key = dict(scope["headers"])[b"idempotency-key"].decode()
        self.seen.append((key, body))
        instead = self.meddle(body)
        if instead:
            await instead(scope, receive, send)
            return
        lost = self.loses_answers > 0
        self.loses_answers -= lost

        async def whole() -> dict[str, object]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def nothing(_: object) -> None:
            """The answer gets lost."""

        await self._app(scope, whole, nothing if lost else send)
        if lost:
            await answer(503, {"Retry-After": "0"})(scope, receive, send)


@pytest.fixture
def way(tmp_path: Path) -> Way:
    return Way(create_app(Settings(data_dir=tmp_path / "data"), demo=True))


@pytest.fixture
def url(way: Way) -> Iterator[str]:
    """An index that anybody at this machine may write to."""
    with serving(way, lifespan=True) as url:
        yield url


def test_bundles_arrive_with_all_that_they_hold(url: str) -> None:
    report = Sender(url).send(SEEDS)
    assert report.counts["runs"] == Count(new=2)
    assert report.counts["implementations"] == Count(new=2)
    assert report.refused == []


def test_what_an_index_has_already_is_unchanged(url: str, tmp_path: Path) -> None:
    Sender(url).send([SEEDS[0]])
    report = Sender(url).send(SEEDS)
    assert report.counts["runs"] == Count(new=1, unchanged=1)


def test_a_refusal_names_the_file_and_line_here_and_loses_nothing_else(url: str, tmp_path: Path) -> None:
    """Whether we see it, as we do broken JSON, or only the index does."""
    wrong = seed(1)
    wrong["run"]["spec"]["status"] = "splendid"
    path = tmp_path / "bundles.jsonl"
    path.write_text("\n".join([json.dumps(seed(0)), "{broken", json.dumps(wrong), json.dumps(seed(1))]))

    report = Sender(url).send([path])

    assert report.counts["runs"] == Count(new=2, refused=1)
    broken, refused = (rejected.problems[0] for rejected in report.refused)
    assert (broken.document, broken.code) == (f"{path}:2", ErrorCode.MALFORMED_DOCUMENT)
    assert (refused.document, refused.path) == (f"{path}:3", "run.spec.status")
    assert refused.remedy


def test_a_request_whose_answer_was_lost_counts_once(url: str, way: Way) -> None:
    """It is sent again under the same key, and answered as it was the first time."""
    way.loses_answers = 2

    report = Sender(url).send(SEEDS)

    assert report.counts["runs"] == Count(new=2)
    assert len(way.seen) == 3
    assert len(set(way.seen)) == 1


def test_another_push_of_the_same_is_another_request(url: str, way: Way) -> None:
    """Else what was refused once would be refused for ever, whatever has changed on the server since."""
    for _ in range(2):
        Sender(url).send([SEEDS[0]])
    (first, body), (second, again) = way.seen
    assert body == again
    assert first != second
    assert len(first) <= 128


def test_long_files_are_sent_in_chunks(url: str, way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "MAX_BUNDLES", 3)
    path = tmp_path / "bundles.jsonl"
    path.write_text("\n".join(json.dumps(seed(number % 2)) for number in range(8)))

    report = Sender(url).send([path])

    assert [len(body.splitlines()) for _, body in way.seen] == [3, 3, 2]
    assert report.counts["runs"] == Count(new=2, unchanged=6)


def test_a_chunk_that_is_too_large_for_the_server_is_halved(url: str, way: Way, tmp_path: Path) -> None:
    way.meddle = lambda body: answer(413) if body.count(b"\n") else None
    path = tmp_path / "bundles.jsonl"
    path.write_text("\n".join(json.dumps(seed(number % 2)) for number in range(3)))

    report = Sender(url).send([path])

    assert report.counts["runs"] == Count(new=2, unchanged=1)


def test_a_catalog_is_refused_as_a_whole(url: str, way: Way) -> None:
    report = Sender(url).send([SAMPLE, SEEDS[0]])
    (rejected,) = report.refused
    assert rejected.problems[0].document == str(SAMPLE)
    assert "kernelindex import" in rejected.problems[0].remedy
    assert report.counts["runs"] == Count(new=1)


@pytest.mark.parametrize("file", ["kernelbot/rows.json", "sol-traces/trace.jsonl", "liger/all_benchmark_data.csv"])
def test_a_file_of_a_source_is_refused_as_a_whole(url: str, way: Way, file: str) -> None:
    """It needs what stands beside it, and a log to be compared with."""
    path = Path(__file__).parents[2] / "fixtures" / "sources" / file
    report = Sender(url).send([path])
    (rejected,) = report.refused
    assert rejected.problems[0].document == str(path)
    assert "kernelindex import" in rejected.problems[0].remedy


def test_a_server_that_takes_no_writes_is_an_error_with_its_remedy(tmp_path: Path) -> None:
    with (
        serving(create_app(Settings(data_dir=tmp_path / "data")), lifespan=True) as url,
        pytest.raises(KernelIndexError) as raised,
    ):
        Sender(url).send([SEEDS[0]])
    assert raised.value.problems[0].code is not ErrorCode.INTERNAL
    assert raised.value.problems[0].remedy


def test_a_key_travels_in_the_header(url: str, way: Way) -> None:
    """One that nobody gave out is refused, so it has arrived."""
    with pytest.raises(KernelIndexError, match="key"):
        Sender(url, "ki_nobody_gave_this_out").send([SEEDS[0]])


def test_what_is_no_index_is_told_from_one(url: str, way: Way) -> None:
    way.meddle = lambda _: answer(404)
    with pytest.raises(KernelIndexError, match="404"):
        Sender(url).send([SEEDS[0]])


def test_a_server_that_is_not_there_is_told_at_once() -> None:
    with pytest.raises(KernelIndexError, match="can't be reached"):
        Sender("http://127.0.0.1:9").send([SEEDS[0]])
