"""The signer of checkpoints. There is one to a log, and it keeps to its word: whatever it signs extends what it signed.

Its key and its last checkpoint are files beside the log's database, not in it: who restores an old copy of the database
still has the promise that a longer log was given. What is in the database, too, is the checkpoint that it has published
for the log's other hosts: whoever else signs with this key, from another folder, keeps to that.
"""

from base64 import b64encode
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from secrets import token_bytes
from typing import Final

from domain.audit.merkle import HASH_SIZE
from domain.audit.notes import Checkpoint, Note, VerifierKey
from domain.errors import Conflict, ErrorCode, InvalidInput
from service.audit.ed25519 import SignerKey
from service.data_folder import PRIVATE, alone, write_whole
from service.signatures import verify

KEY_FILE: Final = "checkpoint.key"
LAST_FILE: Final = "checkpoint"

RootAt = Callable[[int], bytes]
"""The root over so many first events."""


class Signer:
    """Signs the checkpoints of the log of this origin. Its methods block: call them off the event loop."""

    def __init__(self, folder: Path, origin: str, given: str | None = None) -> None:
        self._folder = folder
        self._origin = origin
        self._given = given
        self._last: Note | None = None

    @cached_property
    def key(self) -> SignerKey:
        """The key that was given, else that of the file, made on first use."""
        if self._given is not None:
            key = SignerKey.parse(self._given)
        else:
            with alone(self._folder):
                key = self._kept_key()
        require_origin(key.verifier, self._origin)
        return key

    @property
    def verifier(self) -> VerifierKey:
        """The public half of the key: what readers must have to believe a checkpoint."""
        return self.key.verifier

    def newest(self, size: int, root_at: RootAt, published: str | None = None) -> Note:
        """The checkpoint of the first ``size`` events, signed now if it must be; a longer one where there is one.

        ``root_at`` answers the root over so many first events, of at most ``size``. Raises :class:`Conflict` with
        ``CHECKPOINT_REFUSED`` where the log doesn't hold what was promised.
        """
        key = self.key
        with alone(self._folder):
            promises = [note for note in (self._kept_note(), self._published_note(published)) if note]
            for one in promises:
                require_promised(Checkpoint.of(one), size, root_at)
            last = max(promises, key=lambda note: Checkpoint.of(note).size, default=None)
            if last is None or Checkpoint.of(last).size < size:
                last = key.sign(Checkpoint(self._origin, size, root_at(size)).text)
                write_whole(self._folder / LAST_FILE, str(last))
            if Checkpoint.of(last).size == size:
                self._last = last
            return last

    def signed_at(self, size: int) -> Note | None:
        """The last checkpoint that this process signed or read, if it is of this size. Takes microseconds."""
        return self._last if self._last and Checkpoint.of(self._last).size == size else None

    def _kept_note(self) -> Note | None:
        path = self._folder / LAST_FILE
        if not path.exists():
            return None
        return signed_note(path.read_text(encoding="utf-8"), self.verifier, str(path))

    def _published_note(self, text: str | None) -> Note | None:
        return None if text is None else signed_note(text, self.verifier, "the log's database")

    def _kept_key(self) -> SignerKey:
        path = self._folder / KEY_FILE
        if not path.exists():
            write_whole(path, f"{SignerKey(self._origin, token_bytes(HASH_SIZE))}\n", PRIVATE)
        return SignerKey.parse(path.read_text(encoding="utf-8"))


def require_origin(key: VerifierKey, origin: str) -> None:
    """Raise :class:`InvalidInput` unless this is a key of the log of that origin."""
    if key.name != origin:
        raise InvalidInput.because(
            f"the signer's key is named {key.name!r}, the log {origin!r}",
            remedy="give the key of this log (KERNELINDEX_CHECKPOINT_KEY or _VERIFIER, or the file checkpoint.key)",
        )


def signed_note(text: str, key: VerifierKey, place: str) -> Note:
    """The checkpoint in a text, found in some place, which this key has signed. Raises :class:`Conflict`."""
    note = Note.parse(text)
    if not note.is_signed(key, verify) or Checkpoint.of(note).origin != key.name:
        raise _refused(
            f"the last checkpoint, in {place}, is not signed by this log's key",
            "give the old key back; or, to begin anew under another, move that file away and tell your witnesses",
        )
    return note


def require_promised(promised: Checkpoint, size: int, root_at: RootAt) -> None:
    """Raise :class:`Conflict` where the first events are not those promised. Of more than ``size`` nothing is known."""
    if promised.size <= size and (root := root_at(promised.size)) != promised.root:
        raise _refused(
            f"the first {promised.size} events are not those that were signed: their root is"
            f" {b64encode(root).decode()}, the checkpoint's {b64encode(promised.root).decode()}",
            "find out who changed the log: `kernelindex audit export` and `audit verify` say more; restore it",
        )


def refused_as_shorter(promised: Checkpoint, size: int) -> Conflict:
    """The error about a log that has lost events which a checkpoint had promised."""
    return _refused(
        f"the log holds {size} events, but a checkpoint over {promised.size} was signed",
        "restore the whole log; events that others saw are missing from this copy",
    )


def _refused(message: str, remedy: str) -> Conflict:
    return Conflict.because(message, code=ErrorCode.CHECKPOINT_REFUSED, remedy=remedy)
