"""Sending bundles to a running index over HTTP, in chunks that it takes; a chunk that is sent twice counts once."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

import httpx
import msgspec

from domain.errors import ErrorCode, InvalidInput, KernelIndexError, Problem
from domain.json_text import read_json
from domain.manifests import Kind
from domain.outcomes import Ingested
from service.documents import read_document
from service.importing.bundles import kind_of
from service.importing.files import Reading, find, holds_lines, holds_rows, ignore
from service.importing.items import DOCUMENTS, KINDS, Rejected, Subject
from service.importing.report import FileReport, Report
from service.remote import PASSING, failure_of, problem_of, wait_s
from service.sources.registry import SOURCES

MAX_BUNDLES: Final = 500
MAX_BYTES: Final = 4 * 1024 * 1024
TRIES: Final = 5
TIMEOUT_S: Final = 60.0


class Line(msgspec.Struct, frozen=True):
    """A bundle as it is sent: ``kind`` says where it is counted, ``document`` what it is called here."""

    kind: str
    document: str
    text: bytes


class Sender:
    """Sends files to the index at ``server``, with a key where it asks for one."""

    def __init__(self, server: str, key: str | None = None, *, advance: Callable[[int], None] = ignore) -> None:
        self.report = Report()
        self._advance = advance
        self._reached = False
        self._nonce = token_hex(8)
        self._chunks = 0
        headers = {"Content-Type": "application/jsonl"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._client = httpx.Client(base_url=server.rstrip("/"), headers=headers, timeout=TIMEOUT_S)

    def send(self, paths: Sequence[Path]) -> Report:
        """Send all files under these paths. Raises a :class:`KernelIndexError` where the server takes none of it."""
        files, problems = find(paths)
        problems += [_no_bundles("is a table", path) for path in files if holds_rows(path)]
        for problem in problems:
            self.report.refuse(Rejected("files", (problem,)))
        with self._client:
            for chunk in _chunks(line for path in files if not holds_rows(path) for line in self._lines(path)):
                self._send(chunk)
        return self.report

    def _lines(self, path: Path) -> Iterator[Line]:
        reading = Reading(path, self._advance)
        read = read_json if holds_lines(path) else read_document
        for document, text in reading.documents():
            try:
                if isinstance(text, InvalidInput):
                    raise text
                tree = read(text, document)
            except InvalidInput as error:
                self.report.refuse(Rejected(DOCUMENTS, error.within(document).problems))
                continue
            if isinstance(tree, dict) and tree.keys() == {"table", "row"}:
                self.report.refuse(Rejected(DOCUMENTS, (_no_bundles("is a catalog export", path),)))
                return
            if any(source.resembles(tree) for source in SOURCES.values()):
                self.report.refuse(Rejected(DOCUMENTS, (_no_bundles("is a file of a source", path),)))
                return
            yield Line(kind_of(tree), document, json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode())

    def _send(self, lines: Sequence[Line]) -> None:
        body = b"\n".join(line.text for line in lines)
        answer = self._post(body)
        if answer.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and len(lines) > 1:
            middle = len(lines) // 2
            self._send(lines[:middle])
            self._send(lines[middle:])
            return
        if answer.status_code != HTTPStatus.OK:
            raise failure_of(answer)
        for line, result in zip(lines, answer.json()["results"], strict=True):
            self._settle(line, result)

    def _post(self, body: bytes) -> httpx.Response:
        # One key for all tries of this chunk: if only the answer was lost, it is answered, not carried out again.
        # Another for the same chunk in another push: what was refused then may be taken now.
        self._chunks += 1
        headers = {"Idempotency-Key": f"push-{self._nonce}-{self._chunks}-{sha256(body).hexdigest()[:32]}"}
        for attempt in range(TRIES):
            wait: float = 2**attempt
            try:
                answer = self._client.post("/ingest", content=body, headers=headers)
            except httpx.TransportError as error:
                if attempt == TRIES - 1 or not self._reached:
                    raise _unreachable(self._client.base_url, error) from None
            else:
                self._reached = True
                if answer.status_code not in PASSING or attempt == TRIES - 1:
                    return answer
                wait = wait_s(answer, wait)
            time.sleep(wait)
        raise AssertionError("the last try answers or raises")

    def _settle(self, line: Line, result: dict[str, Any]) -> None:
        if "errors" in result:
            problems = tuple(problem_of(error, line.document) for error in result["errors"])
            self.report.refuse(Rejected(line.kind, problems))
            return
        new, known = (
            tuple((Kind(one["kind"]), one["digest"]) for one in result[field]) for field in ("registered", "unchanged")
        )
        about = next((digest for kind, digest in (*new, *known) if KINDS[kind] == line.kind), "")
        outcome = Ingested(
            run=result["run"],
            created=result["created"],
            registered=new,
            unchanged=known,
            metadata_differs=result["metadataDiffers"],
        )
        subject = Subject(kind=line.kind, digest=result["run"] or about)
        self.report.settle(subject, outcome, FileReport(line.document))


def _no_bundles(what: str, path: Path) -> Problem:
    return Problem(
        code=ErrorCode.INVALID_VALUE,
        message=f"{what}, which holds no bundles",
        document=str(path),
        remedy="import it with `kernelindex import` on the machine that holds the log",
    )


def _chunks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    chunk: list[Line] = []
    size = 0
    for line in lines:
        if chunk and (len(chunk) == MAX_BUNDLES or size + len(line.text) > MAX_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(line)
        size += len(line.text) + 1
    if chunk:
        yield chunk


def _unreachable(server: httpx.URL, error: httpx.TransportError) -> KernelIndexError:
    return KernelIndexError.because(
        f"{server} can't be reached: {error}",
        code=ErrorCode.NOT_FOUND,
        remedy="check --server; what was sent before is recorded, so that sending all of it again is safe",
    )
