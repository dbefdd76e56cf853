"""Checking a ``.tlog-proof`` that came with a citation: offline, with nothing but the log's verifier key."""

import re
from hashlib import sha256
from typing import Any

import msgspec

from domain.audit.findings import Tampered, Tampering
from domain.audit.leaves import leaf_of
from domain.audit.notes import VerifierKey
from domain.audit.proofs import TlogProof
from domain.errors import KernelIndexError
from domain.events import read_export_line
from service.audit.checkpoints import believed

_DIGEST = re.compile(rb"sha256:([0-9a-f]{64})\Z")


def check_proof(text: str, key: VerifierKey) -> dict[str, Any]:
    """What the proof proves, as names and values. Raises :class:`Tampered` where it doesn't."""
    try:
        proof = TlogProof.parse(text)
    except KernelIndexError as error:
        raise Tampered(Tampering.CHECKPOINT_UNREADABLE, str(error)) from None
    checkpoint = believed(proof.note, key)
    position, extra = proof.index + 1, proof.extra or b""
    erased = _DIGEST.match(extra)
    digest = bytes.fromhex(erased[1].decode()) if erased else sha256(extra).digest()
    if not proof.shows(leaf_of(digest)):
        raise Tampered(
            Tampering.EVENT_ALTERED,
            f"the event in this file is not event {position} of the log {checkpoint.origin}",
            position,
        )
    proven = {"log": checkpoint.origin, "position": position, "digest": f"sha256:{digest.hex()}"}
    if erased:
        return {**proven, "erased": True, "checkpoint": checkpoint.size}
    try:
        event = read_export_line(extra)
    except msgspec.MsgspecError as error:
        raise Tampered(Tampering.NOT_AN_EVENT, f"what the log holds there is no event: {error}", position) from None
    return {
        **proven,
        "type": type(event.fact).__name__,
        "stream": event.originator_id,
        "recordedAt": event.recorded_at,
        "actor": event.actor,
        "checkpoint": checkpoint.size,
    }
