"""The private keys that sign notes, with Ed25519."""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import Final, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from domain.audit.merkle import HASH_SIZE
from domain.audit.notes import ED25519, Note, Signature, VerifierKey, is_key_name
from domain.errors import InvalidInput

_PREFIX: Final = "PRIVATE+KEY+"


class SignerKey:
    """A private key and the name that it signs under; the text form is that of Go's ``note`` package."""

    def __init__(self, name: str, seed: bytes) -> None:
        if not is_key_name(name):
            raise InvalidInput.because(
                f"{name[:100]!r} can't be the name of a signer: it is empty, or holds a space or a plus sign",
                remedy="open a log under another origin (KERNELINDEX_LOG_ORIGIN)",
            )
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self._seed = seed
        self.verifier = VerifierKey(name, self._private.public_key().public_bytes_raw())

    @classmethod
    def parse(cls, text: str) -> Self:
        """The key of a text. Raises :class:`InvalidInput`, which never repeats the text."""
        name, _, rest = text.strip().removeprefix(_PREFIX).partition("+")
        key_hash, _, encoded = rest.partition("+")
        try:
            typed = b64decode(encoded.encode("ascii"), validate=True)
        except (Base64Error, UnicodeEncodeError):
            typed = b""
        if text.strip().startswith(_PREFIX) and len(typed) == 1 + HASH_SIZE and typed[0] == ED25519:
            key = cls(name, typed[1:])
            if key.verifier.key_hash.hex() == key_hash:
                return key
        raise InvalidInput.because(
            "this is not a signer's key",
            remedy=f"it is one line, {_PREFIX}name+hash+base64",
        )

    def __str__(self) -> str:
        encoded = b64encode(bytes([ED25519]) + self._seed).decode()
        return f"{_PREFIX}{self.verifier.name}+{self.verifier.key_hash.hex()}+{encoded}"

    def __repr__(self) -> str:
        return f"SignerKey({self.verifier})"

    def sign(self, text: str) -> Note:
        """The text, which ends in a newline, with this key's signature."""
        signature = Signature(self.verifier.name, self.verifier.key_hash, self._private.sign(text.encode()))
        return Note(text, (signature,))
