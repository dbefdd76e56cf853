"""Ed25519 signatures (RFC 8032): keys as raw bytes outside, as PEM in files."""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from domain.errors import InvalidInput

PrivateKey = Ed25519PrivateKey


def generate() -> PrivateKey:
    """A new private key."""
    return Ed25519PrivateKey.generate()


def public_bytes(private: PrivateKey) -> bytes:
    """The 32 bytes of its public key."""
    return private.public_key().public_bytes_raw()


def sign(private: PrivateKey, message: bytes) -> bytes:
    """The 64 bytes of its signature; always the same for the same message."""
    return private.sign(message)


def verify(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature over the message was made with the private key of ``key``, the 32 bytes of a public one."""
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def to_pem(private: PrivateKey) -> bytes:
    """The key as PEM (PKCS #8, not encrypted), which OpenSSL reads too."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 takes long to load, and only runners have files of keys

    return private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def from_pem(text: bytes, document: str = "") -> PrivateKey:
    """The private key in PEM text. Raises :class:`InvalidInput` where it holds something else."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 takes long to load, and only runners have files of keys

    try:
        private = serialization.load_pem_private_key(text, password=None)
    except (ValueError, TypeError):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise InvalidInput.because(
            "holds no Ed25519 private key in PEM",
            document=document,
            remedy="make one with `kernelindex runner key FILE`, and keep it unencrypted",
        )
    return private
