"""The endpoint over a real server: what it runs, in which media type, with which status and code."""

import json
from typing import Any

import httpx
import pytest

from domain.errors import ErrorCode
from tests.service.http.tiny import SECRET

STRICT = "application/graphql-response+json"


def post(client: httpx.Client, query: str, accept: str = STRICT, **extra: Any) -> httpx.Response:
    return client.post("/graphql", json={"query": query, **extra}, headers={"accept": accept})


def code_of(response: httpx.Response) -> str:
    """The code of the first error; every error of every answer has a message and a known code."""
    errors = response.json()["errors"]
    assert all(error["message"] and error["extensions"]["code"] in set(ErrorCode) for error in errors)
    return str(errors[0]["extensions"]["code"])


class TestExecution:
    def test_post_runs_a_query_and_says_what_it_cost(self, client: httpx.Client) -> None:
        response = post(client, "{ hello runs(first: 3) { nodes { name } } }")

        assert response.status_code == 200
        assert response.json() == {
            "data": {"hello": "world", "runs": {"nodes": [{"name": "r"}]}},
            "extensions": {"stamp": {"who": "anyone", "spent": 4}, "cost": {"requested": 4, "limit": 1000}},
        }

    def test_get_runs_a_query_with_variables_and_operation_name(self, client: httpx.Client) -> None:
        query = "query A { hello } query B($t: String!) { echo(text: $t) }"
        params = {"query": query, "operationName": "B", "variables": '{"t": "µs"}'}

        response = client.get("/graphql", params=params)

        assert response.json()["data"] == {"echo": "µs"}

    def test_get_takes_empty_parameters_for_absent_ones(self, client: httpx.Client) -> None:
        response = client.get("/graphql", params={"query": "{hello}", "operationName": "", "variables": ""})

        assert response.json()["data"] == {"hello": "world"}

    def test_get_may_not_run_a_mutation(self, client: httpx.Client) -> None:
        before = post(client, "mutation { add }").json()["data"]["add"]

        response = client.get("/graphql", params={"query": "mutation { add }"})

        assert response.status_code == 405
        assert response.headers["allow"] == "POST"
        assert code_of(response) == "METHOD_NOT_ALLOWED"
        assert post(client, "mutation { add }").json()["data"]["add"] == before + 1

    @pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
    def test_other_methods_are_refused_with_those_that_are_served(self, client: httpx.Client, method: str) -> None:
        response = client.request(method, "/graphql", json={"query": "{hello}"})

        assert response.status_code == 405
        assert response.headers["allow"] == "GET, POST, OPTIONS"
        assert code_of(response) == "METHOD_NOT_ALLOWED"

    def test_a_subscription_is_sent_to_its_own_transports(self, client: httpx.Client) -> None:
        response = post(client, "subscription { count }", accept="application/json")

        assert response.status_code == 400
        assert "/graphql/stream" in response.json()["errors"][0]["extensions"]["remedy"]

    def test_of_two_operations_none_is_run_without_a_name(self, client: httpx.Client) -> None:
        before = post(client, "mutation { add }").json()["data"]["add"]

        response = post(client, "mutation A { add } mutation B { add }", accept="application/json")

        assert response.status_code == 400
        assert code_of(response) == "BAD_REQUEST"
        assert "data" not in response.json()
        assert post(client, "mutation { add }").json()["data"]["add"] == before + 1

    @pytest.mark.parametrize("query", ["{hello}", "query A {hello}", "query A {hello} query B {hello}"])
    def test_an_unknown_operation_name_is_refused(self, client: httpx.Client, query: str) -> None:
        response = post(client, query, accept="application/json", operationName="Z")

        assert response.status_code == 400
        assert code_of(response) == "BAD_REQUEST"

    def test_a_document_of_fragments_only_is_refused(self, client: httpx.Client) -> None:
        response = post(client, "fragment F on Query { hello }")

        assert response.status_code == 400
        assert code_of(response) in ("GRAPHQL_VALIDATION_FAILED", "BAD_REQUEST")

    def test_the_context_decides_the_limit_of_cost(self, client: httpx.Client) -> None:
        query = {"query": "{ runs(first: 1500) { nodes { name } } }"}

        assert code_of(client.post("/graphql", json=query)) == "QUERY_TOO_COMPLEX"
        keyed = client.post("/graphql", json=query, headers={"authorization": "k"}).json()
        assert keyed["extensions"]["cost"] == {"requested": 1501, "limit": 5000}

    def test_an_error_of_ours_in_the_context_is_the_answer(self, client: httpx.Client) -> None:
        response = client.post("/graphql", json={"query": "{hello}"}, headers={"authorization": "bad"})

        assert response.status_code == 403
        assert response.json()["errors"] == [{"message": "unknown key", "extensions": {"code": "FORBIDDEN"}}]

    def test_a_query_out_of_time_is_ended(self, client: httpx.Client) -> None:
        response = post(client, "{ slow }")

        assert response.status_code == 504
        assert code_of(response) == "QUERY_TIMEOUT"
        assert "idempotencyKey" in post(client, "mutation { slowAdd }").text


