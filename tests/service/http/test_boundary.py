"""Request ids, what nothing else caught, and what browsers of other sites may do."""

import httpx
import pytest

from service.http.cors import METHODS, PREFLIGHT_AGE_S, REQUEST_HEADERS
from tests.service.http.tiny import SECRET
from tests.service.logged import logged


class TestRequestId:
    @pytest.mark.parametrize("sent", ["a", "0af7651916cd43dd8448eb211c80319c", "A.b_c-9", "x" * 128])
    def test_a_harmless_id_that_came_in_is_kept(self, client: httpx.Client, sent: str) -> None:
        assert client.get("/graphql", headers={"x-request-id": sent}).headers["x-request-id"] == sent

    @pytest.mark.parametrize("sent", ["", "-x", "a b", "<script>", "a\tb", "\xe9", "x" * 129, "a;b", "{}"])
    def test_any_other_is_replaced_by_one_of_ours(self, client: httpx.Client, sent: str) -> None:
        assert (
            client.get("/graphql", headers=[(b"x-request-id", sent.encode("latin-1"))])
            .headers["x-request-id"]
            .startswith("made-")
        )

    @pytest.mark.parametrize("path", ["/graphql?query={hello}", "/graphql", "/nowhere", "/broken"])
    def test_every_answer_has_one_of_its_own(self, client: httpx.Client, path: str) -> None:
        first, second = client.get(path).headers["x-request-id"], client.get(path).headers["x-request-id"]

        assert first.startswith("made-")
        assert second.startswith("made-")
        assert first != second

    def test_a_preflight_has_one(self, client: httpx.Client) -> None:
        assert client.options("/graphql", headers={"access-control-request-method": "POST"}).headers["x-request-id"]


class TestMasking:
    @pytest.mark.parametrize("path", ["/broken", "/graphql?query={broken}"])
    def test_the_log_has_under_the_request_id_what_the_client_is_not_told(
        self, client: httpx.Client, path: str
    ) -> None:
        with logged() as logs:
            response = client.get(path, headers={"x-request-id": "find-me"})

        (error,) = response.json()["errors"]
        assert error["message"] == "Unexpected error"
        assert error["extensions"] == {"code": "INTERNAL", "requestId": "find-me"}
        assert SECRET not in response.text
        (entry,) = logs
        assert entry["level"] == "error"
        assert entry["request_id"] == "find-me"
        assert isinstance(entry["failure"], ValueError)
        assert str(entry["failure"]) == SECRET
        assert entry["failure"].__traceback__ is not None

    @pytest.mark.parametrize("query", ["{", "{zzz}", "{refused}", "{runs(first: 9999) {nodes {name}}}"])
    def test_what_is_the_clients_fault_is_not_logged_as_ours(self, client: httpx.Client, query: str) -> None:
        with logged() as logs:
            assert client.post("/graphql", json={"query": query}).json()["errors"]

        assert logs == []

    def test_what_a_route_lets_through_is_a_500_in_json(self, client: httpx.Client) -> None:
        response = client.get("/broken")

        assert response.status_code == 500
        assert response.headers["content-type"] == "application/json; charset=utf-8"
        assert response.headers["access-control-allow-origin"] == "*"


class TestCors:
    def test_a_preflight_is_answered_with_all_that_a_page_may_send(self, client: httpx.Client) -> None:
        response = client.options(
            "/graphql",
            headers={
                "origin": "https://elsewhere.example",
                "access-control-request-method": "POST",
                "access-control-request-headers": "content-type,authorization",
            },
        )

        assert response.status_code == 204
        assert response.headers["access-control-allow-origin"] == "*"
        assert response.headers["access-control-allow-methods"] == ", ".join(METHODS) == "GET, POST, OPTIONS"
        allowed = response.headers["access-control-allow-headers"].split(", ")
        assert allowed == list(REQUEST_HEADERS)
        assert set(allowed) >= {
            "content-type",
            "authorization",
            "x-kernelindex-min-position",
            "last-event-id",
            "if-none-match",
        }
        assert response.headers["access-control-max-age"] == str(PREFLIGHT_AGE_S)

    @pytest.mark.parametrize("origin", [{}, {"origin": "https://elsewhere.example"}, {"origin": "null"}])
    @pytest.mark.parametrize("path", ["/graphql?query={hello}", "/graphql", "/nowhere"])
    def test_every_answer_may_be_read_by_every_page_and_is_the_same_for_all(
        self, client: httpx.Client, origin: dict[str, str], path: str
    ) -> None:
        response = client.get(path, headers=origin)

        assert response.headers.get_list("access-control-allow-origin") == ["*"]
        exposed = response.headers["access-control-expose-headers"].split(", ")
        assert set(exposed) >= {"ETag", "Retry-After", "RateLimit", "RateLimit-Remaining", "X-Request-Id"}
        assert "Origin" not in response.headers.get("vary", "")

    @pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
    def test_credentials_are_never_allowed(self, client: httpx.Client, method: str) -> None:
        headers = {"origin": "https://elsewhere.example", "access-control-request-method": "POST"}

        assert "access-control-allow-credentials" not in client.request(method, "/graphql", headers=headers).headers

    def test_a_plain_options_says_which_methods_there_are(self, client: httpx.Client) -> None:
        response = client.options("/graphql")

        assert response.status_code == 204
        assert response.headers["allow"] == "GET, POST, OPTIONS"
