"""Whole answers are kept until the log goes on: no reader can tell, except that they come sooner."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from domain import principals
from domain.commands import Ingest
from domain.principals import LOCAL
from service.app import Index
from service.http.response_cache import Answer, Answers, Moment
from service.settings import Settings
from service.web import create_app
from tests.examples import bundle
from tests.service.clocks import Hands
from tests.service.site import Site, asked, site

HERE = "http://127.0.0.1:8000"
LATEST = "{ runs(first: 5) { totalCount position nodes { digest ranking { rank groupSize } } } }"
MOMENT = Moment(1, 0, "2026-08-01")


class Counted:
    """The endpoint, and how often it was asked."""

    def __init__(self, on: Site) -> None:
        self.times = 0
        self._endpoint = on.app.state.web.graphql
        on.app.state.web.graphql = self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.times += 1
        await self._endpoint(scope, receive, send)


class Served:
    """A site with a run, a client of it, and its endpoint."""

    def __init__(self, on: Site, client: httpx.AsyncClient) -> None:
        self.on, self.client, self.endpoint = on, client, Counted(on)
        self.index: Index = on.app.state.web._index

    async def ingest(self, number: int) -> int:
        one = Ingest(bundle=bundle(1000 + number, by=f"n{number}"))
        return (await self.index.ledger.handle([one], LOCAL)).position

    async def kept(self, query: str, headers: dict[str, str] | None = None) -> bool:
        """Whether a second asking of the same does not reach the endpoint."""
        await asked(self.client, query, headers)
        before = self.endpoint.times
        await asked(self.client, query, headers)
        return self.endpoint.times == before


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with site(tmp_path, requests_per_minute=1_000_000_000, response_cache_bytes=32_000_000) as (on, client):
        served = Served(on, client)
        await served.ingest(0)
        yield served


def without_time(answer: dict[str, Any]) -> dict[str, Any]:
    del answer["extensions"]["stamp"]["accessedAt"]
    return answer


class TestAKeptAnswer:
    async def test_is_the_same_but_for_the_time_at_which_it_was_read(self, served: Served) -> None:
        first = await asked(served.client, LATEST)
        served.on.clock.forward(seconds=7)
        second = await asked(served.client, LATEST)

        assert served.endpoint.times == 1
        read = [one.json()["extensions"]["stamp"]["accessedAt"] for one in (first, second)]
        assert read[0] < read[1] == served.on.clock().isoformat(timespec="microseconds").replace("+00:00", "Z")
        assert without_time(first.json()) == without_time(second.json())
        assert first.headers.keys() == second.headers.keys()
        assert first.headers["x-request-id"] != second.headers["x-request-id"]

    async def test_counts_as_a_request_like_any_other(self, tmp_path: Path) -> None:
        async with site(tmp_path, requests_per_minute=3) as (_, client):
            answers = [await asked(client, LATEST) for _ in range(4)]

        assert [one.status_code for one in answers] == [200, 200, 200, 429]
        assert ["r=2" in answers[0].headers["ratelimit"], "r=1" in answers[1].headers["ratelimit"]] == [True, True]

    async def test_is_dropped_with_the_next_event(self, served: Served) -> None:
        before = (await asked(served.client, LATEST)).json()["data"]["runs"]
        position = await served.ingest(1)
        after = (await asked(served.client, LATEST)).json()["data"]["runs"]

        assert (before["totalCount"], after["totalCount"]) == (1, 2)
        assert before["position"] < after["position"] == position

    async def test_is_dropped_when_the_day_ends(self, served: Served) -> None:
        query = "{ runs(first: 1) { nodes { citation { content } } } }"
        first = await asked(served.client, query)
        served.on.clock.forward(seconds=timedelta(days=1).total_seconds())
        second = await asked(served.client, query)

        assert first.json()["data"] != second.json()["data"]

    async def test_is_never_older_than_the_position_that_it_states(self, served: Served) -> None:
        """Readers ask for the same while runs come in: what was acknowledged before they asked is in their answer."""
        written = 1

        async def write() -> None:
            nonlocal written
            for number in range(1, 30):
                await served.ingest(number)
                written = number + 1

        async def read() -> None:
            while written < 30:
                known = written
                answer = (await asked(served.client, LATEST)).json()
                runs = answer["data"]["runs"]
                assert runs["totalCount"] >= known
                assert answer["extensions"]["stamp"]["position"] == runs["position"]
                (shown,) = {node["ranking"]["groupSize"] for node in runs["nodes"]}
                assert shown == runs["totalCount"]
                await asyncio.sleep(0)  # a kept answer comes without a pause, in which others could go on

        await asyncio.gather(write(), *(read() for _ in range(4)))

    async def test_is_revalidated_by_its_etag(self, served: Served) -> None:
        first = await served.client.get("/graphql", params={"query": LATEST})
        etag = first.headers["etag"]
        again = await served.client.get("/graphql", params={"query": LATEST}, headers={"If-None-Match": etag})
        await served.ingest(1)
        later = await served.client.get("/graphql", params={"query": LATEST}, headers={"If-None-Match": etag})

        assert (first.status_code, again.status_code, later.status_code) == (200, 304, 200)
        assert (again.content, again.headers["etag"]) == (b"", etag)
        assert later.headers["etag"] != etag


class TestIsKept:
    async def test_by_post_and_get(self, served: Served) -> None:
        assert await served.kept(LATEST)
        await served.client.get("/graphql", params={"query": LATEST})
        before = served.endpoint.times
        await served.client.get("/graphql", params={"query": LATEST})
        assert served.endpoint.times == before

    @pytest.mark.parametrize(
        "query",
        [
            "{ runs(first: 1) { nodes { citation(format: BIBTEX) { content } history { nodes { recordedAt } } } } }",
            '{ runs(first: 1) { nodes { citation(style: "apa") { content } } } }',
            "{ events(first: 2) { nodes { position } } }",
            "{ at(asOf: {position: 1}) { runs { totalCount } } }",
        ],
    )
    async def test_where_it_follows_from_the_log_and_the_day(self, served: Served, query: str) -> None:
        assert await served.kept(query)

    async def test_apart_for_each_media_type(self, served: Served) -> None:
        await asked(served.client, LATEST)
        other = await asked(served.client, LATEST, {"Accept": "application/graphql-response+json"})
        assert other.headers["content-type"].startswith("application/graphql-response+json")


class TestIsNotKept:
    @pytest.mark.parametrize(
        "query",
        [
            "{ stamp { position } }",
            "{ rateLimit { remaining } }",
            "{ viewer { principal } }",
            "{ runs(first: 1) { nodes { stamp { accessedAt } } } }",
            "{ at(asOf: {position: 1}) { stamp { position } } }",
            "{ checkpoint { note } }",
            "{ inclusionProof(position: 1) { tlogProof } }",
            "{ runs(first: 1) { nodes { citation(proof: true) { proof } } } }",
            "{ ...on Query { renamed: stamp { position } } }",
        ],
    )
    async def test_what_depends_on_when_and_by_whom_it_is_asked(self, served: Served, query: str) -> None:
        assert not await served.kept(query)

    @pytest.mark.parametrize(
        "query",
        [
            "{ runs(first: 101) { totalCount } }",
            "{ nothing }",
            "{",
            "mutation { retractRun(input: {}) { __typename } }",
        ],
    )
    async def test_an_error_or_a_mutation(self, served: Served, query: str) -> None:
        assert not await served.kept(query)

    async def test_what_was_asked_with_a_key(self, served: Served) -> None:
        header = served.on.key(principals.Scope.ATTEST)[1]
        await asked(served.client, LATEST)
        assert not await served.kept(LATEST, header)

    async def test_what_waits_for_a_position(self, served: Served) -> None:
        await asked(served.client, LATEST)
        assert not await served.kept(LATEST, {"X-KernelIndex-Min-Position": "1"})

    async def test_anything_where_the_setting_says_so(self, tmp_path: Path) -> None:
        async with site(tmp_path, response_cache_bytes=0) as (on, client):
            assert not await Served(on, client).kept(LATEST)


async def test_another_process_does_not_revalidate_what_this_one_has_answered(tmp_path: Path) -> None:
    """It may be of another release, which answers otherwise."""
    etags, clock = [], Hands()
    for _ in range(2):
        app = create_app(Settings(data_dir=tmp_path, response_cache_bytes=32_000_000), now=clock)
        transport = httpx.ASGITransport(app)
        async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url=HERE) as client:
            answer = await client.get("/graphql", params={"query": LATEST})
            etags.append(answer.headers["etag"])
            assert answer.json()["extensions"]["stamp"]["position"] > 0
    assert etags[0] != etags[1]


class TestRequestsThatAskTheSame:
    QUERY = "query One($n: Int, $m: Int) { runs(first: $n) { nodes { digest } } more: runs(first: $m) { totalCount } }"
    BODY: ClassVar[dict[str, Any]] = {"query": QUERY, "variables": {"n": 1, "m": 2}, "operationName": "One"}
    OTHER_WORDS: ClassVar[dict[str, dict[str, Any]]] = {
        "layout": BODY | {"query": QUERY.replace(" ", "\n  ") + "  # the same"},
        "order of the variables": BODY | {"variables": {"m": 2, "n": 1}},
        "order of the members": dict(reversed(BODY.items())),
        "a name that is not needed": {name: value for name, value in BODY.items() if name != "operationName"},
        "what nobody reads": BODY | {"extensions": {"client": "x"}},
    }
    OTHERS: ClassVar[dict[str, dict[str, Any]]] = {
        "another name in the answer": BODY | {"query": QUERY.replace("more:", "rest:")},
        "another value": BODY | {"variables": {"n": 1, "m": 3}},
        "a value less": BODY | {"variables": {"n": 1}},
        "another order in the answer": BODY
        | {"query": QUERY.replace("{ nodes { digest } }", "{ nodes { id digest } }")},
    }

    @pytest.mark.parametrize("words", OTHER_WORDS)
    async def test_share_an_answer(self, served: Served, words: str) -> None:
        first = await served.client.post("/graphql", json=self.BODY)
        # In these words it was never asked: that its document says the same shows once it was answered.
        await served.client.post("/graphql", json=self.OTHER_WORDS[words])
        before = served.endpoint.times
        second = await served.client.post("/graphql", json=self.OTHER_WORDS[words])
        assert served.endpoint.times == before
        assert without_time(second.json()) == without_time(first.json())

    async def test_share_it_at_once_where_their_texts_are_known(self, served: Served) -> None:
        await served.client.post("/graphql", json=self.BODY)
        before = served.endpoint.times
        await served.client.post("/graphql", json=self.OTHER_WORDS["order of the variables"])
        assert served.endpoint.times == before

    @pytest.mark.parametrize("words", OTHERS)
    async def test_and_nobody_else_gets_it(self, served: Served, words: str) -> None:
        await served.client.post("/graphql", json=self.BODY)
        kept = await served.client.post("/graphql", json=self.OTHERS[words])
        plain = await served.client.post(
            "/graphql", json=self.OTHERS[words], headers={"X-KernelIndex-Min-Position": "1"}
        )
        assert without_time(kept.json()) == without_time(plain.json())

    async def test_not_in_another_form(self, served: Served) -> None:
        await served.client.post("/graphql", json=self.BODY)
        wanted = "application/graphql-response+json"
        for _ in range(2):
            answer = await served.client.post("/graphql", json=self.BODY, headers={"Accept": wanted})
            assert answer.headers["content-type"].startswith(wanted)
        link = await served.client.get("/graphql", params={"query": "{ runs { totalCount } }"})
        assert link.headers["etag"]

    async def test_what_it_asks_is_known_still_when_the_log_has_gone_on(self, served: Served) -> None:
        for number in range(1, 3):
            await served.client.post("/graphql", json=self.BODY)
            await served.ingest(number)
            now = (await served.client.post("/graphql", json=self.BODY)).json()["extensions"]["stamp"]["position"]
            assert now == served.index.follower.head.position


class TestAnswers:
    def test_of_another_moment_are_gone(self) -> None:
        answers = Answers(max_bytes=100_000)
        for moment in (MOMENT, MOMENT._replace(position=2), MOMENT._replace(generation=1)):
            assert answers.get(moment, ("POST", b"q")) is None
            answers.keep(moment, ("POST", b"q"), Answer([], b"", b""))
            assert answers.get(moment, ("POST", b"q"))

    async def test_stay_within_their_bytes_under_a_flood_of_distinct_queries(self, tmp_path: Path) -> None:
        async with site(tmp_path, response_cache_bytes=100_000, requests_per_minute=1_000_000) as (on, client):
            served = Served(on, client)
            for number in range(100):
                await asked(client, f"{{ a{number}: __typename }}")
            assert await served.kept("{ a99: __typename }")
            before = served.endpoint.times
            await asked(client, "{ a0: __typename }")
            assert served.endpoint.times == before + 1, "it made room for later ones"
