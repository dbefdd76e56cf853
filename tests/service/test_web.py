"""The application as served: ingest as raw text, canonical records, waiting for a position, health, and its errors."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from domain import facts
from domain.commands import Ingest
from domain.identity import hex_of
from domain.principals import LOCAL
from service.app import open_index
from service.settings import Settings
from service.web import create_app
from tests.examples import PROJECT, PROTOCOL, Clock, Ids, bundle, manifest, recorded
from tests.service.api.asking import run_of, texts_of, tree_of

HERE = "http://127.0.0.1:8000"
INGEST = """mutation($input: IngestRunInput!) { ingestRun(input: $input) {
  __typename ... on IngestRunSuccess { digest position } ... on UserError { code remedy } } }"""


@asynccontextmanager
async def served(folder: Path, *, demo: bool = True, **given: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client at this machine, of the application in process."""
    app = create_app(Settings(data_dir=folder, **given), now=Clock(), new_id=Ids(), demo=demo)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(app.router.lifespan_context(app))
        transport = httpx.ASGITransport(app)
        yield await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url=HERE))


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Of a server that takes writes."""
    async with served(tmp_path) as client:
        yield client


async def post(client: httpx.AsyncClient, content: Any, kind: str = "application/json", **given: Any) -> httpx.Response:
    """``POST /ingest``; JSON is made of what is no text yet."""
    body = content if isinstance(content, str | bytes) else json.dumps(content)
    headers = {"Content-Type": kind, "Idempotency-Key": "k", **given.pop("headers", {})}
    return await client.post("/ingest", content=body, headers=headers, **given)


async def data(client: httpx.AsyncClient, query: str, **variables: Any) -> Any:
    answer = (await client.post("/graphql", json={"query": query, "variables": variables})).json()
    assert "errors" not in answer, answer["errors"]
    return answer["data"]


def code_of(response: httpx.Response) -> str:
    """The code of the first error of an answer, which has the form of all our errors."""
    assert response.headers["content-type"].startswith("application/json")
    body = response.json()
    assert body["errors"][0]["message"]
    return str(body["errors"][0]["extensions"]["code"])


class TestIngest:
    async def test_a_json_bundle(self, client: httpx.AsyncClient) -> None:
        response = await post(client, tree_of(bundle()) | {"record": {"aliases": ["x"]}})

        assert response.status_code == 200
        answer = response.json()
        (result,) = answer["results"]
        assert (result["run"], result["created"], result["metadataDiffers"]) == (run_of().digest, True, False)
        assert len(result["registered"]) == 6
        seen = await data(client, '{ run(id: "x") { digest } stamp { position } }')
        assert seen == {"run": {"digest": run_of().digest}, "stamp": {"position": answer["position"]}}

    async def test_a_yaml_bundle(self, client: httpx.AsyncClient) -> None:
        lines = [f"{part}: {text}" for part, text in texts_of(bundle()).items()]

        response = await post(client, "\n".join(lines), "application/yaml")

        assert response.json()["results"][0]["run"] == run_of().digest

    async def test_a_manifest_by_itself(self, client: httpx.AsyncClient) -> None:
        (result,) = (await post(client, tree_of(bundle())["project"])).json()["results"]

        assert (result["run"], result["created"]) == (None, False)
        assert result["registered"] == [{"kind": "SoftwareProject", "digest": PROJECT.digest}]

    @pytest.mark.parametrize("kind", ["application/jsonl", "application/x-ndjson"])
    async def test_json_lines_have_a_result_each(self, client: httpx.AsyncClient, kind: str) -> None:
        """In order; a blank line is none; errors name the line, whoever found them."""
        other = manifest("BenchmarkProtocol", PROTOCOL.spec | {"harness": {"name": "x"}})
        mismatched = tree_of(bundle(5)) | {"protocol": json.loads(other.canonical)}
        lines = [tree_of(bundle(100)), None, "broken", tree_of(bundle(90, by="stork")), mismatched]
        body = "\n".join("" if line is None else json.dumps(line) if line != "broken" else "{" for line in lines)

        results = (await post(client, body, kind)).json()["results"]

        assert [one.get("created") for one in results] == [True, None, True, None]
        (broken,), (refused,) = results[1]["errors"], results[3]["errors"]
        assert (broken["document"], broken["code"]) == ("3", "MALFORMED_DOCUMENT")
        assert (refused["document"], refused["code"]) == ("5", "DIGEST_MISMATCH")
        assert refused["path"] == "run.spec.protocolDigest"
        assert broken["remedy"]
        assert refused["remedy"]
        runs = await data(client, "{ runs { nodes { primary { value } ranking { rank } } } }")
        assert runs["runs"]["nodes"] == [
            {"primary": {"value": "90"}, "ranking": {"rank": 1}},
            {"primary": {"value": "100"}, "ranking": {"rank": 2}},
        ]

    async def test_a_retry_is_safe_and_another_body_is_a_conflict(self, client: httpx.AsyncClient) -> None:
        first = await post(client, tree_of(bundle()))
        again = await post(client, tree_of(bundle()))
        other = await post(client, tree_of(bundle(1)))

        assert again.json() == first.json()
        assert (other.status_code, code_of(other)) == (409, "IDEMPOTENCY_KEY_REUSED")
        assert (await data(client, "{ runs { totalCount } }"))["runs"]["totalCount"] == 1

    @pytest.mark.parametrize("said", ["yes", "", "TRUE!", "2"])
    async def test_a_dry_run_that_is_only_half_said_is_refused(self, client: httpx.AsyncClient, said: str) -> None:
        """A log takes nothing back: what may have been meant as a trial is not recorded."""
        answer = await post(client, tree_of(bundle()), params={"dryRun": said})
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["extensions"]["code"] == "BAD_REQUEST"
        recorded = (await client.post("/graphql", json={"query": "{ runs { totalCount } }"})).json()
        assert recorded["data"]["runs"]["totalCount"] == 0

    async def test_a_dry_run_appends_nothing(self, client: httpx.AsyncClient) -> None:
        before = await data(client, "{ stamp { position } }")

        answer = (await post(client, tree_of(bundle()), params={"dryRun": "1"})).json()

        assert (answer["position"], answer["results"][0]["created"]) == (None, True)
        assert await data(client, "{ stamp { position } }") == before

    @pytest.mark.parametrize(
        ("kind", "headers", "status", "code"),
        [
            ("application/json", {"Idempotency-Key": ""}, 400, "INVALID_VALUE"),
            ("application/json", {"Idempotency-Key": "x" * 129}, 400, "INVALID_VALUE"),
            ("text/plain", {}, 415, "UNSUPPORTED_MEDIA_TYPE"),
            ("application/json; charset=utf-16", {}, 415, "UNSUPPORTED_MEDIA_TYPE"),
            ("application/yaml; charset=latin-1", {}, 415, "UNSUPPORTED_MEDIA_TYPE"),
            ("application/json", {"Content-Encoding": "gzip"}, 415, "UNSUPPORTED_MEDIA_TYPE"),
            ("application/jsonl", {"Content-Encoding": "zstd"}, 415, "UNSUPPORTED_MEDIA_TYPE"),
            ("application/x-www-form-urlencoded", {}, 415, "UNSUPPORTED_MEDIA_TYPE"),
        ],
    )
    async def test_requests_that_are_not_taken(
        self, client: httpx.AsyncClient, kind: str, headers: dict[str, str], status: int, code: str
    ) -> None:
        response = await post(client, tree_of(bundle()), kind, headers=headers)

        assert (response.status_code, code_of(response)) == (status, code)

    async def test_a_request_without_a_key_of_its_own_is_not_taken(self, client: httpx.AsyncClient) -> None:
        response = await client.post("/ingest", json=tree_of(bundle()))

        assert (response.status_code, code_of(response)) == (400, "BAD_REQUEST")
        assert "Idempotency-Key" in response.json()["errors"][0]["message"]

    async def test_501_lines_or_none_are_no_batch(self, client: httpx.AsyncClient) -> None:
        for body in ("{}\n" * 501, "", "\n\n"):
            response = await post(client, body, "application/jsonl")
            assert (response.status_code, code_of(response)) == (400, "INVALID_VALUE")

    async def test_more_than_5_mib_is_too_much(self, client: httpx.AsyncClient) -> None:
        response = await post(client, b" " * (5 * 1024 * 1024 + 1))

        assert (response.status_code, code_of(response)) == (413, "BODY_TOO_LARGE")

    async def test_a_document_of_more_than_1_mib_is_refused_by_itself(self, client: httpx.AsyncClient) -> None:
        large = json.dumps({"run": "x" * 2**20})
        body = f"{large}\n{json.dumps(tree_of(bundle()))}"

        refused, taken = (await post(client, body, "application/jsonl")).json()["results"]

        assert refused["errors"][0]["code"] == "DOCUMENT_TOO_LARGE"
        assert taken["created"]


class TestWithoutLeaveToWrite:
    """By default nobody writes over HTTP just because the server can be reached."""

    async def test_ingest_is_refused_before_the_body_counts(self, tmp_path: Path) -> None:
        async with served(tmp_path, demo=False) as client:
            response = await post(client, tree_of(bundle()))

            assert (response.status_code, code_of(response)) == (401, "UNAUTHENTICATED")
            assert response.json()["errors"][0]["extensions"]["remedy"]

    async def test_mutations_answer_forbidden_and_nothing_is_written(self, tmp_path: Path) -> None:
        async with served(tmp_path, demo=False) as client:
            before = await data(client, "{ stamp { position } }")

            answer = await data(client, INGEST, input={**texts_of(bundle()), "idempotencyKey": "k"})

            assert answer["ingestRun"]["__typename"] == "Forbidden"
            assert answer["ingestRun"]["remedy"]
            assert await data(client, "{ stamp { position } }") == before

    async def test_the_demo_takes_writes_of_this_machine(self, client: httpx.AsyncClient) -> None:
        answer = await data(client, INGEST, input={**texts_of(bundle()), "idempotencyKey": "k"})

        assert answer["ingestRun"]["digest"] == run_of().digest


class TestRecords:
    @pytest.fixture(autouse=True)
    async def _ingested(self, client: httpx.AsyncClient) -> None:
        await post(client, tree_of(bundle()) | {"record": {"aliases": ["x", "tern/runs/7"]}})

    @pytest.mark.parametrize(
        "id_", [hex_of(run_of().digest), run_of().digest, run_of().digest[7:15], "x", "tern/runs/7", "tern%2Fruns%2F7"]
    )
    async def test_the_bytes_hash_to_the_digest(self, client: httpx.AsyncClient, id_: str) -> None:
        response = await client.get(f"/runs/{id_}")

        assert response.status_code == 200
        assert "sha256:" + hashlib.sha256(response.content).hexdigest() == run_of().digest
        assert response.headers["content-type"] == "application/json"
        assert set(response.json()) == {"apiVersion", "kind", "spec"}

    async def test_what_the_client_has_already_is_not_sent_again(self, client: httpx.AsyncClient) -> None:
        path = f"/runs/{hex_of(run_of().digest)}"
        etag = (await client.get(path)).headers["etag"]

        for known in (etag, f'"other", {etag}', f"W/{etag}", "*"):
            response = await client.get(path, headers={"If-None-Match": known})
            assert (response.status_code, response.content, response.headers["etag"]) == (304, b"", etag)
        assert (await client.get(path, headers={"If-None-Match": '"other"'})).status_code == 200

    async def test_head_is_get_without_the_bytes(self, client: httpx.AsyncClient) -> None:
        response = await client.head(f"/runs/{hex_of(run_of().digest)}")

        assert (response.status_code, response.content) == (200, b"")
        assert response.headers["etag"] == f'"{run_of().digest}"'

    async def test_pinned_it_is_there_from_its_position_on(self, client: httpx.AsyncClient) -> None:
        run = (await data(client, "{ runs { nodes { position pinnedPermalink permalink } } }"))["runs"]["nodes"][0]
        head = (await data(client, "{ stamp { position } }"))["stamp"]["position"]
        path = f"/runs/{hex_of(run_of().digest)}"
        assert (run["permalink"], run["pinnedPermalink"]) == (f"{HERE}{path}", f"{HERE}{path}/at/{head}")

        assert (await client.get(f"{path}/at/{head}")).content == (await client.get(path)).content
        assert (await client.get(f"/runs/tern/runs/7/at/{head}")).content == (await client.get(path)).content
        # The run came in the save that ends at the head: before that there was none.
        before = await client.get(f"{path}/at/{run['position'] - 1}")
        assert (before.status_code, code_of(before)) == (404, "NOT_FOUND")

    @pytest.mark.parametrize("position", ["0", "-1", "x", "1.5", "007", "9" * 30, "9" * 5000, "²"])
    async def test_a_position_that_is_none_is_an_error_never_the_latest(
        self, client: httpx.AsyncClient, position: str
    ) -> None:
        response = await client.get(f"/runs/{hex_of(run_of().digest)}/at/{position}")

        assert (response.status_code, code_of(response)) == (404, "NOT_FOUND")

    async def test_one_that_the_log_has_not_reached_says_so(self, client: httpx.AsyncClient) -> None:
        await post(client, tree_of(bundle()))
        hex_ = hex_of(run_of().digest)

        for path in (f"/runs/{hex_}/at/1000000", f"/runs/{hex_}@1000000"):
            response = await client.get(path)
            assert (response.status_code, code_of(response)) == (404, "POSITION_IN_FUTURE"), path

    async def test_a_pinned_id_resolves_as_the_pinned_path_does(self, client: httpx.AsyncClient) -> None:
        await post(client, tree_of(bundle()))
        run = (await data(client, "{ runs { nodes { position } } stamp { position } }"))["runs"]["nodes"][0]
        hex_ = hex_of(run_of().digest)

        for position in (run["position"] - 1, run["position"]):
            pinned, path = [await client.get(f"/runs/{hex_}{form}{position}") for form in ("@", "/at/")]
            assert (pinned.status_code, pinned.content) == (path.status_code, path.content)
            assert pinned.status_code == (200 if position == run["position"] else 404)

    @pytest.mark.parametrize("id_", ["0" * 64, "nothing", hex_of(PROJECT.digest), "x" * 3000, "%00"])
    async def test_what_is_no_run_is_not_found(self, client: httpx.AsyncClient, id_: str) -> None:
        response = await client.get(f"/runs/{id_}")

        assert (response.status_code, code_of(response)) == (404, "NOT_FOUND")
        assert response.json()["errors"][0]["extensions"]["remedy"]


class TestPaths:
    @pytest.mark.parametrize("path", ["/nothing", "/runs", "/runs/a/b", "/graphql/nothing", "/favicon.ico", "/.env"])
    async def test_unknown_paths_have_a_coded_error(self, client: httpx.AsyncClient, path: str) -> None:
        response = await client.get(path)

        assert (response.status_code, code_of(response)) == (404, "NOT_FOUND")

    @pytest.mark.parametrize(
        ("method", "path", "allowed"),
        [("GET", "/ingest", "POST"), ("DELETE", "/runs/x", "GET"), ("POST", "/healthz", "GET"), ("PUT", "/", "GET")],
    )
    async def test_so_do_methods_that_are_not_served(
        self, client: httpx.AsyncClient, method: str, path: str, allowed: str
    ) -> None:
        response = await client.request(method, path)

        assert (response.status_code, code_of(response)) == (405, "METHOD_NOT_ALLOWED")
        assert allowed in response.headers["allow"]

    async def test_every_answer_is_open_to_browsers_and_has_an_id(self, client: httpx.AsyncClient) -> None:
        await post(client, tree_of(bundle()))
        answers = [
            await client.get(f"/runs/{hex_of(run_of().digest)}"),
            await client.get("/nothing"),
            await client.get("/healthz"),
            await client.get("/readyz"),
            await client.get("/graphql", params={"query": "{ stamp { position } }"}),
            await client.get("/graphql", params={"query": "{"}),
            await post(client, "{", headers={"Idempotency-Key": "2"}),
        ]

        for response in answers:
            assert response.headers["access-control-allow-origin"] == "*"
            assert "access-control-allow-credentials" not in response.headers
            assert "etag" in response.headers["access-control-expose-headers"].lower()
            assert response.headers["x-request-id"]

    async def test_preflights_are_answered(self, client: httpx.AsyncClient) -> None:
        headers = {
            "Origin": "https://paper.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type, x-kernelindex-min-position",
        }
        for path in ("/graphql", "/runs/x", "/ingest"):
            response = await client.options(path, headers=headers)
            assert response.status_code == 204
            assert response.headers["access-control-allow-origin"] == "*"
            assert "x-kernelindex-min-position" in response.headers["access-control-allow-headers"]


class TestHealth:
    async def test_a_live_and_level_server_is_ready(self, client: httpx.AsyncClient) -> None:
        assert (await client.get("/healthz")).json() == {"status": "ok"}

        ready = await client.get("/readyz")

        assert ready.status_code == 200
        assert (ready.json()["status"], ready.json()["lagEvents"]) == ("ok", 0)

    async def test_one_that_meets_a_policy_it_does_not_know_is_alive_and_not_ready(self, tmp_path: Path) -> None:
        """It goes on serving what it had."""
        async with served(tmp_path) as client:
            await post(client, tree_of(bundle()))
            before = await data(client, "{ stamp { position } runs { totalCount } }")
            await adopt_unknown_policy(tmp_path)

            await until(client, "/readyz", 503)

            response = await client.get("/readyz")
            assert code_of(response) == "VIEWS_BEHIND"
            assert "ranking-v99" in response.json()["errors"][0]["message"]
            assert (await client.get("/healthz")).status_code == 200
            assert await data(client, "{ stamp { position } runs { totalCount } }") == before
            late = await client.post(
                "/graphql",
                json={"query": "{ stamp { position } }"},
                headers={"X-KernelIndex-Min-Position": str(before["stamp"]["position"] + 1)},
            )
            assert (late.status_code, code_of(late)) == (503, "VIEWS_BEHIND")


async def adopt_unknown_policy(folder: Path) -> None:
    """As a host of a later release would, on the same log."""
    async with open_index(Settings(data_dir=folder), new_id=lambda: "later", follow=False) as index:
        version = len(index.log.load(["log"])["log"])
        (event,) = recorded(facts.PolicyAdopted(name="ranking", version="ranking-v99"), request="later")
        index.log.append([msgspec.structs.replace(event, originator_version=version + 1)])


async def until(client: httpx.AsyncClient, path: str, status: int) -> None:
    async with asyncio.timeout(5):
        while (await client.get(path)).status_code != status:
            await asyncio.sleep(0.01)


class TestMinPosition:
    HEADER = "X-KernelIndex-Min-Position"

    async def test_a_host_waits_for_what_another_one_wrote(self, tmp_path: Path) -> None:
        """The other host writes to the same log; its answer's position is enough to see the write here."""
        async with served(tmp_path) as client, open_index(Settings(data_dir=tmp_path)) as other:
            for number in range(5):
                answer = await other.ledger.handle([Ingest(bundle=bundle(100 + number))], LOCAL)
                response = await client.post(
                    "/graphql",
                    json={"query": "{ runs { totalCount } stamp { position } }"},
                    headers={self.HEADER: str(answer.position)},
                )
                assert response.json()["data"] == {
                    "runs": {"totalCount": number + 1},
                    "stamp": {"position": answer.position},
                }

    async def test_it_waits_for_a_write_that_is_still_to_come(self, client: httpx.AsyncClient) -> None:
        head = (await data(client, "{ stamp { position } }"))["stamp"]["position"]
        query = {"query": "{ runs { totalCount } }"}
        waiting = asyncio.create_task(client.post("/graphql", json=query, headers={self.HEADER: str(head + 1)}))
        await asyncio.sleep(0.05)
        assert not waiting.done()

        await post(client, tree_of(bundle()))

        assert (await waiting).json()["data"] == {"runs": {"totalCount": 1}}

    @pytest.mark.parametrize("path", ["/graphql?query={stamp{position}}", f"/runs/{hex_of(run_of().digest)}"])
    async def test_the_wait_is_bounded(self, tmp_path: Path, path: str) -> None:
        async with served(tmp_path, min_position_wait_s=0.05) as client:
            async with asyncio.timeout(2):
                response = await client.get(path, headers={self.HEADER: "1000"})

            assert (response.status_code, code_of(response)) == (503, "VIEWS_BEHIND")
            assert response.headers["retry-after"]

    @pytest.mark.parametrize("wrong", ["x", "-1", "1.5", "9" * 20, "²"])
    async def test_what_is_no_position_is_refused(self, client: httpx.AsyncClient, wrong: str) -> None:
        response = await client.get(
            "/graphql",
            params={"query": "{ stamp { position } }"},
            headers={self.HEADER.encode(): wrong.encode()},
        )

        assert (response.status_code, code_of(response)) == (400, "BAD_REQUEST")


