"""C2SP ``.tlog-proof``: a text that shows, without asking anybody, that an entry is in a log.

It holds the index, the inclusion proof and a checkpoint. Ours carry the canonical event, or the digest of an erased
one, as their ``extra`` data.
"""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import Final, Self

import msgspec

from domain.audit.merkle import HASH_SIZE, verify_inclusion
from domain.audit.notes import Checkpoint, Note
from domain.errors import ErrorCode, InvalidInput

HEADER: Final = "c2sp.org/tlog-proof@v1"
MAX_HASHES: Final = 63


class TlogProof(msgspec.Struct, frozen=True):
    """The parts of the text. ``index`` is the event's position less 1."""

    index: int
    hashes: tuple[bytes, ...]
    note: Note
    extra: bytes | None = None

    def __str__(self) -> str:
        extra = [f"extra {b64encode(self.extra).decode()}"] if self.extra is not None else []
        hashes = [b64encode(one).decode() for one in self.hashes]
        return "\n".join([HEADER, *extra, f"index {self.index}", *hashes, "", str(self.note)])

    @classmethod
    def parse(cls, text: str) -> Self:
        """The proof of a text. Raises :class:`InvalidInput` for what is none."""
        head, blank, note = text.partition("\n\n")
        header, *lines = head.split("\n")
        if header != HEADER or not blank or not lines:
            raise _invalid(f"is not a proof: it doesn't begin with {HEADER}")
        extra = None
        if lines[0].startswith("extra "):
            extra = _decode(lines.pop(0).removeprefix("extra "))
        index = lines.pop(0).removeprefix("index ") if lines and lines[0].startswith("index ") else ""
        if not index.isdecimal() or not index.isascii() or str(int(index)) != index or len(index) > MAX_HASHES:
            raise _invalid("names no index")
        hashes = tuple(map(_decode, lines))
        if len(hashes) > MAX_HASHES or any(len(one) != HASH_SIZE for one in hashes):
            raise _invalid("holds what are no hashes")
        return cls(int(index), hashes, Note.parse(note), extra)

    def shows(self, leaf: bytes) -> bool:
        """Whether the leaf is in the tree of the checkpoint; whose checkpoint it is must be checked beside that."""
        checkpoint = Checkpoint.of(self.note)
        return verify_inclusion(leaf, self.index, checkpoint.size, checkpoint.root, self.hashes)


def _decode(line: str) -> bytes:
    try:
        return b64decode(line.encode("ascii"), validate=True)
    except (Base64Error, UnicodeEncodeError):
        raise _invalid("holds a line that is not base64") from None


def _invalid(message: str) -> InvalidInput:
    remedy = "take a .tlog-proof file as `kernelindex audit prove` writes it"
    return InvalidInput.because(f"this {message}", code=ErrorCode.MALFORMED_DOCUMENT, remedy=remedy)
