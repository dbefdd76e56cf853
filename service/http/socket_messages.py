"""The messages of graphql-transport-ws that a client may send, as graphql-ws's own server checks them."""

from typing import Any, Final

import msgspec

from domain.errors import KernelIndexError
from service.http.body import decode_json
from service.http.parameters import Parameters, from_members

PROTOCOL: Final = "graphql-transport-ws"
MAX_REASON: Final = 123  # bytes, of a close frame
MAX_ID: Final = 256


class Violation(Exception):
    """What ends the connection: a close code and the reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason.encode()[:MAX_REASON].decode(errors="ignore")


class Said(msgspec.Struct, frozen=True):
    """A well-formed message. ``parameters`` are those of ``subscribe``."""

    type: str
    id: str = ""
    payload: dict[str, Any] | None = None
    parameters: Parameters | None = None


def read_message(text: str, max_depth: int) -> Said:
    """The message in a text. Raises :class:`Violation` (4400)."""
    try:
        value = decode_json(text, max_depth)
    except KernelIndexError:
        raise _invalid("Invalid message received") from None
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        raise _invalid("Invalid message received")
    if kind in ("connection_init", "ping", "pong"):
        payload = value.get("payload")
        if not isinstance(payload, dict | None):
            raise _invalid(f"{kind} has a payload that is not an object")
        return Said(kind, payload=payload)
    if kind == "subscribe":
        return Said(kind, id=_id(value), parameters=_parameters(value))
    if kind == "complete":
        return Said(kind, id=_id(value))
    if kind in ("connection_ack", "next", "error"):
        raise _invalid(f"Unexpected message of type {kind} received")
    raise _invalid("Invalid message 'type' property")


def _id(value: dict[str, Any]) -> str:
    found = value.get("id")
    if not isinstance(found, str) or not 1 <= len(found) <= MAX_ID:
        raise _invalid(f"'id' is not a string of 1 to {MAX_ID} characters")
    return found


def _parameters(value: dict[str, Any]) -> Parameters:
    payload = value.get("payload")
    if not isinstance(payload, dict):
        raise _invalid("subscribe has a payload that is not an object")
    try:
        return from_members(payload)
    except KernelIndexError as error:
        raise _invalid(error.problems[0].message) from None


def _invalid(reason: str) -> Violation:
    return Violation(4400, reason)
