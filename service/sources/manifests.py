"""Writing manifests: what sources put their facts into."""

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple
from unicodedata import normalize

from domain.identity import API_VERSION, canonical_json, digest_of, identity_bytes
from domain.json_text import Json, check_tree
from domain.manifests import Kind

_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")
_CONTROL: Final = re.compile(r"[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]")


class Part(NamedTuple):
    """A manifest as a tree, and its digest."""

    tree: dict[str, Any]
    digest: str

    @property
    def spec(self) -> dict[str, Any]:
        """What its digest is of."""
        spec: dict[str, Any] = self.tree["spec"]
        return spec


def title_of(one: Part) -> str:
    """The title of a manifest, else its name."""
    metadata = one.tree["metadata"]
    return str(metadata.get("title", metadata["name"]))


def part(kind: Kind, spec: Mapping[str, Any], *, name: str, title: str = "", **metadata: Json) -> Part:
    """A manifest. Metadata that is empty is left out."""
    editorial = {"name": name, "title": one_line(title, 200), **metadata}
    tree = {
        "apiVersion": API_VERSION,
        "kind": kind.value,
        "metadata": {key: value for key, value in editorial.items() if value},
        "spec": dict(spec),
    }
    return Part(tree, _digest(kind, spec))


def _digest(kind: Kind, spec: Any) -> str:
    try:
        return digest_of(identity_bytes(API_VERSION, kind, canonical_json(spec)))
    except (ValueError, TypeError):
        check_tree(spec)  # names what no document may hold
        raise


def stated(tree: Mapping[str, Any]) -> Part:
    """A manifest that somebody else wrote."""
    kind = Kind(tree["kind"])
    return Part(dict(tree), _digest(kind, tree["spec"]))


def manifests_in(tree: Any) -> Iterator[Part]:
    """The operations and workload suites in a manifest or bundle."""
    if not isinstance(tree, dict):
        return
    for one in [tree, *tree.values()]:
        kind = one.get("kind") if isinstance(one, dict) else None
        if kind in (Kind.OPERATION_SPEC, Kind.WORKLOAD_SUITE) and isinstance(one.get("spec"), dict):
            yield stated(one)


def bundle(run: Part, record: Mapping[str, Json] | None = None, **parts: Part | None) -> dict[str, Json]:
    """A bundle of these parts; what is None is left out."""
    trees: dict[str, Json] = {name: one.tree for name, one in parts.items() if one}
    return {**trees, "run": run.tree, **({"record": dict(record)} if record else {})}


def given(**fields: Json) -> dict[str, Json]:
    """The fields that have a value: what a source does not state is not in a manifest."""
    return {name: value for name, value in fields.items() if value is not None}


def name_of(*words: str) -> str:
    """A name for metadata: lower-case letters, digits and hyphens. Text that has none of them gives its hash."""
    text = "-".join(words)
    name = _NOT_IN_NAMES.sub("-", text.lower()).strip("-")[:200].strip("-")
    return name or sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def one_line(text: str, limit: int) -> str:
    """Editorial text on one line, as metadata may hold it."""
    return prose(" ".join(text.split()), limit)


def prose(text: str, limit: int) -> str:
    """Editorial text as metadata may hold it. It is no part of a record's identity, so it may be mended and cut."""
    return normalize("NFC", _CONTROL.sub("", text).encode(errors="replace").decode())[:limit].strip()


def text_digest(text: str) -> str:
    """The digest of a text as it is in a file."""
    return f"sha256:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
