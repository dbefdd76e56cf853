"""Manifests: validated and normalised as they come in, read back as they were stored."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from domain.errors import ErrorCode, InvalidInput, Problem
from domain.identity import API_VERSION, canonical_json, digest_of, identity_bytes, manifest_bytes
from domain.json_text import MAX_INTEGER, Json, shown
from domain.manifests.kinds import Kind

# RFC 8785 writes a float such as 1e20 with all its digits; read back as an integer it could not be written again.
_LONG_INTEGER: Final = re.compile(rb"[:,\[-][0-9]{16}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """One accepted manifest. Two are equal where their whole canonical bytes are.

    ``canonical`` is the RFC 8785 form of the whole manifest; ``digest`` is that of ``{apiVersion, kind, spec}``.
    ``metadata`` and ``spec`` are the normalised parts: only given fields, durations in integer nanoseconds.
    """

    kind: Kind
    api_version: str
    digest: str
    canonical: bytes = field(repr=False)
    metadata: dict[str, Any] = field(repr=False, compare=False)
    spec: dict[str, Any] = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name in its metadata: a slug, not unique."""
        return str(self.metadata["name"])

    @property
    def identity(self) -> bytes:
        """RFC 8785 bytes of ``{apiVersion, kind, spec}``: their SHA-256 is the digest."""
        return identity_bytes(self.api_version, self.kind, canonical_json(self.spec))

    @property
    def title(self) -> str:
        """The title, else the name."""
        return str(self.metadata.get("title", self.metadata["name"]))


def read_manifest(tree: Json, *, document: str = "", kinds: Collection[Kind] | None = None) -> Manifest:
    """The manifest in a document tree that :func:`domain.json_text.check_tree` has passed.

    :param document: the name that problems carry.
    :param kinds: the kinds that belong here; all, where it is None.
    :raises InvalidInput: with every problem of the document (at most 20), each with its path and remedy.
    """
    kind = _kind_of(tree, document, kinds)
    # Only now: who reads what is stored needs no models, and loading them takes long.
    from domain.manifests.problems import accepted_by_model  # noqa: PLC0415

    accepted = accepted_by_model(tree, kind, document)
    metadata, spec = canonical_json(accepted["metadata"]), canonical_json(accepted["spec"])
    return Manifest(
        kind=kind,
        api_version=API_VERSION,
        digest=digest_of(identity_bytes(API_VERSION, kind, spec)),
        canonical=manifest_bytes(API_VERSION, kind, metadata, spec),
        # Read from the canonical bytes, so that a manifest is the same today and after a replay (1, never 1.0).
        metadata=_plain(metadata),
        spec=_plain(spec),
    )


def stored_manifest(canonical: bytes, digest: str | None = None) -> Manifest:
    """A manifest that was accepted once, whatever the models of today would say of it.

    :param canonical: its whole RFC 8785 form.
    :param digest: its digest, where it is known; else it is computed from the bytes.
    :raises InvalidInput: where the bytes are no manifest of a known kind (MALFORMED_DOCUMENT).
    """
    try:
        stored = _STORED.decode(canonical)
        metadata, spec = _plain(stored.metadata), _plain(stored.spec)
    except msgspec.MsgspecError as error:
        raise InvalidInput.because(f"is not a stored manifest: {error}", code=ErrorCode.MALFORMED_DOCUMENT) from None
    return Manifest(
        kind=stored.kind,
        api_version=stored.apiVersion,
        digest=digest or digest_of(identity_bytes(stored.apiVersion, stored.kind, bytes(stored.spec))),
        canonical=canonical,
        metadata=metadata,
        spec=spec,
    )


class _Stored(msgspec.Struct):
    apiVersion: str  # noqa: N815 - the name in the document
    kind: Kind
    metadata: msgspec.Raw
    spec: msgspec.Raw


_STORED: Final = msgspec.json.Decoder(_Stored)
_OBJECT: Final = msgspec.json.Decoder(dict[str, Any])


def _plain(canonical: bytes | msgspec.Raw) -> dict[str, Any]:
    value = _OBJECT.decode(canonical)
    if _LONG_INTEGER.search(canonical):
        return {key: _without_long_integers(member) for key, member in value.items()}
    return value


def _without_long_integers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_long_integers(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_without_long_integers(item) for item in value]
    if isinstance(value, int) and not -MAX_INTEGER <= value <= MAX_INTEGER:
        return float(value)
    return value


_BY_NAME: Final = {kind.value: kind for kind in Kind}


def _kind_of(tree: Json, document: str, kinds: Collection[Kind] | None) -> Kind:
    """The kind that the document states, once it and the apiVersion are ones that are known and wanted here."""
    if not isinstance(tree, dict):
        raise InvalidInput.because(
            f"a manifest is an object, not {shown(tree)}",
            document=document,
            remedy="give an object with apiVersion, kind, metadata and spec",
        )
    stated = tree.get("kind")
    kind = _BY_NAME.get(stated) if isinstance(stated, str) else None
    if kind and tree.get("apiVersion") == API_VERSION and (kinds is None or kind in kinds):
        return kind
    problems = []
    wanted = list(Kind) if kinds is None else [kind for kind in Kind if kind in kinds]
    for name, known in (("apiVersion", [API_VERSION]), ("kind", [kind.value for kind in wanted])):
        if tree.get(name) not in known:
            problems.append(_unknown(name, tree, known, document))
    raise InvalidInput(*problems)


def _unknown(name: str, tree: dict[str, Json], known: list[str], document: str) -> Problem:
    code, message = ErrorCode.UNKNOWN_KIND, f"{name} {shown(tree.get(name))} is not known"
    if name not in tree:
        code, message = ErrorCode.MISSING_FIELD, f'"{name}" is missing'
    elif tree[name] in list(Kind):
        code, message = ErrorCode.INVALID_VALUE, f"{tree[name]} does not belong here"
    return Problem(code=code, message=message, path=name, document=document, remedy=f"give {' or '.join(known)}")
