"""Checkpoints as an auditor holds them: files with one signed note or several, checked before anything is believed."""

from collections.abc import Sequence
from pathlib import Path

from domain.audit.findings import Tampered, Tampering
from domain.audit.notes import Checkpoint, Note, VerifierKey, notes_in
from domain.errors import KernelIndexError
from service.signatures import verify


def read_checkpoints(path: Path, key: VerifierKey) -> list[Checkpoint]:
    """The checkpoints of a file, in its order, all signed by the key. Raises :class:`Tampered`."""
    try:
        found = list(notes_in(path.read_text(encoding="utf-8")))
    except (KernelIndexError, UnicodeDecodeError) as error:
        raise Tampered(Tampering.CHECKPOINT_UNREADABLE, f"{path}: {error}") from None
    if not found:
        raise Tampered(Tampering.CHECKPOINT_UNREADABLE, f"{path} holds no checkpoint")
    return [believed(note, key) for note in found]


def believed(note: Note, key: VerifierKey) -> Checkpoint:
    """The checkpoint of a note that the key has signed for its own log. Raises :class:`Tampered`."""
    try:
        checkpoint = Checkpoint.of(note)
    except KernelIndexError as error:
        raise Tampered(Tampering.CHECKPOINT_UNREADABLE, str(error)) from None
    if checkpoint.origin != key.name:
        raise Tampered(
            Tampering.OTHER_ORIGIN, f"the checkpoint is of the log {checkpoint.origin!r}, the key of {key.name!r}"
        )
    if not note.signed_by(key):
        raise Tampered(
            Tampering.OTHER_KEY,
            f"the checkpoint over {checkpoint.size} events is not signed by the key {key.name}+{key.key_hash.hex()}",
        )
    if not note.is_signed(key, verify):
        raise Tampered(
            Tampering.BAD_SIGNATURE, f"the signature of the checkpoint over {checkpoint.size} events doesn't hold"
        )
    return checkpoint


def not_rolled_back(checkpoint: Checkpoint, kept: Sequence[Checkpoint]) -> None:
    """Raise :class:`Tampered` where a kept checkpoint covers more, or as much of something else."""
    for known in kept:
        if known.size > checkpoint.size:
            raise Tampered(
                Tampering.ROLLED_BACK,
                f"the checkpoint covers {checkpoint.size} events, one that you kept {known.size}: some were taken back",
            )
        if known.size == checkpoint.size and known.root != checkpoint.root:
            raise forked(known)


def forked(known: Checkpoint) -> Tampered:
    """The finding that a log has another past than was promised."""
    return Tampered(
        Tampering.FORKED,
        f"the log was forked: its first {known.size} events are not those of the checkpoint that you kept of them",
        known.size,
    )
