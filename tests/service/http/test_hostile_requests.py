"""What clients, broken or hostile, really send: never a 500, always JSON with a coded error, and the next request works."""

import gzip
import json
import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from domain.errors import ErrorCode

JSON = {"content-type": "application/json"}
KIB = 1024


def code_of(response: httpx.Response) -> str:
    """The code of the first error, once the answer has been seen to be one: JSON, coded, not a 500."""
    assert response.status_code != 500
    assert response.headers["content-type"].startswith("application/")
    errors = response.json()["errors"]
    assert all(error["message"] and error["extensions"]["code"] in set(ErrorCode) for error in errors)
    return str(errors[0]["extensions"]["code"])


@pytest.fixture(autouse=True)
def _alive_afterwards(client: httpx.Client) -> Iterator[None]:
    yield
    assert client.post("/graphql", json={"query": "{hello}"}).json()["data"] == {"hello": "world"}


BODIES = {
    "empty": (b"", "BAD_REQUEST"),
    "null": (b"null", "BAD_REQUEST"),
    "number": (b"1", "BAD_REQUEST"),
    "string": (b'"x"', "BAD_REQUEST"),
    "true": (b"true", "BAD_REQUEST"),
    "empty batch": (b"[]", "BAD_REQUEST"),
    "batch": (b'[{"query": "{hello}"}]', "BAD_REQUEST"),
    "no query": (b"{}", "BAD_REQUEST"),
    "query null": (b'{"query": null}', "BAD_REQUEST"),
    "query a list": (b'{"query": ["{hello}"]}', "BAD_REQUEST"),
    "query a number": (b'{"query": 1}', "BAD_REQUEST"),
    "variables a list": (b'{"query": "{hello}", "variables": []}', "BAD_REQUEST"),
    "variables a string": (b'{"query": "{hello}", "variables": "{}"}', "BAD_REQUEST"),
    "variables false": (b'{"query": "{hello}", "variables": false}', "BAD_REQUEST"),
    "extensions a number": (b'{"query": "{hello}", "extensions": 1}', "BAD_REQUEST"),
    "operationName a number": (b'{"query": "{hello}", "operationName": 0}', "BAD_REQUEST"),
    "cut off": (b'{"query": "{hello}"', "BAD_REQUEST"),
    "trailing": (b'{"query": "{hello}"} x', "BAD_REQUEST"),
    "not UTF-8": (b'{"query": "{hello}", "variables": {"a": "\xff"}}', "BAD_REQUEST"),
    "UTF-16": ('{"query": "{hello}"}'.encode("utf-16"), "BAD_REQUEST"),
    "BOM": (b'\xef\xbb\xbf{"query": "{hello}"}', "BAD_REQUEST"),
    "NUL": (b"\x00", "BAD_REQUEST"),
    "100,000 arrays deep": (b"[" * 100_000, "BAD_REQUEST"),
    "100,000 objects deep": (b'{"a":' * 40_000, "BAD_REQUEST"),
    "100,000 deep and closed": (b"[" * 100_000 + b"]" * 100_000, "BAD_REQUEST"),
    "65 deep": (b'{"query": "{hello}", "variables": ' + b'{"a":' * 63 + b"[]" + b"}" * 63 + b"}", "BAD_REQUEST"),
    "5,000 digits": (b'{"query": "{hello}", "variables": {"a": ' + b"9" * 5000 + b"}}", "NUMBER_OUT_OF_RANGE"),
    "too large a double": (b'{"query": "{hello}", "variables": {"a": 1e999}}', "NUMBER_OUT_OF_RANGE"),
    "NaN": (b'{"query": "{hello}", "variables": {"a": NaN}}', "BAD_REQUEST"),
    "infinity": (b'{"query": "{hello}", "variables": {"a": -Infinity}}', "BAD_REQUEST"),
    "two queries": (b'{"query": "{hello}", "query": "mutation{add}"}', "DUPLICATE_KEY"),
    "same variable twice": (b'{"query": "{hello}", "variables": {"a": 1, "a": 2}}', "DUPLICATE_KEY"),
    "half a character in the query": (b'{"query": "{hello} #\\ud83d"}', "INVALID_TEXT"),
    "half a character in a variable": (b'{"query": "{hello}", "variables": {"a": ["\\udc00"]}}', "INVALID_TEXT"),
    "half a character in a key": (b'{"query": "{hello}", "\\udc00": 1}', "INVALID_TEXT"),
    "form": (b"query=%7Bhello%7D", "BAD_REQUEST"),
    "gzip": (gzip.compress(b'{"query": "{hello}"}'), "BAD_REQUEST"),
}


@pytest.mark.parametrize(("body", "code"), BODIES.values(), ids=BODIES.keys())
def test_a_body_that_is_no_request_is_a_coded_400(client: httpx.Client, body: bytes, code: str) -> None:
    response = client.post("/graphql", content=body, headers=JSON)

    assert response.status_code == 400
    assert code_of(response) == code


