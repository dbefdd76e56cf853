"""Who asks, over HTTP: keys in one header only, refusals that say why and repeat nothing, writes that need one."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from rich.pretty import pretty_repr
from starlette.datastructures import Headers

from domain.errors import InvalidInput
from domain.principals import Scope
from service.auth import is_at_home, is_loopback
from service.settings import Settings
from service.web import create_app
from tests.examples import bundle
from tests.service.api.asking import texts_of, tree_of
from tests.service.logged import logged as logged_lines
from tests.service.site import Site, asked, error, site

VIEWER = "{ viewer { principal } }"
INGEST = """mutation ($input: IngestRunInput!) { ingestRun(input: $input) {
  __typename ... on UserError { code message remedy } ... on IngestRunSuccess { digest created } } }"""
KIB = 1024


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[Site, httpx.AsyncClient]]:
    async with site(tmp_path) as served:
        yield served


def a_run(key: str = "k") -> dict[str, Any]:
    return {**texts_of(bundle()), "idempotencyKey": key}


class TestTheHeader:
    async def test_is_needed_for_no_read(self, served: tuple[Site, httpx.AsyncClient]) -> None:
        _, client = served
        assert (await asked(client, VIEWER)).json()["data"] == {"viewer": None}

    @pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
    async def test_names_the_principal(self, served: tuple[Site, httpx.AsyncClient], scheme: str) -> None:
        (on, client) = served
        text = on.key(Scope.ATTEST)[1]["Authorization"].removeprefix("Bearer ")
        answer = await asked(client, VIEWER, {"Authorization": f"{scheme} {text}"})
        assert answer.json()["data"] == {"viewer": {"principal": "heron"}}

    @pytest.mark.parametrize(
        "value",
        ["", "Bearer", "Bearer ", "Bearer x", "Basic aGVyb246cGFzcw==", "ki_{}", "Bearer ki_", "Bearer {0} {0}", "{0}"],
    )
    async def test_that_holds_no_key_is_refused(self, served: tuple[Site, httpx.AsyncClient], value: str) -> None:
        on, client = served
        text = on.key(Scope.ATTEST)[1]["Authorization"].removeprefix("Bearer ")
        answer = await asked(client, VIEWER, {"Authorization": value.format(text)})
        assert answer.status_code == 401
        assert error(answer)["code"] == "UNAUTHENTICATED"
        assert answer.headers["www-authenticate"].startswith("Bearer")

    async def test_twice_is_refused_even_where_both_are_right(self, served: tuple[Site, httpx.AsyncClient]) -> None:
        on, client = served
        header = next(iter(on.key(Scope.ATTEST)[1].items()))
        answer = await client.post("/graphql", json={"query": VIEWER}, headers=[header, header])
        assert answer.status_code == 401

    @pytest.mark.parametrize("path", ["/graphql?query={__typename}", "/runs/28c78ea8", "/", "/nowhere"])
    async def test_with_a_bad_key_is_refused_on_every_path(
        self, served: tuple[Site, httpx.AsyncClient], path: str
    ) -> None:
        _, client = served
        answer = await client.get(path, headers={"Authorization": f"Bearer ki_{'0' * 16}_{'0' * 64}"})
        assert answer.status_code == 401
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-request-id"]

    async def test_is_not_looked_at_by_health_checks(self, served: tuple[Site, httpx.AsyncClient]) -> None:
        _, client = served
        for path in ("/healthz", "/readyz"):
            assert (await client.get(path, headers={"Authorization": "Bearer nonsense"})).status_code == 200

    async def test_is_refused_in_the_media_type_that_the_client_takes(
        self, served: tuple[Site, httpx.AsyncClient]
    ) -> None:
        _, client = served
        media_type = "application/graphql-response+json"
        answer = await asked(client, VIEWER, {"Authorization": "Bearer x", "Accept": media_type})
        assert answer.headers["content-type"].startswith(media_type)

    async def test_is_the_only_place_for_a_key(self, served: tuple[Site, httpx.AsyncClient]) -> None:
        """A key in a cookie would be sent by other sites' pages; one in a URL ends up in logs and histories."""
        on, client = served
        text = on.key(Scope.ADMIN)[1]["Authorization"].removeprefix("Bearer ")
        cookies = {"Cookie": f"Authorization=Bearer {text}; key={text}; access_token={text}"}
        assert (await asked(client, VIEWER, cookies)).json()["data"] == {"viewer": None}
        for name in ("key", "access_token", "authorization"):
            answer = await client.get("/graphql", params={"query": VIEWER, name: text})
            assert answer.json()["data"] == {"viewer": None}
        answer = await client.post(
            "/graphql", json={"query": VIEWER, "extensions": {"authorization": f"Bearer {text}"}}
        )
        assert answer.json()["data"] == {"viewer": None}
        assert (await asked(client, VIEWER, {"X-Api-Key": text})).json()["data"] == {"viewer": None}