class TestGraphQL:
    async def test_responses_carry_the_stamp_and_the_cost(self, client: httpx.AsyncClient) -> None:
        await post(client, tree_of(bundle()))

        answer = (
            await client.post("/graphql", json={"query": "{ runs { nodes { digest } } stamp { position } }"})
        ).json()

        assert answer["extensions"]["stamp"]["position"] == answer["data"]["stamp"]["position"]
        assert answer["extensions"]["cost"]["requested"] > 0

    async def test_a_field_s_error_leaves_its_siblings(self, client: httpx.AsyncClient) -> None:
        response = await client.post(
            "/graphql", json={"query": "{ runs(first: 101) { totalCount } stamp { position } }"}
        )

        assert response.status_code == 200
        answer = response.json()
        assert answer["data"]["runs"] is None
        assert answer["data"]["stamp"]["position"] > 0
        (error,) = answer["errors"]
        assert (error["path"], error["extensions"]["code"]) == (["runs"], "INVALID_ARGUMENT")

    @pytest.mark.parametrize(
        ("query", "variables"),
        [
            ("query($k: Digest!) { ranking(comparisonKey: $k) { id } }", {"k": "sha256:abc"}),
            ('{ ranking(comparisonKey: "sha256:ABC") { id } }', {}),
            ('{ runs(filter: { observedFrom: "2026-13-01T00:00:00Z" }) { totalCount } }', {}),
            ('{ runs(filter: { observedFrom: "2026-02-30T00:00:00Z" }) { totalCount } }', {}),
            ('{ runs(filter: { observedFrom: "2026-08-01T24:00:00Z" }) { totalCount } }', {}),
            ('{ runs(filter: { observedFrom: "2026-08-01" }) { totalCount } }', {}),
            ('{ runs(filter: { observedFrom: "2026-08-01T00:00:00+02:00" }) { totalCount } }', {}),
            ("query($f: RunFilter) { runs(filter: $f) { totalCount } }", {"f": {"observedTo": 5}}),
        ],
    )
    async def test_scalars_that_are_not_what_they_say_are_refused(
        self, client: httpx.AsyncClient, query: str, variables: dict[str, Any]
    ) -> None:
        answer = (await client.post("/graphql", json={"query": query, "variables": variables})).json()

        assert answer["errors"][0]["extensions"]["code"] == "INVALID_ARGUMENT"
