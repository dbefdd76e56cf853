"""Bundles and single manifests, as files hold them: one a file, or one a line."""

from typing import Any

from domain.bundles import PARTS, read_bundle
from domain.commands import Ingest
from domain.errors import InvalidInput
from domain.json_text import Json
from domain.manifests import Kind
from domain.principals import Principal
from service.importing.items import DOCUMENTS, KINDS, RUNS, SOURCES, Item, Read, Rejected
from service.sources.known import KNOWN


class Bundles:
    """Reads bundles. A well-known source is registered before the first run that names it."""

    def __init__(self, principal: Principal) -> None:
        self._principal = principal
        self._registered: set[str] = set()

    def read(self, tree: Json, document: str) -> list[Read]:
        """What a document stands for: its bundle, and its source where that may not be known yet."""
        try:
            bundle = read_bundle(tree, document)
        except InvalidInput as error:
            return [Rejected(kind_of(tree), error.within(document).problems, _source_named_in(tree))]
        command = Ingest(bundle=bundle, document=document)
        if bundle.run is None:
            first = bundle.manifests[-1]
            return [Item(kind=KINDS[first.kind], digest=first.digest, command=command)]
        source = bundle.run.spec.get("sourceNative", {}).get("source", self._principal.id)
        item = Item(kind=RUNS, digest=bundle.run.digest, source=source, command=command)
        return [*self._registration(source), item]

    def _registration(self, source: str) -> list[Read]:
        if source not in KNOWN or source in self._registered:
            return []
        self._registered.add(source)
        return [Item(kind=SOURCES, command=KNOWN[source].registration())]


def kind_of(tree: Json) -> str:
    """Where a refused bundle is counted: with its run, else with its first part."""
    if not isinstance(tree, dict):
        return DOCUMENTS
    kind = tree.get("kind")
    if isinstance(kind, str):
        return KINDS[Kind(kind)] if kind in list(Kind) else DOCUMENTS
    part = next((part for part in reversed(PARTS) if part in tree), None)
    return KINDS[PARTS[part][0]] if part else DOCUMENTS


def _source_named_in(tree: Any) -> str | None:
    """The source of a run that could not be read, if that much of it can be."""
    for step in ("run", "spec", "sourceNative", "source"):
        if not isinstance(tree, dict) or (step == "run" and "kind" in tree):
            continue
        tree = tree.get(step)
    return tree if isinstance(tree, str) else None
