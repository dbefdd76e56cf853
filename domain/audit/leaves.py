"""From an event to its leaf. The leaf holds the digest's text, so an erased event keeps its leaf."""

from domain.audit.merkle import leaf_hash
from domain.events import Event, event_digest
from domain.identity import hex_of


def digest_bytes(event: Event) -> bytes:
    """The SHA-256 of the canonical event, 32 bytes; of an erased one it is what is kept."""
    return bytes.fromhex(hex_of(event_digest(event)))


def leaf_entry(digest: bytes) -> bytes:
    """What the leaf of an event holds: ``sha256:`` and the digest of the event in hex."""
    return b"sha256:" + digest.hex().encode()


def leaf_of(digest: bytes) -> bytes:
    """The hash of the leaf of an event with this digest."""
    return leaf_hash(leaf_entry(digest))
