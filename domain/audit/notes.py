"""C2SP signed notes, verifier keys and checkpoints. Signing and checking signatures is left to who has the means.

A note is a text, an empty line, and signature lines. A checkpoint is a note whose text is the log's origin, its size
and its root hash.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterator
from hashlib import sha256
from typing import Final, Self

import msgspec

from domain.audit.merkle import HASH_SIZE
from domain.errors import ErrorCode, InvalidInput
from domain.signing import Verify

ED25519: Final = 1
MAX_NOTE: Final = 1_000_000
_SIGNATURE: Final = "— "
_KEY_HASH_SIZE: Final = 4
_NUMBER: Final = re.compile(r"(?:0|[1-9][0-9]{0,17})\Z")
_KEY_HASH: Final = re.compile(r"[0-9a-f]{8}\Z")


class VerifierKey(msgspec.Struct, frozen=True):
    """A public key and the name that it signs under; the text form is ``name+hash+base64``."""

    name: str
    public: bytes

    @property
    def key_hash(self) -> bytes:
        """The four bytes that signature lines name the key by."""
        typed = bytes([ED25519]) + self.public
        return sha256(self.name.encode() + b"\n" + typed).digest()[:_KEY_HASH_SIZE]

    def __str__(self) -> str:
        return f"{self.name}+{self.key_hash.hex()}+{_encode(bytes([ED25519]) + self.public)}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The key of a text. Raises :class:`InvalidInput`."""
        name, plus, rest = text.strip().partition("+")
        key_hash, _, encoded = rest.partition("+")
        if not plus or not is_key_name(name) or not _KEY_HASH.match(key_hash):
            raise _invalid("is not a verifier key", "it reads name+hash+base64, as `kernelindex audit key` prints it")
        typed = _decode(encoded)
        if len(typed) != 1 + HASH_SIZE or typed[0] != ED25519:
            raise _invalid("is not an Ed25519 verifier key", "its base64 part holds 33 bytes, the first of them 1")
        key = cls(name, typed[1:])
        if key.key_hash.hex() != key_hash:
            raise _invalid("is not a whole verifier key: its hash doesn't fit", "copy it again")
        return key


class Signature(msgspec.Struct, frozen=True):
    """A signature line."""

    name: str
    key_hash: bytes
    signature: bytes

    def __str__(self) -> str:
        return f"{_SIGNATURE}{self.name} {_encode(self.key_hash + self.signature)}"


class Note(msgspec.Struct, frozen=True):
    """A text, which ends in a newline, and its signatures."""

    text: str
    signatures: tuple[Signature, ...]

    def __str__(self) -> str:
        return self.text + "\n" + "".join(f"{one}\n" for one in self.signatures)

    @classmethod
    def parse(cls, note: str) -> Self:
        """The note of a text. Raises :class:`InvalidInput` for what is none."""
        text, blank, lines = note.rpartition("\n\n")
        if not blank or not lines.endswith("\n") or len(note) > MAX_NOTE:
            raise _invalid("is not a signed note", "it is a text, an empty line, and lines that begin with an em dash")
        if any(sign < " " and sign != "\n" for sign in note):
            raise _invalid("holds control characters", "keep its lines as they were served, ended by a line feed each")
        return cls(text + "\n", tuple(map(_signature, lines[:-1].split("\n"))))

    def signed_by(self, key: VerifierKey) -> Signature | None:
        """The signature line of this key, unchecked."""
        for one in self.signatures:
            if one.name == key.name and one.key_hash == key.key_hash:
                return one
        return None

    def is_signed(self, key: VerifierKey, verify: Verify) -> bool:
        """Whether this key has signed the text."""
        one = self.signed_by(key)
        return bool(one and verify(key.public, self.text.encode(), one.signature))


class Checkpoint(msgspec.Struct, frozen=True):
    """What a log promises: that its first ``size`` entries have this root, for ever."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The text of its note."""
        return f"{self.origin}\n{self.size}\n{_encode(self.root)}\n"

    @classmethod
    def of(cls, note: Note) -> Self:
        """The checkpoint that a note states; lines behind the third are extensions. Raises :class:`InvalidInput`."""
        origin, *rest = note.text[:-1].split("\n")
        if len(rest) < 2 or not origin or not _NUMBER.match(rest[0]) or "" in rest:
            raise _invalid("is not a checkpoint", "its lines are the origin, the size and the root hash in base64")
        root = _decode(rest[1])
        if len(root) != HASH_SIZE:
            raise _invalid("is not a checkpoint: its root hash has not 32 bytes", "copy it again")
        return cls(origin, int(rest[0]), root)


def notes_in(text: str) -> Iterator[Note]:
    """The notes of a file to which one after the other was appended, with or without empty lines between them."""
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        signs = line.startswith(_SIGNATURE)
        if not signs and lines and lines[-1].startswith(_SIGNATURE):
            yield Note.parse("".join(lines))
            lines = []
        if lines or line != "\n":
            lines.append(line)
    if lines:
        yield Note.parse("".join(lines))


def is_key_name(name: str) -> bool:
    """Whether a key may have this name: not empty, without spaces and plus signs."""
    return bool(name) and "+" not in name and not any(sign.isspace() or not sign.isprintable() for sign in name)


def _signature(line: str) -> Signature:
    name, _, encoded = line.removeprefix(_SIGNATURE).partition(" ")
    if not line.startswith(_SIGNATURE) or not is_key_name(name):
        raise _invalid("has a line that is no signature", "signature lines read: em dash, name, base64")
    raw = _decode(encoded)
    if len(raw) <= _KEY_HASH_SIZE:
        raise _invalid("has a signature that is too short", "copy it again")
    return Signature(name, raw[:_KEY_HASH_SIZE], raw[_KEY_HASH_SIZE:])


def _encode(data: bytes) -> str:
    return b64encode(data).decode()


def _decode(text: str) -> bytes:
    try:
        data = b64decode(text.encode("ascii"), validate=True)
    except (Base64Error, UnicodeEncodeError):
        raise _invalid("holds what is not base64", "copy it again") from None
    if _encode(data) != text:
        raise _invalid("holds base64 that is not canonical", "copy it again")
    return data


def _invalid(message: str, remedy: str) -> InvalidInput:
    return InvalidInput.because(f"this {message}", code=ErrorCode.MALFORMED_DOCUMENT, remedy=remedy)