def test_64_levels_and_whole_characters_are_taken(client: httpx.Client) -> None:
    """The bounds refuse nothing inside them: 64 levels, an escaped pair, 300 digits, members of other names."""
    deep = '{"a":' * 61 + "[]" + "}" * 61
    variables = f'{{"d": {deep}, "c": "\\ud83c\\udfc3", "n": {"9" * 300}}}'
    body = f'{{"query": "{{hello}}", "more": 1, "variables": {variables}}}'

    response = client.post("/graphql", content=body.encode(), headers=JSON)

    assert response.json()["data"] == {"hello": "world"}


def fragments(count: int, body: str) -> str:
    """A chain of fragments, each made from its own name and the next one's."""
    chain = "".join(f"fragment F{i} on Query {{ {body.format(next=f'...F{i + 1}')} }} " for i in range(count))
    return f"{{ ...F0 }} {chain} fragment F{count} on Query {{ hello }}"


DOCUMENTS = {
    "unclosed": ("{", "GRAPHQL_PARSE_FAILED"),
    "control character": ("{hello\x07}", "GRAPHQL_PARSE_FAILED"),
    "SDL": ("type Query { a: Int }", "GRAPHQL_VALIDATION_FAILED"),
    "fragment in itself": ("{...A} fragment A on Query {...A}", "GRAPHQL_VALIDATION_FAILED"),
    "fragment cycle": ("{...A} fragment A on Query {...B} fragment B on Query {...A}", "GRAPHQL_VALIDATION_FAILED"),
    "cyclic bomb": (fragments(100, "{next} {next} ...F0"), "GRAPHQL_VALIDATION_FAILED"),
    "unknown fragment": ("{...Z}", "GRAPHQL_VALIDATION_FAILED"),
    "2^100 aliases": (fragments(100, "a: hello {next} {next}"), "QUERY_TOO_COMPLEX"),
    "2^25 levels of objects": (
        "{run{...F0}}"
        + "".join(f"fragment F{i} on Run {{parent{{...F{i + 1}}} parent{{...F{i + 1}}}}}" for i in range(25))
        + "fragment F25 on Run {name}",
        "QUERY_TOO_COMPLEX",
    ),
    "2,001 tokens": ("{" + "hello " * 1999 + "}", "QUERY_TOO_COMPLEX"),
    "50,000 comments": ("{hello}" + "#\n" * 50_000, "QUERY_TOO_COMPLEX"),
    "1,900 of the same field": ("{" + "hello " * 1900 + "}", "QUERY_TOO_COMPLEX"),
    "450 of the same object": ("{" + "run{name} " * 450 + "}", "QUERY_TOO_COMPLEX"),
    "31 aliases": ("{" + " ".join(f"a{i}: hello" for i in range(31)) + "}", "QUERY_TOO_COMPLEX"),
    "13 levels": ("{run{" + "parent{" * 11 + "name" + "}" * 13, "QUERY_TOO_COMPLEX"),
    "500 levels": ("{run{" + "parent{" * 500 + "name" + "}" * 502, "QUERY_TOO_COMPLEX"),
    "500 levels of nothing": ("{..." * 500 + "{hello}" + "}" * 500, "QUERY_TOO_COMPLEX"),
    "900 lists in a literal": ("{nodes(ids: " + "[" * 900 + "]" * 900 + ") {name}}", "QUERY_TOO_COMPLEX"),
    "240 fragments in a row": (fragments(240, "{next}"), "QUERY_TOO_COMPLEX"),
    "1,900 unknown fields": ("{" + " ".join(f"z{i}" for i in range(1900)) + "}", "GRAPHQL_VALIDATION_FAILED"),
    "5,000 digits": ("{runs(first: " + "9" * 5000 + ") {totalCount}}", "GRAPHQL_VALIDATION_FAILED"),
    "5,000 digits by default": (
        "query($n: Int = " + "9" * 5000 + ") {runs(first: $n) {totalCount}}",
        "GRAPHQL_VALIDATION_FAILED",
    ),
    "deep introspection": (
        "{__schema{types{" + "fields{type{" * 6 + "name" + "}" * 15,
        "QUERY_TOO_COMPLEX",
    ),
    "wide introspection": (
        "{" + "".join(f"a{i}: __schema{{types{{fields{{type{{fields{{type{{name}}}}}}}}}}}}" for i in range(20)) + "}",
        "QUERY_TOO_COMPLEX",
    ),
    "page of a billion": ("{runs(first: 1000000000) {nodes {name}}}", "QUERY_TOO_COMPLEX"),
    "pages in pages": (
        "{runs(first:100){nodes{runs(first:100){nodes{runs(first:100){nodes{name}}}}}}}",
        "QUERY_TOO_COMPLEX",
    ),
}


@pytest.mark.parametrize(("query", "code"), DOCUMENTS.values(), ids=DOCUMENTS.keys())
@pytest.mark.parametrize("accept", ["application/json", "application/graphql-response+json"])
def test_a_document_that_is_a_bomb_or_broken_is_refused_at_once(
    client: httpx.Client, query: str, code: str, accept: str
) -> None:
    started = time.monotonic()
    response = client.post("/graphql", json={"query": query}, headers={"accept": accept})

    assert code_of(response) == code
    assert response.status_code == (200 if accept == "application/json" else 400)
    assert "data" not in response.json()
    assert time.monotonic() - started < 2


