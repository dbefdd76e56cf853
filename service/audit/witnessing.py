"""Being a witness: fetch the newest checkpoint, check that it extends the one kept last, keep it."""

from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx

from domain.audit.findings import Tampered, Tampering
from domain.audit.merkle import verify_consistency
from domain.audit.notes import Checkpoint, Note, VerifierKey
from domain.errors import ErrorCode, InvalidInput, KernelIndexError
from service.app import Index
from service.audit.checkpoints import believed, forked, not_rolled_back, read_checkpoints

TIMEOUT_S: Final = 30
_QUERY: Final = "query($from: Position!, $to: Position!) { consistencyProof(from: $from, to: $to) { hashes } }"

Prove = Callable[[int, int], Awaitable[Sequence[bytes]]]


class Origin:
    """Where checkpoints come from, and the proofs that one extends another."""

    def __init__(self, note: Callable[[], Awaitable[str]], prove: Prove, key: VerifierKey | None = None) -> None:
        self.note = note
        self.prove = prove
        self.key = key

    @classmethod
    def of(cls, index: Index) -> "Origin":
        """An index that is open in this process."""

        async def note() -> str:
            return str(await index.proving.checkpoint())

        return cls(note, index.proving.consistency, index.proving.verifier)

    @classmethod
    @asynccontextmanager
    async def at(cls, server: str) -> AsyncIterator["Origin"]:
        """An index that is served at this address."""
        base = server.rstrip("/")
        async with httpx.AsyncClient(timeout=TIMEOUT_S) as client:

            async def note() -> str:
                return (await _answer(client.get(f"{base}/checkpoint"), base)).text

            async def prove(earlier: int, later: int) -> Sequence[bytes]:
                body = {"query": _QUERY, "variables": {"from": earlier, "to": later}}
                answer = (await _answer(client.post(f"{base}/graphql", json=body), base)).json()
                proof: dict[str, Any] = (answer.get("data") or {}).get("consistencyProof") or {"hashes": []}
                return [b64decode(one) for one in proof["hashes"]]

            yield cls(note, prove)


async def append_checkpoint(origin: Origin, key: VerifierKey | None, file: Path | None) -> str:
    """The newest checkpoint, a signed note; where a file is given, it is kept there once it is believed.

    Raises :class:`Tampered` where it is not signed by the key or doesn't extend the last one that the file holds.
    """
    text = await origin.note()
    verifier = key or origin.key
    if verifier is None:
        raise ValueError("a checkpoint can't be believed without a key")
    try:
        note = Note.parse(text)
    except KernelIndexError as error:
        raise Tampered(Tampering.CHECKPOINT_UNREADABLE, str(error)) from None
    checkpoint = believed(note, verifier)
    if file is None:
        return text
    kept = _kept(file, verifier)
    not_rolled_back(checkpoint, kept)
    if kept and kept[-1].size < checkpoint.size:
        await _extends(origin, kept[-1], checkpoint)
    if not kept or kept[-1].size < checkpoint.size:
        with file.open("a", encoding="utf-8") as out:
            out.write(text if not kept else f"\n{text}")
    return text


def _kept(file: Path, key: VerifierKey) -> list[Checkpoint]:
    return read_checkpoints(file, key) if file.exists() and file.stat().st_size else []


async def _extends(origin: Origin, earlier: Checkpoint, later: Checkpoint) -> None:
    proof = await origin.prove(earlier.size, later.size)
    if earlier.size and not verify_consistency(earlier.size, earlier.root, later.size, later.root, proof):
        raise forked(earlier)


async def _answer(request: Awaitable[httpx.Response], server: str) -> httpx.Response:
    try:
        response = await request
        response.raise_for_status()
    except httpx.HTTPError as error:
        raise InvalidInput.because(
            f"{server} can't be asked: {error}",
            code=ErrorCode.NOT_FOUND,
            remedy="check the address, or try later",
        ) from None
    return response
