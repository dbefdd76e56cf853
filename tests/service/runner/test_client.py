"""The index as a runner reaches it: what is tried again, under which keys, and what is not."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from domain.errors import Conflict, ErrorCode, InvalidInput, KernelIndexError, NotFound
from service.runner.client import GraphQLIndex
from service.runner.spool import Result
from service.runner.stopping import Stop, Stopped
from service.runner.work import Request, Unreachable
from tests.service.http.serving import serving

NOW = datetime(2031, 1, 1, 12, tzinfo=UTC)
RESULT = Result(
    log_id="log-1", rerun="r1", run="sha256:1", digest="sha256:2", manifest="{}", environment=None, signature="AA=="
)
RECORDED = {
    "data": {"recordRerun": {"__typename": "RecordRerunSuccess", "rerun": {"result": {"outcome": "CONFIRMED"}}}}
}
Answer = tuple[int, Any]


def refusal(mutation: str, kind: str, code: str) -> Answer:
    answer = {"__typename": kind, "message": "no", "code": code, "path": "input.rerun", "remedy": "another"}
    return 200, {"data": {mutation: answer}}


def error(status: int, code: str) -> Answer:
    return status, {"errors": [{"message": "no", "extensions": {"code": code}}]}


class Script:
    """A server, by whose clock it is ``NOW``, that gives these answers in turn. ``seen`` is what it was sent."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.seen: list[dict[str, Any]] = []
        self.headers: list[dict[bytes, bytes]] = []

    @property
    def keys(self) -> list[str]:
        return [body["variables"]["input"]["idempotencyKey"] for body in self.seen]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.seen.append(json.loads(body))
        self.headers.append(dict(scope["headers"]))
        status, answer = self.answers.pop(0)
        headers = [(b"date", format_datetime(NOW, usegmt=True).encode()), (b"retry-after", b"0")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send(
            {"type": "http.response.body", "body": answer if isinstance(answer, bytes) else json.dumps(answer).encode()}
        )


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def stop() -> Iterator[Stop]:
    with Stop() as flag:
        yield flag


@pytest.fixture
def index(script: Script, stop: Stop) -> Iterator[GraphQLIndex]:
    with serving(script, dates=False) as url, GraphQLIndex(url + "/", "ki_1", runner="kite-1", stop=stop) as opened:
        yield opened


def test_a_lease_is_told_by_the_clock_of_the_server(index: GraphQLIndex, script: Script) -> None:
    until = (NOW + timedelta(seconds=90)).isoformat().replace("+00:00", "Z")
    script.answers = [
        (200, {"data": {"startRerun": {"__typename": "StartRerunSuccess", "rerun": {"leaseExpiresAt": until}}}})
    ]
    assert index.start("r1") == 90
    assert script.seen[0]["variables"]["input"]["runner"] == "kite-1"
    assert script.headers[0][b"authorization"] == b"Bearer ki_1"


def requests(*leases: str | None, cursor: str | None = None) -> Answer:
    run = {
        "digest": "sha256:1",
        "submittedBy": "heron",
        "producer": "tern",
        "environment": {"hardware": {"product": "B200"}},
    }
    nodes = [{"rerunId": f"r{number}", "leaseExpiresAt": lease, "run": run} for number, lease in enumerate(leases)]
    page = {"hasNextPage": cursor is not None, "endCursor": cursor}
    return 200, {"data": {"rerunRequests": {"nodes": nodes, "pageInfo": page}}}


def test_requests_are_read_page_by_page_and_then_those_whose_lease_ran_out(index: GraphQLIndex, script: Script) -> None:
    expired, held = "2031-01-01T11:59:59Z", "2031-01-01T12:00:01Z"
    script.answers = [requests(None, None, cursor="c1"), requests(None), requests(held, expired)]
    found = list(index.open_requests("B200"))
    assert [request.rerun for request in found] == ["r0", "r1", "r0", "r1"]
    assert found[0] == Request(rerun="r0", run="sha256:1", parties=frozenset({"heron", "tern"}), hardware="B200")
    asked = [(body["variables"]["state"], body["variables"]["after"]) for body in script.seen]
    assert asked == [("OPEN", None), ("OPEN", "c1"), ("STARTED", None)]


@pytest.mark.parametrize(
    "passing",
    [
        (503, b"sorry"),
        (502, b"<html>"),
        (500, b"oops"),
        error(429, "RATE_LIMITED"),
        error(500, "INTERNAL"),
        error(200, "VIEWS_BEHIND"),
        refusal("recordRerun", "Conflict", "CONCURRENT_CHANGE"),
        refusal("recordRerun", "RateLimited", "RATE_LIMITED"),
    ],
)
def test_what_may_pass_is_tried_again_under_the_same_key(passing: Answer, index: GraphQLIndex, script: Script) -> None:
    script.answers = [passing, (200, RECORDED)]
    assert index.record(RESULT) == "CONFIRMED"
    assert len(script.seen) == 2
    assert script.seen[0] == script.seen[1]


@pytest.mark.parametrize(
    ("answer", "raised", "code"),
    [
        (refusal("recordRerun", "Conflict", "RERUN_CLOSED"), Conflict, ErrorCode.RERUN_CLOSED),
        (refusal("recordRerun", "NotFound", "NOT_FOUND"), NotFound, ErrorCode.NOT_FOUND),
        (refusal("recordRerun", "InvalidInput", "DIGEST_MISMATCH"), InvalidInput, ErrorCode.DIGEST_MISMATCH),
        (error(401, "UNAUTHENTICATED"), KernelIndexError, ErrorCode.UNAUTHENTICATED),
        (error(400, "GRAPHQL_VALIDATION_FAILED"), KernelIndexError, ErrorCode.GRAPHQL_VALIDATION_FAILED),
        ((404, b"<html>"), KernelIndexError, ErrorCode.BAD_REQUEST),
        ((200, b"[]"), KernelIndexError, ErrorCode.BAD_REQUEST),
    ],
)
def test_what_will_not_pass_is_raised(
    answer: Answer, raised: type[KernelIndexError], code: ErrorCode, index: GraphQLIndex, script: Script
) -> None:
    script.answers = [answer]
    with pytest.raises(raised) as refused:
        index.record(RESULT)
    assert refused.value.problems[0].code is code


def test_a_result_has_one_key_and_each_renewal_its_own(index: GraphQLIndex, script: Script) -> None:
    lease = {"__typename": "RenewRerunLeaseSuccess", "rerun": {"leaseExpiresAt": "2031-01-01T13:00:00Z"}}
    script.answers = [(200, RECORDED), (200, RECORDED), *[(200, {"data": {"renewRerunLease": lease}})] * 2]
    for call in (lambda: index.record(RESULT), lambda: index.renew("r1")):
        call()
        call()
    recorded, again, renewed, once_more = script.keys
    assert recorded == again
    assert renewed != once_more
    assert all(len(key) <= 128 for key in script.keys)


@pytest.mark.parametrize(
    "call", [lambda index: index.renew("r1"), lambda index: index.abandon("r1", "x", patient=False)]
)
def test_what_is_not_worth_waiting_for_is_tried_once(
    call: Callable[[GraphQLIndex], object], index: GraphQLIndex, script: Script
) -> None:
    script.answers = [(503, b"sorry")]
    with pytest.raises(Unreachable, match="503"):
        call(index)
    assert len(script.seen) == 1


def test_waiting_for_an_index_that_is_away_ends_with_the_wish_to_stop(stop: Stop) -> None:
    stop.set()
    with GraphQLIndex("http://127.0.0.1:9", None, runner="kite-1", stop=stop) as index, pytest.raises(Stopped):
        index.standing()


@pytest.mark.parametrize(
    ("viewer", "node", "said"),
    [
        (None, {"operator": "kite"}, "needs the API key"),
        ({"principal": "kite"}, None, "no runner kite-1 is approved"),
    ],
)
def test_who_is_unknown_to_the_index_is_told_what_to_do(
    viewer: object, node: object, said: str, index: GraphQLIndex, script: Script
) -> None:
    script.answers = [(200, {"data": {"stamp": {"logId": "log-1"}, "viewer": viewer, "node": node}})]
    with pytest.raises(KernelIndexError, match=said):
        index.standing()


@pytest.mark.parametrize("missing", ["protocol", "operation", "run"])
def test_manifests_are_all_or_none(missing: str, index: GraphQLIndex, script: Script) -> None:
    names = ("implementation", "workload", "operation", "protocol", "environment")
    run: dict[str, Any] = {"manifest": '{"a":1.50}', **{name: {"manifest": "{}"} for name in names}}
    script.answers = [(200, {"data": {"run": run}})]
    found = index.manifests("sha256:1")
    assert found
    assert bytes(found["run"]) == b'{"a":1.50}'
    script.answers = [(200, {"data": {"run": None if missing == "run" else {**run, missing: None}}})]
    assert index.manifests("sha256:1") is None
