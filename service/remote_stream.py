"""What happens in another index, over server-sent events: goes on by itself where it was cut off."""

from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any, Final, NamedTuple

import httpx
import msgspec

from domain.errors import ErrorCode, KernelIndexError
from service.remote import PASSING, failure_of, problem_of, wait_s

TIMEOUT: Final = httpx.Timeout(10.0, read=45.0)  # a quiet stream shows a sign of life every 15 seconds
FIRST_WAIT_S: Final = 0.5
LONGEST_WAIT_S: Final = 30.0
PASSING_CODES: Final = (ErrorCode.VIEWS_BEHIND, ErrorCode.QUERY_TIMEOUT, ErrorCode.RATE_LIMITED)


class Message(NamedTuple):
    """What was told, in the API's own names, and the cursor to go on from."""

    doc: dict[str, Any]
    cursor: str


class Interrupted(Exception):
    """The line is lost, or the server has no time; it may pass. ``wait_s`` where the server says how long it takes."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


Pause = Callable[[float, str], object]
"""Called with how many seconds to wait before the next try, and why."""


def follow(
    http: httpx.Client, query: str, variables: dict[str, Any], *, cursor: str | None, pause: Pause
) -> Iterator[Message]:
    """The messages of a subscription, for ever, each once. Raises what the server refuses for good.

    Where ``cursor`` is None it begins at the present, and goes on from there whatever happens to the line.
    """
    next_wait_s = FIRST_WAIT_S
    while True:
        try:
            for message in _once(http, query, variables, cursor):
                cursor, next_wait_s = message.cursor, FIRST_WAIT_S
                yield message
            interrupted = Interrupted("the server has ended the stream")
        except Interrupted as error:
            interrupted = error
        pause(next_wait_s if interrupted.wait_s is None else interrupted.wait_s, str(interrupted))
        next_wait_s = min(2 * next_wait_s, LONGEST_WAIT_S)


def _once(http: httpx.Client, query: str, variables: dict[str, Any], cursor: str | None) -> Iterator[Message]:
    headers = {"Accept": "text/event-stream", **({"Last-Event-ID": cursor} if cursor else {})}
    body = {"query": query, "variables": variables}
    try:
        with http.stream("POST", "/graphql/stream", json=body, headers=headers, timeout=TIMEOUT) as answer:
            if answer.status_code != HTTPStatus.OK:
                answer.read()
                if answer.status_code in PASSING:
                    raise Interrupted(f"the server answers {answer.status_code}", wait_s(answer, FIRST_WAIT_S))
                raise failure_of(answer)
            yield from _messages(answer)
    except httpx.TransportError as error:
        raise Interrupted(f"the line is lost: {error}") from None


def _messages(answer: httpx.Response) -> Iterator[Message]:
    cursor = ""
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if name == "id":
            cursor = value
        elif name == "data" and value:
            response = msgspec.json.decode(value)
            if errors := response.get("errors"):
                problems = [problem_of(error) for error in errors]
                if problems[0].code in PASSING_CODES:
                    raise Interrupted(problems[0].message)
                raise KernelIndexError(*problems)
            (doc,) = response["data"].values()
            yield Message(doc, cursor)
