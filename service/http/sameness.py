"""Which requests ask the same: the same document but for its layout, operation, variables and form of the answer."""

from collections.abc import Hashable, Mapping

import msgspec
from graphql import OperationType
from starlette.datastructures import Headers

from domain.errors import KernelIndexError
from service.http.documents import Documents
from service.http.negotiation import GRAPHQL_JSON, JSON, negotiate
from service.http.parameters import Parameters, expect_json, from_body, from_query_string


def same_as(documents: Documents, method: str, headers: Mapping[bytes, bytes], sent: bytes) -> Hashable | None:
    """What tells a query from all that ask something else; ``sent`` is its body, or its query string where it is a GET.

    None for a request that is refused, and for a document that nobody has asked yet: preparing it is for who answers.
    """
    media_type = negotiate(headers.get(b"accept", b"").decode("latin-1"), (JSON, GRAPHQL_JSON))
    try:
        asked = _parameters(documents, method, headers, sent)
        prepared = documents.known(asked.query)
        operation = prepared.operation(asked.operation_name) if prepared else None
    except KernelIndexError:
        return None
    if not prepared or not operation or operation.operation is not OperationType.QUERY:
        return None
    name = operation.name.value if operation.name else None
    return method, media_type, prepared.laid_out, name, msgspec.json.encode(asked.variables, order="sorted")


def _parameters(documents: Documents, method: str, headers: Mapping[bytes, bytes], sent: bytes) -> Parameters:
    if method == "GET":
        return from_query_string(sent, documents.limits.json_depth)
    expect_json(Headers(raw=list(headers.items())))
    return from_body(sent, documents.limits.json_depth)
