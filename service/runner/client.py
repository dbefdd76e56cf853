"""The index as a runner reaches it: GraphQL over HTTP, retried with patience, each request under a key of its own."""

import random
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from http import HTTPStatus
from secrets import token_hex
from types import TracebackType
from typing import Any, Final, Self

import httpx
import msgspec

from domain.errors import ErrorCode, KernelIndexError, NotFound, error_of
from service.logs import Log
from service.remote import LONGEST_WAIT_S, PASSING, failure_of, problem_of, wait_s
from service.runner import documents
from service.runner.spool import Result
from service.runner.stopping import Stop, Stopped
from service.runner.work import Request, Standing, Unreachable

TIMEOUT_S: Final = 30.0
FIRST_WAIT_S: Final = 0.5
PAGE: Final = 50
PASSING_CODES: Final = frozenset(
    {
        ErrorCode.RATE_LIMITED,
        ErrorCode.VIEWS_BEHIND,
        ErrorCode.QUERY_TIMEOUT,
        ErrorCode.CONCURRENT_CHANGE,
        ErrorCode.INTERNAL,
    }
)
"""Codes of errors after which the same request may succeed."""

_logger = Log("runner")
Data = dict[str, Any]


class GraphQLIndex:
    """The index at ``server``, for one runner. It is an :class:`~service.runner.work.Index`."""

    def __init__(self, server: str, key: str | None, *, runner: str, stop: Stop) -> None:
        self._runner = runner
        self._stop = stop
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = httpx.Client(base_url=server.rstrip("/"), headers=headers, timeout=TIMEOUT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def standing(self) -> Standing:
        """How the index knows the runner."""
        data, _ = self._ask(documents.STANDING, {"id": f"runner/{self._runner}"})
        if data["viewer"] is None:
            raise KernelIndexError.because(
                "a runner needs the API key of its operator",
                code=ErrorCode.UNAUTHENTICATED,
                remedy="put a key with the scope rerun into KERNELINDEX_KEY",
            )
        if data["node"] is None:
            raise NotFound.because(
                f"no runner {self._runner} is approved",
                path="--runner",
                remedy="ask an administrator to approve it: `kernelindex runner key` prints the public key",
            )
        return Standing(
            log_id=data["stamp"]["logId"],
            principal=data["viewer"]["principal"],
            operator=data["node"]["operator"],
            hardware=data["node"]["hardware"],
            public_key=data["node"]["publicKey"],
            suspended=data["node"]["suspension"] is not None,
        )

    def open_requests(self, hardware: str) -> Iterator[Request]:
        """Requests for this product that nobody is at work on, oldest first; last those whose lease ran out."""
        yield from self._requests("OPEN", hardware)
        yield from self._requests("STARTED", hardware)

    def _requests(self, state: str, hardware: str) -> Iterator[Request]:
        given = {"state": state, "hardware": hardware, "first": PAGE, "after": None}
        while True:
            data, now = self._ask(documents.REQUESTS, given)
            for node in data["rerunRequests"]["nodes"]:
                lease = node["leaseExpiresAt"]
                if lease is None or datetime.fromisoformat(lease) <= now:
                    yield _request(node)
            page = data["rerunRequests"]["pageInfo"]
            if not page["hasNextPage"]:
                return
            given["after"] = page["endCursor"]

    def manifests(self, run: str) -> Mapping[str, msgspec.Raw] | None:
        """The manifests of a run and of all that it refers to; None where one of them is not registered."""
        data, _ = self._ask(documents.MANIFESTS, {"run": run})
        found = data["run"]
        if found is None:
            return None
        texts = {name: (found[name] or {}).get("manifest") for name in documents.REFERENCES}
        if not all(texts.values()):
            return None
        return {name: msgspec.Raw(text.encode()) for name, text in {"run": found["manifest"], **texts}.items()}

    def is_registered(self, digest: str) -> bool:
        """Whether a manifest of this digest is registered."""
        data, _ = self._ask(documents.REGISTERED, {"id": digest})
        return data["node"] is not None

    def start(self, rerun: str) -> float:
        """Start a request, or go on with it. Answers for how many seconds the runner has it."""
        return self._lease("startRerun", documents.START, rerun)

    def renew(self, rerun: str) -> float:
        """Keep a request for longer. Tried once."""
        return self._lease("renewRerunLease", documents.RENEW, rerun, patient=False)

    def record(self, result: Result) -> str:
        """Record a result, once however often this is called. Answers its outcome."""
        given = {
            "rerun": result.rerun,
            "manifest": result.manifest,
            "environment": result.environment,
            "signature": result.signature,
        }
        # The same for every try, in whichever life of this runner.
        key = f"record-{sha256(f'{result.rerun} {result.digest}'.encode()).hexdigest()}"
        answer, _ = self._change("recordRerun", documents.RECORD, given, key)
        return str(answer["rerun"]["result"]["outcome"])

    def abandon(self, rerun: str, reason: str, *, patient: bool = True) -> None:
        """Give a request back."""
        given = {"rerun": rerun, "reason": reason}
        self._change("abandonRerun", documents.ABANDON, given, _fresh("abandon"), patient=patient)

    def _lease(self, mutation: str, document: str, rerun: str, *, patient: bool = True) -> float:
        # A key of its own each time: the first answer, replayed, would keep nothing.
        answer, now = self._change(mutation, document, {"rerun": rerun}, _fresh("lease"), patient=patient)
        return (datetime.fromisoformat(answer["rerun"]["leaseExpiresAt"]) - now).total_seconds()

    def _change(
        self, mutation: str, document: str, given: Data, key: str, *, patient: bool = True
    ) -> tuple[Data, datetime]:
        """The success of a mutation, and the server's time. Raises the error that it answers instead."""
        variables = {"input": {**given, "runner": self._runner, "idempotencyKey": key}}

        def read(data: Data) -> Data:
            answer: Data = data[mutation]
            if "code" in answer:
                raise error_of(answer["__typename"], [problem_of(answer)])
            return answer

        return self._ask(document, variables, read, patient=patient)

    def _ask(
        self, document: str, variables: Data, read: Callable[[Data], Data] = lambda data: data, *, patient: bool = True
    ) -> tuple[Data, datetime]:
        """What ``read`` makes of the data, and the server's time, by which leases are told.

        What may pass is tried again until it has, or, where not ``patient``, raised as :class:`Unreachable`.
        """
        wait = FIRST_WAIT_S / 2
        while True:
            failure, wait = "", min(wait * 2, LONGEST_WAIT_S)
            pause = wait
            try:
                answer = self._http.post("/graphql", json={"query": document, "variables": variables})
                if answer.status_code not in PASSING:
                    return read(_data(answer)), _time_of(answer)
                failure, pause = f"status {answer.status_code}", max(wait_s(answer, wait), FIRST_WAIT_S)
            except httpx.TransportError as error:
                failure = f"{type(error).__name__}: {error}"
            except KernelIndexError as error:
                if error.problems[0].code not in PASSING_CODES:
                    raise
                failure = str(error)
            if not patient:
                raise Unreachable(failure)
            _logger.warning("index not reached", server=str(self._http.base_url), error=failure, next_try_s=pause)
            # Spread, so that many runners don't come back all at once.
            if self._stop.wait(pause * random.uniform(0.75, 1.25)):  # noqa: S311 no secret
                raise Stopped


def _data(answer: httpx.Response) -> Data:
    try:
        body = answer.json()
    except ValueError:
        body = {}
    if not isinstance(body, dict) or "data" not in body or body.get("errors"):
        if answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise KernelIndexError.because(f"status {answer.status_code}", code=ErrorCode.INTERNAL)
        raise failure_of(answer)
    data: Data = body["data"]
    return data


def _time_of(answer: httpx.Response) -> datetime:
    """When the server answered, by its own clock: ours may be another."""
    try:
        return parsedate_to_datetime(answer.headers["date"]).astimezone(UTC)
    except (KeyError, ValueError):
        return datetime.now(UTC)


def _request(node: Data) -> Request:
    run = node["run"]
    environment = (run["environment"] or {}).get("hardware") or {}
    return Request(
        rerun=node["rerunId"],
        run=run["digest"],
        parties=frozenset(filter(None, (run["submittedBy"], run["producer"]))),
        hardware=environment.get("product"),
    )


def _fresh(what: str) -> str:
    return f"{what}-{token_hex(16)}"