class TestAKeyThatHasEnded:
    async def test_is_refused_from_the_next_request_on(self, served: tuple[Site, httpx.AsyncClient]) -> None:
        on, client = served
        key, header = on.key(Scope.ATTEST)
        assert (await asked(client, VIEWER, header)).status_code == 200
        on.keys.revoke(key.id)
        answer = await asked(client, VIEWER, header)
        assert answer.status_code == 401
        assert "revoked" in answer.json()["errors"][0]["message"]

    async def test_says_that_it_expired(self, served: tuple[Site, httpx.AsyncClient]) -> None:
        on, client = served
        _, header = on.key(Scope.ATTEST, expires_at=on.clock().replace(minute=1))
        on.clock.forward(seconds=60)
        answer = await asked(client, VIEWER, header)
        assert answer.status_code == 401
        assert "expired" in answer.json()["errors"][0]["message"]


async def test_no_log_line_and_no_answer_holds_a_secret(
    served: tuple[Site, httpx.AsyncClient], capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Of keys that are taken, refused, cut off, and of those that are nearly right; at every level of logging."""
    on, client = served
    key, header = on.key(Scope.INGEST, sources=["tern-board"])
    secret = header["Authorization"].rsplit("_", 1)[1]
    attempts = [header, {"Authorization": header["Authorization"][:-1]}, {"Authorization": f"Basic {secret}"}]
    told = []
    caplog.set_level(0)
    with logged_lines() as lines:
        for _ in range(2):
            for attempt in attempts:
                told += [
                    await asked(client, INGEST, attempt, input=a_run()),
                    await asked(client, "{ nonsense }", attempt),
                ]
                told += [
                    await client.post("/ingest", content=b"{}", headers=attempt),
                    await client.get("/runs/0", headers=attempt),
                ]
            on.keys.revoke(key.id)
    answers = "".join(f"{one.text}{one.headers}" for one in told)
    logged = f"{lines}{caplog.text}{''.join(capfd.readouterr())}"
    assert {line["reason"] for line in lines if line["event"] == "key refused"} == {"unknown", "revoked"}
    assert secret[:16] not in answers
    assert secret[:16] not in logged


def test_the_secret_of_the_server_is_hidden_in_the_settings_text() -> None:
    """Settings are what people print first when something is wrong."""
    settings = Settings(key_secret="correct horse battery staple, and more", checkpoint_key="battery")
    assert settings.key_secret
    assert settings.key_secret.reveal() == "correct horse battery staple, and more"
    assert "battery" not in f"{settings!r}{settings}{settings.key_secret}{pretty_repr(settings)}"


def test_a_server_secret_that_could_be_guessed_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least 32") as refused:
        Settings(key_secret="hunter2")
    assert "hunter2" not in str(refused.value)


class TestWriting:
    async def test_without_a_key_is_forbidden_with_the_way_to_one(self, served: tuple[Site, httpx.AsyncClient]) -> None:
        _, client = served
        refusal = (await asked(client, INGEST, input=a_run())).json()["data"]["ingestRun"]
        assert (refusal["__typename"], refusal["code"]) == ("Forbidden", "UNAUTHENTICATED")
        assert "kernelindex keys create" in refusal["remedy"]
        assert "Authorization: Bearer ki_" in refusal["remedy"]

    async def test_by_post_ingest_without_a_key_is_401(self, served: tuple[Site, httpx.AsyncClient]) -> None:
        _, client = served
        answer = await client.post("/ingest", json=tree_of(bundle()), headers={"Idempotency-Key": "k"})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert "kernelindex keys create" in error(answer)["remedy"]

    async def test_with_a_key_is_recorded_under_its_principal(self, served: tuple[Site, httpx.AsyncClient]) -> None:
        on, client = served
        _, header = on.key(Scope.INGEST)
        made = (await asked(client, INGEST, header, input=a_run())).json()["data"]["ingestRun"]
        assert made["created"]
        sent = {**header, "Idempotency-Key": "k"}
        again = (await client.post("/ingest", json=tree_of(bundle()), headers=sent)).json()["results"]
        assert [one["created"] for one in again] == [False]
        query = "query ($id: ID!) { run(id: $id) { source { slug } } }"
        assert (await asked(client, query, id=made["digest"])).json()["data"]["run"]["source"]["slug"] == "heron"

    async def test_no_source_is_registered_under_the_name_of_a_principal(
        self, served: tuple[Site, httpx.AsyncClient]
    ) -> None:
        """Runs that the principal sends for itself would pass for that source's."""
        on, client = served
        on.key(Scope.INGEST)
        _, admin = on.key(Scope.ADMIN, principal="stork")
        mutation = """mutation ($slug: String!) {
          registerSource(input: {slug: $slug, name: "A board", kind: "leaderboard", idempotencyKey: "k"}) {
            __typename ... on UserError { code path }
          }
        }"""
        for slug in ("heron", "local", "anonymous"):
            refused = (await asked(client, mutation, admin, slug=slug)).json()["data"]["registerSource"]
            assert refused == {"__typename": "Conflict", "code": "SOURCE_NOT_YOURS", "path": "input.slug"}
        taken = (await asked(client, mutation, admin, slug="heron-board")).json()["data"]["registerSource"]
        assert taken["__typename"] == "RegisterSourceSuccess"


class TestTheDemo:
    @pytest.fixture
    async def demo(self, tmp_path: Path) -> AsyncIterator[tuple[Site, httpx.AsyncClient]]:
        async with site(tmp_path, demo=True) as served:
            yield served

    async def test_shows_the_limits_of_a_reader_without_a_key(self, demo: tuple[Site, httpx.AsyncClient]) -> None:
        """What works here must not be refused by a public index."""
        _, client = demo
        answer = (await asked(client, "{ rateLimit { limit } }")).json()
        assert answer["extensions"]["cost"]["limit"] == 1_000
        assert answer["data"]["rateLimit"]["limit"] == 600

    async def test_takes_writes_without_a_key_on_this_machine(self, demo: tuple[Site, httpx.AsyncClient]) -> None:
        _, client = demo
        assert (await asked(client, INGEST, input=a_run())).json()["data"]["ingestRun"]["created"]
        assert (await asked(client, VIEWER)).json()["data"] == {"viewer": {"principal": "anonymous"}}

    async def test_takes_them_from_its_own_pages_and_from_no_others(self, demo: tuple[Site, httpx.AsyncClient]) -> None:
        """Answers are open to every page, so any that its reader visits could otherwise write."""
        _, client = demo
        ours = await asked(client, INGEST, {"Origin": "http://127.0.0.1:8000"}, input=a_run())
        assert ours.json()["data"]["ingestRun"]["created"]
        for origin in ("https://elsewhere.example", "http://127.0.0.1:9000", "null"):
            refusal = (await asked(client, INGEST, {"Origin": origin}, input=a_run("other"))).json()["data"][
                "ingestRun"
            ]
            assert refusal["code"] == "UNAUTHENTICATED"

    async def test_takes_none_from_elsewhere(self, demo: tuple[Site, httpx.AsyncClient]) -> None:
        on, _ = demo
        refusal = (await asked(await on.at("192.0.2.1"), INGEST, input=a_run())).json()["data"]["ingestRun"]
        assert refusal["code"] == "UNAUTHENTICATED"

    async def test_takes_none_under_a_name_that_only_points_here(self, demo: tuple[Site, httpx.AsyncClient]) -> None:
        """A page can make its own name resolve to 127.0.0.1; the browser then takes it for the same origin."""
        _, client = demo
        rebound = {"Host": "elsewhere.example", "Origin": "http://elsewhere.example"}
        assert (await asked(client, VIEWER, rebound)).json()["data"] == {"viewer": None}

    async def test_minds_keys_all_the_same(self, demo: tuple[Site, httpx.AsyncClient]) -> None:
        on, client = demo
        _, header = on.key(Scope.ATTEST)
        assert (await asked(client, VIEWER, header)).json()["data"] == {"viewer": {"principal": "heron"}}
        assert (await asked(client, VIEWER, {"Authorization": "Bearer x"})).status_code == 401

    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
    async def test_is_not_served_where_others_reach_it(self, tmp_path: Path, host: str) -> None:
        with pytest.raises(InvalidInput, match="anybody"):
            create_app(Settings(data_dir=tmp_path, host=host), demo=True)

    async def test_is_not_to_be_had_by_a_setting(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: tuple[Site, httpx.AsyncClient]
    ) -> None:
        for name in ("DEMO", "ALLOW_UNAUTHENTICATED_WRITES"):
            monkeypatch.setenv(f"KERNELINDEX_{name}", "1")
        async with site(tmp_path / "other") as (on, _):
            refusal = (await asked(await on.at("127.0.0.1"), INGEST, input=a_run())).json()["data"]["ingestRun"]
        assert refusal["code"] == "UNAUTHENTICATED"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "[::1]", "localhost"])
