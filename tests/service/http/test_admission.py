"""Rates over HTTP: 429 at the boundary, whatever the path, and every answer says how many requests are left."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest

from domain.principals import Scope
from service.pages.static import url_of
from tests.examples import bundle
from tests.service.api.asking import texts_of, tree_of
from tests.service.site import Site, asked, error, site

RATE = "{ rateLimit { limit remaining resetAt } }"
WRITE = "mutation ($input: IngestRunInput!) { ingestRun(input: $input) { __typename } }"
Served = tuple[Site, httpx.AsyncClient]


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with site(tmp_path, requests_per_minute=4, requests_per_minute_with_key=8, writes_per_minute=2) as served:
        yield served


async def statuses(client: httpx.AsyncClient, times: int, headers: dict[str, str] | None = None) -> list[int]:
    return [(await asked(client, "{ __typename }", headers)).status_code for _ in range(times)]


class TestRequests:
    async def test_pass_up_to_the_limit_and_not_beyond(self, served: Served) -> None:
        _, client = served
        assert await statuses(client, 6) == [200] * 4 + [429] * 2

    async def test_pass_again_after_what_retry_after_says_and_not_before(self, served: Served) -> None:
        on, client = served
        await statuses(client, 4)
        refusal = await asked(client, RATE)
        assert error(refusal)["code"] == "RATE_LIMITED"
        wait = int(refusal.headers["retry-after"])
        on.clock.forward(seconds=wait, microseconds=-1)
        assert await statuses(client, 1) == [429]
        on.clock.forward(microseconds=1)
        assert await statuses(client, 2) == [200, 429]

    async def test_are_more_with_a_key_and_count_for_its_principal(self, served: Served) -> None:
        on, client = served
        one, other = on.key(Scope.ATTEST)[1], on.key(Scope.INGEST)[1]
        assert await statuses(client, 5, one) == [200] * 5
        assert await statuses(await on.at("192.0.2.9"), 4, other) == [200] * 3 + [429]
        assert await statuses(client, 1) == [200]

    async def test_of_one_address_leave_those_of_another_alone(self, served: Served) -> None:
        on, client = served
        await statuses(client, 5)
        assert await statuses(await on.at("192.0.2.2"), 1) == [200]

    async def test_count_whichever_path_they_ask_for(self, served: Served) -> None:
        _, client = served
        told = [
            await client.get("/runs/28c78ea8"),
            await client.get("/nowhere"),
            await client.post("/ingest"),
            await client.post("/graphql", content=b"not JSON", headers={"Content-Type": "application/json"}),
        ]
        assert [one.status_code for one in told] == [404, 404, 401, 400]
        assert [one.headers["ratelimit"].split(";")[1] for one in told] == ["r=3", "r=2", "r=1", "r=0"]
        assert (await client.get("/runs/28c78ea8")).status_code == 429

    async def test_with_a_bad_key_count_for_the_address(self, served: Served) -> None:
        """Who guesses keys is slowed down, and learns nothing more then."""
        _, client = served
        assert await statuses(client, 6, {"Authorization": "Bearer ki_guess"}) == [401] * 4 + [429] * 2

    async def test_that_forge_a_forwarded_address_count_for_their_own(self, served: Served) -> None:
        _, client = served
        told = [await statuses(client, 1, {"X-Forwarded-For": f"198.51.100.{number}"}) for number in range(5)]
        assert told == [[200]] * 4 + [[429]]

    async def test_for_health_and_assets_and_preflights_do_not_count(self, served: Served) -> None:
        _, client = served
        preflight = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
        for _ in range(5):
            assert (await client.get("/healthz")).status_code == 200
            assert (await client.get("/readyz")).status_code == 200
            assert (await client.get(url_of("icon.svg"))).status_code == 200
            assert (await client.options("/graphql", headers=preflight)).status_code == 204
        assert await statuses(client, 5) == [200] * 4 + [429]
        assert (await client.get("/healthz")).status_code == 200


class TestWrites:
    async def test_have_a_limit_of_their_own_over_graphql_and_ingest_alike(self, served: Served) -> None:
        on, client = served
        _, header = on.key(Scope.INGEST)
        made = await asked(client, WRITE, header, input={**texts_of(bundle()), "idempotencyKey": "a"})
        assert made.json()["data"] == {"ingestRun": {"__typename": "IngestRunSuccess"}}
        sent = await client.post("/ingest", json=tree_of(bundle()), headers={**header, "Idempotency-Key": "b"})
        assert sent.status_code == 200
        for refusal in (
            await asked(client, WRITE, header, input={**texts_of(bundle(1, by="new")), "idempotencyKey": "c"}),
            await client.post("/ingest", json=tree_of(bundle(1, by="new")), headers={**header, "Idempotency-Key": "d"}),
        ):
            assert refusal.status_code == 429
            assert error(refusal)["code"] == "RATE_LIMITED"
            assert refusal.headers["retry-after"] == "30"
        assert await statuses(client, 1, header) == [200]

    async def test_that_are_refused_do_nothing(self, served: Served) -> None:
        on, client = served
        _, header = on.key(Scope.INGEST)
        for number in range(3):
            given = {**texts_of(bundle(number + 1, by=f"n{number}")), "idempotencyKey": str(number)}
            await asked(client, WRITE, header, input=given)
        counted = await asked(client, "{ runs(first: 9) { nodes { id } } }", header)
        assert len(counted.json()["data"]["runs"]["nodes"]) == 2

    async def test_tell_where_both_limits_stand(self, served: Served) -> None:
        on, client = served
        _, header = on.key(Scope.INGEST)
        made = await asked(client, WRITE, header, input={**texts_of(bundle()), "idempotencyKey": "a"})
        assert made.headers["ratelimit-policy"] == '"requests";q=8;w=60, "writes";q=2;w=60'
        assert made.headers["ratelimit"] == '"requests";r=7;t=8, "writes";r=1;t=30'


class TestWhatIsLeft:
    async def test_is_told_alike_by_the_field_and_the_headers(self, served: Served) -> None:
        _, client = served
        await statuses(client, 1)
        answer = await asked(client, RATE)
        assert answer.json()["data"]["rateLimit"] == {
            "limit": 4,
            "remaining": 2,
            "resetAt": "2026-09-01T12:00:30.000000Z",
        }
        assert answer.headers["ratelimit-policy"] == '"requests";q=4;w=60'
        assert answer.headers["ratelimit"] == '"requests";r=2;t=30'

    async def test_is_all_of_it_at_the_reset(self, served: Served) -> None:
        on, client = served
        await statuses(client, 3)
        reset = (await asked(client, RATE)).json()["data"]["rateLimit"]["resetAt"]
        left = datetime.fromisoformat(reset) - on.clock()
        on.clock.forward(microseconds=left / timedelta(microseconds=1))
        assert (await asked(client, RATE)).json()["data"]["rateLimit"]["remaining"] == 3

    async def test_can_be_read_by_a_page_of_another_site(self, served: Served) -> None:
        _, client = served
        answer = [await asked(client, RATE) for _ in range(5)][-1]
        assert answer.status_code == 429
        assert answer.headers["access-control-allow-origin"] == "*"
        exposed = {name.strip().lower() for name in answer.headers["access-control-expose-headers"].split(",")}
        assert {"ratelimit", "ratelimit-policy", "retry-after"} <= exposed

    async def test_is_told_once_where_a_request_is_refused(self, served: Served) -> None:
        _, client = served
        answer = [await asked(client, RATE) for _ in range(5)][-1]
        assert answer.headers.get_list("ratelimit") == ['"requests";r=0;t=60']
        assert answer.headers["cache-control"] == "no-store"


async def test_an_ipv6_network_is_one_address(served: Served) -> None:
    """One customer has 2^64 addresses there, and could ask from another one each time."""
    on, _ = served
    for number in range(4):
        assert await statuses(await on.at(f"2001:db8::{number}"), 1) == [200]
    assert await statuses(await on.at("2001:db8::ffff"), 1) == [429]