class TestMediaTypes:
    @pytest.mark.parametrize(
        ("accept", "answered"),
        [
            ("*/*", "application/json"),
            ("application/*", "application/json"),
            ("application/json", "application/json"),
            (STRICT, STRICT),
            (f"{STRICT}, application/json", STRICT),
            (f"application/json;q=0.9, {STRICT}; charset=utf-8", STRICT),
            (f"{STRICT};q=0, */*", "application/json"),
            (f"{STRICT}, application/graphql+json, application/json, text/event-stream, multipart/mixed", STRICT),
            ("text/html", None),
            ("application/jsonp", None),
            ("application/json;q=0", None),
        ],
    )
    def test_the_answer_is_in_the_type_that_accept_prefers(
        self, client: httpx.Client, accept: str, answered: str | None
    ) -> None:
        response = post(client, "{hello}", accept=accept)

        assert response.status_code == (200 if answered else 406)
        assert response.headers["content-type"] == f"{answered or 'application/json'}; charset=utf-8"
        assert response.headers["vary"] == "Accept"
        if not answered:
            assert code_of(response) == "UNSUPPORTED_MEDIA_TYPE"

    @pytest.mark.parametrize(
        ("query", "code"),
        [
            ("{", "GRAPHQL_PARSE_FAILED"),
            ("", "GRAPHQL_PARSE_FAILED"),
            ("{ zzz }", "GRAPHQL_VALIDATION_FAILED"),
            ("{ runs(first: 2000) { nodes { name } } }", "QUERY_TOO_COMPLEX"),
        ],
    )
    def test_a_document_that_is_not_run_is_400_or_200_by_type(
        self, client: httpx.Client, query: str, code: str
    ) -> None:
        strict, plain = post(client, query), post(client, query, accept="application/json")

        assert (strict.status_code, plain.status_code) == (400, 200)
        assert code_of(strict) == code_of(plain) == code
        assert "data" not in strict.json()
        assert strict.headers["cache-control"] == "no-store"

    @pytest.mark.parametrize(
        "headers",
        [
            {"content-type": "text/plain"},
            {"content-type": "application/x-www-form-urlencoded"},
            {"content-type": "multipart/form-data; boundary=x"},
            {"content-type": "application/json-patch+json"},
            {"content-type": "application/json; charset=utf-16"},
            {"content-type": "application/json", "content-encoding": "gzip"},
            {},
        ],
    )
    def test_only_plain_json_in_utf_8_is_taken(self, client: httpx.Client, headers: dict[str, str]) -> None:
        response = client.post("/graphql", content=b'{"query": "{hello}"}', headers=headers)

        assert response.status_code == 415
        assert code_of(response) == "UNSUPPORTED_MEDIA_TYPE"

    @pytest.mark.parametrize(
        "sent", ["application/json", "APPLICATION/JSON; Charset=UTF-8", 'application/json;charset="utf-8"']
    )
    def test_spellings_of_json_are_taken(self, client: httpx.Client, sent: str) -> None:
        response = client.post("/graphql", content=b'{"query": "{hello}"}', headers={"content-type": sent})

        assert response.json()["data"] == {"hello": "world"}

    def test_a_browser_that_opens_the_path_gets_the_page_but_not_in_place_of_an_answer(
        self, client: httpx.Client
    ) -> None:
        browser = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}

        assert "GraphiQL" in client.get("/graphql", headers=browser).text
        assert client.get("/graphql", params={"query": "{hello}"}, headers=browser).json()["data"]
        assert code_of(client.get("/graphql")) == "BAD_REQUEST"


