"""What makes two records the same: digests and the keys derived from them (DESIGN section 1).

A digest is ``"sha256:"`` and the hex SHA-256 of the RFC 8785 form of ``{apiVersion, kind, spec}``; metadata is
editorial and never part of it.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

import rfc8785

API_VERSION: Final = "kernelindex.dev/v1alpha1"
SHORT_ID_LENGTH: Final = 8
DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}\Z")
DIGEST_PREFIX: Final = re.compile(r"(?:sha256:)?([0-9a-f]{8,64})\Z")


def canonical_json(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON value."""
    return rfc8785.dumps(value)


def digest_of(canonical: bytes) -> str:
    """``sha256:<64 hex>`` of bytes."""
    return "sha256:" + sha256(canonical).hexdigest()


def identity_bytes(api_version: str, kind: str, canonical_spec: bytes) -> bytes:
    """RFC 8785 bytes of ``{apiVersion, kind, spec}``, given those of the spec."""
    return b'{"apiVersion":"%s","kind":"%s","spec":%s}' % (api_version.encode(), kind.encode(), canonical_spec)


def manifest_bytes(api_version: str, kind: str, canonical_metadata: bytes, canonical_spec: bytes) -> bytes:
    """RFC 8785 bytes of the whole manifest, given those of its metadata and spec."""
    return b'{"apiVersion":"%s","kind":"%s","metadata":%s,"spec":%s}' % (
        api_version.encode(),
        kind.encode(),
        canonical_metadata,
        canonical_spec,
    )


def correctness_key(workload_spec: Mapping[str, Any]) -> str:
    """Digest of the correctness rule of a workload (``{}`` where it states none)."""
    return digest_of(canonical_json({"correctness": workload_spec.get("correctness", {})}))


def comparison_key(
    *, operation: str, workload: str, protocol: str, environment: str, correctness: str, metric: str
) -> str:
    """The key of the group in which a run may be compared. The implementation is not part of it."""
    return digest_of(
        canonical_json(
            {
                "v": 1,
                "operation": operation,
                "workload": workload,
                "protocol": protocol,
                "environment": environment,
                "correctness": correctness,
                "metric": metric,
            }
        )
    )


def is_digest(text: str) -> bool:
    """Whether the text is a whole digest."""
    return DIGEST.match(text) is not None


def short_id(digest: str) -> str:
    """The first eight hex digits, as shown to people."""
    return digest.removeprefix("sha256:")[:SHORT_ID_LENGTH]


def hex_of(digest: str) -> str:
    """The 64 hex digits of a digest."""
    return digest.removeprefix("sha256:")


def digest_prefix(text: str) -> str | None:
    """``sha256:`` and 8 to 64 hex digits where the text is a digest or a prefix of one, else None."""
    match = DIGEST_PREFIX.match(text)
    return f"sha256:{match[1]}" if match else None
