"""``POST /ingest``: bundles as raw text, one or a line each, through the same command as the mutations."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from domain.bundles import read_bundle
from domain.errors import ErrorCode, KernelIndexError
from domain.json_text import read_json
from domain.principals import Principal
from service.documents import read_document
from service.errors_out import refused
from service.http.body import read_body
from service.http.parameters import expect_plain
from service.intake import Item, ingest, require_batch, require_key, require_writer
from service.ledger import Idempotency, Ledger, Refusal, Result

JSON_TYPES = ("application/json",)
YAML_TYPES = ("application/yaml", "application/x-yaml", "text/yaml")
LINES_TYPES = ("application/jsonl", "application/x-ndjson")


async def handle_ingest(
    request: Request, ledger: Ledger, principal: Principal | None, max_body: Callable[[Request], int]
) -> Response:
    """Answer a result for every bundle, in order, each with what became of it or why it was refused."""
    writer = require_writer(principal)
    key = request.headers.get("idempotency-key")
    if key is None:
        raise refused(
            ErrorCode.BAD_REQUEST,
            "the header Idempotency-Key is missing",
            remedy="send one of 1 to 128 characters, new for each new request, the same for a retry",
        )
    require_key(key, "Idempotency-Key")
    kind = expect_plain(
        request.headers,
        (*JSON_TYPES, *YAML_TYPES, *LINES_TYPES),
        "send application/json or application/yaml for one bundle, application/jsonl for one a line, in UTF-8 as it is",
    )
    body = await read_body(request, max_body(request))
    texts = _texts(body, kind)
    require_batch(texts, "body")
    # Megabytes of YAML take seconds, in which the loop has others to serve.
    items = await asyncio.to_thread(lambda: [_bundle(text, number, kind) for number, text in texts.items()])
    dry_run = _dry_run(request.query_params.get("dryRun", "false"))
    idempotency = Idempotency("ingest", key, body)
    results, position = await ingest(ledger, items, writer, idempotency, documents=list(texts), dry_run=dry_run)
    answer = {"position": position, "results": [_shown(result) for result in results]}
    return Response(msgspec.json.encode(answer), media_type="application/json")


def _texts(body: bytes, kind: str) -> dict[str, bytes]:
    """The text of each bundle by the number of its line; one bundle may have as many lines as it likes."""
    if kind not in LINES_TYPES:
        return {"1": body}
    return {str(number): line for number, line in enumerate(body.split(b"\n"), 1) if line.strip()}


def _bundle(text: bytes, document: str, kind: str) -> Item:
    read = read_document if kind in YAML_TYPES else read_json
    try:
        return read_bundle(read(text, document), document)
    except KernelIndexError as error:
        return error


def _dry_run(text: str) -> bool:
    # A log can't take back what was meant as a trial, so what is neither yes nor no is refused.
    if text.lower() not in _ANSWERS:
        raise refused(ErrorCode.BAD_REQUEST, f"dryRun is {text[:50]!r}", remedy="write dryRun=true or dryRun=false")
    return _ANSWERS[text.lower()]


_ANSWERS = {"true": True, "1": True, "false": False, "0": False}


def _shown(result: Result) -> dict[str, Any]:
    if isinstance(result, Refusal):
        return {"errors": [msgspec.to_builtins(problem) for problem in result.problems]}
    shown: dict[str, Any] = msgspec.to_builtins(result)
    references = {
        field: [{"kind": kind, "digest": digest} for kind, digest in shown[field]]
        for field in ("registered", "unchanged")
    }
    return {
        "run": shown["run"],
        "created": shown["created"],
        "metadataDiffers": shown["metadata_differs"],
        **references,
    }