def test_this_machine_has_these_names(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "10.0.0.1", "localhost.example.org", "127.0.0.1.example.org"])
def test_and_no_others(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(("host", "origin"), [("[::1", None), ("127.0.0.1", "http://[::1"), ("", None), ("a@b:c", "")])
def test_headers_that_are_no_names_are_not_at_home(host: str, origin: str | None) -> None:
    assert not is_at_home("127.0.0.1", host, origin)


class TestBodies:
    """256 KiB, and 5 MiB where the key may ingest."""

    @staticmethod
    async def post(client: httpx.AsyncClient, path: str, size: int, headers: dict[str, str]) -> int:
        """The status of a request with a body of that many bytes."""
        if path == "/graphql":
            body = b'{"query": "{ __typename }"' + b" " * (size - 27) + b"}"
        else:
            body = b"{" + b" " * (size - 2) + b"}"
        assert len(body) == size
        sent = {"Content-Type": "application/json", "Idempotency-Key": "k", **headers}
        return (await client.post(path, content=body, headers=sent)).status_code

    async def test_without_a_key_end_at_256_kib(self, served: tuple[Site, httpx.AsyncClient]) -> None:
        _, client = served
        assert await self.post(client, "/graphql", 256 * KIB, {}) == 200
        assert await self.post(client, "/graphql", 256 * KIB + 1, {}) == 413

    @pytest.mark.parametrize("path", ["/graphql", "/ingest"])
    async def test_with_a_key_that_may_not_ingest_as_well(
        self, served: tuple[Site, httpx.AsyncClient], path: str
    ) -> None:
        on, client = served
        _, header = on.key(*(scope for scope in Scope if scope is not Scope.INGEST))
        assert await self.post(client, path, 256 * KIB, header) == 200
        assert await self.post(client, path, 256 * KIB + 1, header) == 413

    @pytest.mark.parametrize("path", ["/graphql", "/ingest"])
    async def test_with_one_that_may_end_at_5_mib(self, served: tuple[Site, httpx.AsyncClient], path: str) -> None:
        on, client = served
        _, header = on.key(Scope.INGEST)
        assert await self.post(client, path, 5 * KIB * KIB, header) == 200
        assert await self.post(client, path, 5 * KIB * KIB + 1, header) == 413

    async def test_that_are_too_long_are_refused_unread(self, served: tuple[Site, httpx.AsyncClient]) -> None:
        on, _ = served
        assert await unread(on, {"content-length": str(256 * KIB + 1)}) == 413

    async def test_of_a_bad_key_are_not_read_either(self, served: tuple[Site, httpx.AsyncClient]) -> None:
        on, _ = served
        assert await unread(on, {"content-length": "100", "authorization": "Bearer x"}) == 401


async def unread(on: Site, headers: dict[str, str]) -> int:
    """The status of a POST to /graphql whose body nobody may ask for."""

    async def receive() -> Any:
        raise AssertionError("the body was read")

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    raw = Headers({"content-type": "application/json", **headers}).raw
    scope = {"type": "http", "method": "POST", "path": "/graphql", "query_string": b"", "headers": raw}
    await on.app({**scope, "client": ("192.0.2.1", 50_000)}, receive, send)
    status: int = sent[0]["status"]
    return status


def runs_of(first: int, aliases: int, field: str) -> str:
    parts = " ".join(f"a{number}: {field}" for number in range(aliases))
    return f"runs(first: {first}) {{ nodes {{ {parts} }} }}"


THOUSAND = runs_of(37, 26, "ranking { rank }")
FIVE_THOUSAND = runs_of(100, 16, "implementation { project { title } operation { name } }")
FIVE_THOUSAND += " operations(first: 98) { nodes { name } }"


@pytest.mark.parametrize(("limit", "query"), [(1_000, THOUSAND), (5_000, FIVE_THOUSAND)])
async def test_a_query_may_cost_1000_and_with_a_key_5000(
    served: tuple[Site, httpx.AsyncClient], limit: int, query: str
) -> None:
    on, client = served
    header = on.key(Scope.ATTEST)[1] if limit == 5_000 else {}
    at_the_limit = (await asked(client, f"{{ {query} }}", header)).json()
    assert "errors" not in at_the_limit
    assert at_the_limit["extensions"]["cost"] == {"requested": limit, "limit": limit}
    over = await asked(client, f"{{ {query} viewer {{ principal }} }}", header)
    assert (error(over)["code"], error(over)["requested"]) == ("QUERY_TOO_COMPLEX", limit + 1)
