"""What the rules know of signatures; how they are checked is passed in."""

from collections.abc import Callable

Verify = Callable[[bytes, bytes, bytes], bool]
"""``verify(public_key, message, signature)``: whether the Ed25519 signature holds."""
