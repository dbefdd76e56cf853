"""What a GraphQL request says: the query, which operation of it, and its variables, from a body or from a URL."""

from collections.abc import Collection, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from starlette.datastructures import Headers

from domain.errors import ErrorCode
from service.errors_out import refused
from service.http.body import decode_json
from service.http.negotiation import JSON, media_type

NAMES: Final = ("query", "operationName", "variables", "extensions")
MAX_FIELDS: Final = 100


class Parameters(msgspec.Struct, frozen=True):
    """A well-formed GraphQL request. ``variables`` are JSON values, not yet checked against the document."""

    query: str
    operation_name: str | None
    variables: dict[str, Any]


def expect_json(headers: Headers) -> None:
    """Raise :class:`Refused` (415) unless the body is plain JSON in UTF-8."""
    expect_plain(headers, (JSON,), f"send it as Content-Type: {JSON}, uncompressed")


def expect_plain(headers: Headers, accepted: Collection[str], remedy: str) -> str:
    """The media type of the body. Raises :class:`Refused` (415) unless it is one of these, in UTF-8, as it is."""
    sent, parameters = media_type(headers.get("content-type", ""))
    message = ""
    if sent not in accepted:
        message = f"The body is {sent[:100] or 'of no declared media type'}"
    elif parameters.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
        message = "The body is not declared to be UTF-8"
    elif headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
        message = "The body is compressed"
    if message:
        raise refused(ErrorCode.UNSUPPORTED_MEDIA_TYPE, message, remedy=remedy, headers={"Accept": ", ".join(accepted)})
    return sent


def from_body(body: bytes, max_depth: int) -> Parameters:
    """The parameters in the JSON body of a POST. Raises :class:`Refused`; members of other names are ignored."""
    value = decode_json(body, max_depth)
    if isinstance(value, list):
        raise refused(ErrorCode.BAD_REQUEST, "Batches are not served", remedy="send one operation a request")
    if not isinstance(value, dict):
        raise refused(ErrorCode.BAD_REQUEST, "The body is not a JSON object")
    return _parameters(value)


def from_query_string(query_string: bytes, max_depth: int) -> Parameters:
    """The parameters in the URL of a GET, where an empty one counts as absent. Raises :class:`Refused`."""
    try:
        pairs = parse_qsl(query_string.decode("ascii"), errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise refused(ErrorCode.BAD_REQUEST, "The query string is not form-encoded UTF-8") from None
    value: dict[str, Any] = {}
    for name, text in pairs:
        if name in value and name in NAMES:
            raise refused(ErrorCode.BAD_REQUEST, f"The query string has {name} twice")
        value[name] = decode_json(text, max_depth) if name in ("variables", "extensions") else text
    return _parameters(value)


def _parameters(value: Mapping[str, Any]) -> Parameters:
    query = value.get("query")
    if query is None:
        raise refused(ErrorCode.BAD_REQUEST, "The request has no query")
    _expect(query, str, "query", "a string")
    for name in ("variables", "extensions"):
        _expect(value.get(name), dict | None, name, "an object or null")
    operation_name = value.get("operationName")
    _expect(operation_name, str | None, "operationName", "a string or null")
    return Parameters(query, operation_name or None, value.get("variables") or {})


def _expect(value: Any, kind: Any, name: str, what: str) -> None:
    if not isinstance(value, kind):
        raise refused(ErrorCode.BAD_REQUEST, f"{name} is not {what}")
