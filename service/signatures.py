"""Ed25519 signatures: what binds a measurement to the machine that made it."""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def verify(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature of 64 bytes fits the message and the public key of 32 bytes."""
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
