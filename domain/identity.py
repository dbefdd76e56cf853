"""What makes two records the same: digests and the keys derived from them.

A digest is ``"sha256:"`` and the hex SHA-256 of the RFC 8785 form of ``{apiVersion, kind, spec}``; metadata is
editorial and never part of it.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

import msgspec
import rfc8785

API_VERSION: Final = "kernelindex.dev/v1alpha1"
SHORT_ID_LENGTH: Final = 8
DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}\Z")
DIGEST_PREFIX: Final = re.compile(r"(?:sha256:)?([0-9a-f]{8,64})\Z")
PINNED: Final = re.compile(r"(.+)@(0|[1-9][0-9]{0,15})\Z", re.DOTALL)


_OWN_PREFIX: Final = re.compile(r"(?:source|hardware|manifest|run|artifact|alias|rerun|attestation|issue|runner)/")

_SORTED: Final = msgspec.json.Encoder(order="sorted")

# Where msgspec and RFC 8785 part: floats, integers of 2^53 and more, what is no number (msgspec writes null), and the
# order of keys with characters beyond the first plane. Inside a text these may match too, which costs time only.
_DOUBTFUL: Final = re.compile(rb"[:,\[](?:-?[0-9]+[.eE]|-?[0-9]{16}|null)")
_BEYOND_FIRST_PLANE: Final = re.compile(rb"[\xf0-\xf4]")


def canonical_json(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON value. Raises ``ValueError`` where it has none (NaN, integers of 2^53 and more).

    What both write alike is written by msgspec, twenty times as fast; members in which they may differ, one by one.
    """
    try:
        text = _SORTED.encode(value)
    except (TypeError, ValueError, OverflowError):
        return rfc8785.dumps(value)
    if not isinstance(value, dict | list):
        return rfc8785.dumps(value) if isinstance(value, float | int) else text
    beyond = not text.isascii() and _BEYOND_FIRST_PLANE.search(text)
    if not beyond and not _DOUBTFUL.search(text):
        return text
    if isinstance(value, list):
        return b"[" + b",".join(map(canonical_json, value)) + b"]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be")) if beyond else sorted(value)
    return b"{" + b",".join(_SORTED.encode(key) + b":" + canonical_json(value[key]) for key in keys) + b"}"


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


def id_that_it_reads_like(alias: str) -> str | None:
    """Which of this index's own ids an alias could be taken for, None where it is none of them."""
    if digest_prefix(alias):
        return "a digest"
    if _OWN_PREFIX.match(alias):
        return "an id of another kind of object"
    return "an id that is pinned to a position" if unpinned(alias) else None


def digest_prefix(text: str) -> str | None:
    """``sha256:`` and 8 to 64 hex digits where the text is a digest or a prefix of one, else None."""
    match = DIGEST_PREFIX.match(text)
    return f"sha256:{match[1]}" if match else None


def pinned_id(bare: str, position: int) -> str:
    """The id of something as it stood at a position of the log."""
    return f"{bare}@{position}"


def unpinned(text: str) -> tuple[str, int] | None:
    """The bare id and the position where the text is a pinned id, else None."""
    match = PINNED.match(text)
    return (match[1], int(match[2])) if match else None