def test_fragments_that_expand_to_2_to_the_100_cost_their_length(client: httpx.Client) -> None:
    """Nothing is wrong with them: no alias, one level, a cost of 0. They must be found to be so in time, and not refused
    for their number of letters."""
    started = time.monotonic()
    response = client.post("/graphql", json={"query": fragments(100, "{next} {next}")})

    assert response.json()["data"] == {"hello": "world"}
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    "query_string",
    [
        "query=%7Bhello%7D&query=%7Bhello%7D",
        "query=%7Bhello%7D&variables=%5B%5D",
        "query=%7Bhello%7D&variables=nope",
        "query=%7Bhello%7D&variables=1",
        "query=%7Bhello%7D&extensions=%22x%22",
        "query=%ff",
        "&".join(f"a{i}=1" for i in range(200)),
        "",
    ],
)
def test_a_query_string_that_is_no_request_is_a_coded_400(client: httpx.Client, query_string: str) -> None:
    response = client.get(f"/graphql?{query_string}")

    assert response.status_code == 400
    assert code_of(response) == "BAD_REQUEST"


class TestBodyLimit:
    def request(self, size: int) -> bytes:
        """A well-formed request of exactly that many bytes."""
        start, end = b'{"query": "{hello}", "variables": {"a": "', b'"}}'
        return start + b"x" * (size - len(start) - len(end)) + end

    def test_the_limit_itself_is_taken_and_one_byte_more_is_not(self, client: httpx.Client) -> None:
        fits = client.post("/graphql", content=self.request(256 * KIB), headers=JSON)
        over = client.post("/graphql", content=self.request(256 * KIB + 1), headers=JSON)

        assert fits.json()["data"] == {"hello": "world"}
        assert over.status_code == 413
        assert code_of(over) == "BODY_TOO_LARGE"

    def test_a_request_that_may_ingest_may_send_five_mebibytes(self, client: httpx.Client) -> None:
        keyed = {**JSON, "authorization": "k"}

        fits = client.post("/graphql", content=self.request(5 * KIB * KIB), headers=keyed)
        over = client.post("/graphql", content=self.request(5 * KIB * KIB + 1), headers=keyed)

        assert fits.json()["data"] == {"hello": "world"}
        assert code_of(over) == "BODY_TOO_LARGE"

    def test_chunks_are_counted_as_they_arrive(self, client: httpx.Client) -> None:
        def chunks(size: int) -> Iterator[bytes]:
            whole = self.request(size)
            yield from (whole[at : at + 10_000] for at in range(0, size, 10_000))

        fits = client.post("/graphql", content=chunks(256 * KIB), headers=JSON)
        over = client.post("/graphql", content=chunks(256 * KIB + 1), headers=JSON)

        assert fits.json()["data"] == {"hello": "world"}
        assert over.status_code == 413
        assert code_of(over) == "BODY_TOO_LARGE"

    def test_a_declared_length_is_refused_before_any_of_it_is_sent(self, base_url: str) -> None:
        answer = exchange(
            base_url,
            b"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: 10000000000\r\n\r\n",
        )

        assert answer.startswith(b"HTTP/1.1 413")
        assert b"BODY_TOO_LARGE" in answer

    def test_an_endless_body_is_refused_while_it_streams(self, base_url: str) -> None:
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"

        answer = exchange(
            base_url,
            b"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 5,
        )

        assert answer.startswith(b"HTTP/1.1 413")

    def test_the_reader_serves_other_routes_with_limits_of_their_own(self, client: httpx.Client) -> None:
        assert client.post("/raw", content=b"x" * 1000).text == "1000"
        over = client.post("/raw", content=b"x" * 1001)
        assert over.status_code == 413
        assert code_of(over) == "BODY_TOO_LARGE"

    def test_a_client_that_leaves_in_the_middle_disturbs_nobody(self, base_url: str) -> None:
        with connect(base_url) as connection:
            connection.sendall(
                b"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
            )


def connect(base_url: str) -> socket.socket:
    """A connection to the server, for what no HTTP client would send."""
    address = urlsplit(base_url)
    return socket.create_connection((address.hostname or "", address.port or 0), timeout=10)


def exchange(base_url: str, sent: bytes) -> bytes:
    """The start of the answer to these bytes, while the connection stays open."""
    with connect(base_url) as connection:
        connection.sendall(sent)
        answer = b""
        while b"\r\n\r\n{" not in answer or not answer.endswith(b"}"):
            received = connection.recv(65536)
            if not received:
                break
            answer += received
        return answer


def test_errors_are_json_that_reads_back(client: httpx.Client) -> None:
    """A message that quotes what was sent escapes it."""
    response = client.post("/graphql", json={"query": '{ echo(text: "</script>\\"\\u2028") zzz }'})

    assert json.loads(response.text)["errors"]