class TestErrors:
    def test_an_error_of_ours_keeps_its_code_place_and_remedy_beside_its_siblings(self, client: httpx.Client) -> None:
        response = post(client, "{ hello refused }")

        assert response.status_code == 200
        body = response.json()
        assert body["data"] == {"hello": "world", "refused": None}
        assert body["errors"] == [
            {
                "message": "not that",
                "locations": [{"line": 1, "column": 9}],
                "path": ["refused"],
                "extensions": {"code": "INVALID_VALUE", "path": "spec.axes", "document": "1", "remedy": "do this"},
            }
        ]

    def test_several_problems_are_all_listed(self, client: httpx.Client) -> None:
        extensions = post(client, "{ refusedTwice }").json()["errors"][0]["extensions"]

        assert extensions["code"] == "MISSING_FIELD"
        assert [problem["path"] for problem in extensions["problems"]] == ["a", "b"]

    @pytest.mark.parametrize("query", ["{ broken }", "{ brokenWhole }", "{ run { broken } }", "{ overflow }"])
    def test_what_nobody_foresaw_is_masked_with_the_id_of_the_request(self, client: httpx.Client, query: str) -> None:
        response = client.post("/graphql", json={"query": query}, headers={"x-request-id": "mine-1"})

        (error,) = response.json()["errors"]
        assert response.status_code == 200
        assert error["message"] == "Unexpected error"
        assert error["path"]
        assert error["extensions"] == {"code": "INTERNAL", "requestId": "mine-1"}

    def test_a_context_that_breaks_is_a_masked_500(self, client: httpx.Client) -> None:
        response = client.post("/graphql", json={"query": "{hello}"}, headers={"authorization": "broken"})

        assert response.status_code == 500
        assert code_of(response) == "INTERNAL"
        assert SECRET not in response.text

    @pytest.mark.parametrize(
        ("query", "variables", "code"),
        [
            ("query($n: Int!) { runs(first: $n) { totalCount } }", {"n": "x"}, "BAD_REQUEST"),
            ("query($n: Int!) { runs(first: $n) { totalCount } }", {}, "BAD_REQUEST"),
            ("query($n: Int!) { runs(first: $n) { totalCount } }", {"n": 2**31}, "BAD_REQUEST"),
            ("query($d: Digest!) { run(id: $d) { name } }", {"d": "zz"}, "INVALID_ID"),
            ("query($d: Digest!) { run(id: $d) { name } }", {"d": 1}, "BAD_REQUEST"),
        ],
    )
    def test_variables_that_do_not_fit_are_refused_before_anything_runs(
        self, client: httpx.Client, query: str, variables: dict[str, Any], code: str
    ) -> None:
        strict = post(client, query, variables=variables)

        assert strict.status_code == 400
        assert code_of(strict) == code
        assert "data" not in strict.json()
        assert SECRET not in strict.text
        assert post(client, query, accept="application/json", variables=variables).status_code == 200

    def test_a_scalar_that_refuses_says_why_and_what_would_be_right_in_variables_and_literals(
        self, client: httpx.Client
    ) -> None:
        variable = post(client, "query($d: Digest!) { run(id: $d) { name } }", variables={"d": "zz"}).json()
        literal = post(client, '{ run(id: "zz") { name } }').json()

        for body in (variable, literal):
            assert "(a digest starts with sha256:)" in body["errors"][0]["message"]
            assert body["errors"][0]["extensions"] == {"code": "INVALID_ID", "remedy": "copy it whole"}

    def test_a_null_at_run_time_for_a_required_argument_is_the_clients_error(self, client: httpx.Client) -> None:
        query = 'query($t: String = "x") { echo(text: $t) }'

        response = post(client, query, variables={"t": None})

        assert code_of(response) == "BAD_REQUEST"

    @pytest.mark.parametrize("literal", ["1", "9" * 5000, '"' + "z" * 5000 + '"'])
    def test_messages_about_literals_tell_nothing_internal_and_stay_short(
        self, client: httpx.Client, literal: str
    ) -> None:
        response = post(client, f"{{ run(id: {literal}) {{ name }} runs(first: {literal}) {{ totalCount }} }}")

        assert response.status_code == 400
        assert SECRET not in response.text
        assert "digits" not in response.text
        assert all(len(error["message"]) <= 501 for error in response.json()["errors"])


def test_documents_must_guard_every_transport_of_the_schema() -> None:
    """An endpoint whose limits a WebSocket on the same schema would not have is not made."""
    from service.http.documents import Documents
    from service.http.graphql_http import GraphQLEndpoint
    from service.limits import Limits
    from tests.service.http.tiny import tiny_schema

    schema = tiny_schema(Documents(Limits()))

    with pytest.raises(ValueError, match="extensions"):
        GraphQLEndpoint(schema, documents=Documents(Limits()), make_context=lambda request: None)


def test_json_numbers_of_answers_are_exact(client: httpx.Client) -> None:
    """A number in ``extensions`` reads back as the same integer."""
    body = json.loads(post(client, "{ runs(first: 2000) { nodes { name } } }").text)

    assert body["errors"][0]["extensions"]["requested"] == 2001
    assert body["extensions"]["cost"] == {"requested": 2001, "limit": 1000}
