"""A snapshot: everything that one operation reads, as of one position.

Reads are gathered per table and answered by one statement each, however many fields asked, and nothing is read twice.
Every document carries its snapshot under ``"@"``, so that what hangs below it is read as of the same position.
"""

import sqlite3
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Final

from domain.identity import pinned_id
from projections import attestations, erasures, identities, published, runs, tree
from projections.erasures import Erasure
from projections.identities import Match
from projections.model import Doc, Text
from projections.rankings import Standing
from projections.saves import Save
from projections.sources import unregistered
from projections.views import Views, never
from service.api.gathering import Gathered
from service.api.lookups import ON_LOOP, ROW_BYTES, Documents, Query, Ranked, Reading
from service.api.recall import Recall
from service.api.standings import Standings
from service.api.stored import Stored

PREFIXES_ON_LOOP: Final = 8
"""Looking up what begins with some digits takes longer than a point look-up."""

Gathering = Callable[[sqlite3.Connection, list[Any]], Mapping[Any, Any]]

KINDS: Final[Mapping[str, str]] = {
    "BenchmarkRun": "runs",
    "OperationSpec": "operations",
    "ImplementationRevision": "implementations",
    "SoftwareProject": "projects",
    "WorkloadCase": "workloads",
    "WorkloadSuite": "workloads",
    "BenchmarkProtocol": "conditions",
    "ExecutionEnvironment": "conditions",
}
"""The table that shows manifests of a kind."""


class Snapshot:
    """The index as of one position. Made for one operation: what was read once is not read again.

    In a pinned one ids name the position, so that clients which keep things by their ids keep its reading apart from
    others. ``pinned_at`` gives the one of another position; its second argument is the path of what asks, for errors.
    """

    def __init__(
        self,
        views: Views,
        standings: Standings,
        recall: Recall,
        save: Save,
        log_id: str,
        base_url: str,
        *,
        pinned: bool,
        pinned_at: Callable[[int, str], "Snapshot"],
        given_up: Callable[[], bool] = never,
    ) -> None:
        self.position = save.position
        self.known_at = save.known_at
        self.log_id = log_id
        self.base_url = base_url
        self.pinned = pinned
        self.pinned_at = pinned_at
        self._reading = Reading(views, recall, save.position, given_up)
        self._ranked = Ranked(self._reading, standings)
        self._loaders: dict[str, Gathered] = {}
        self._root: bytes | None = None

    async def read(self, query: Callable[[sqlite3.Connection], Any]) -> Any:
        """Run a query of any length in the reader's thread."""
        return await self._reading.views.read(query, self._reading.given_up)

    def root_hash(self) -> bytes:
        """The root of the tree over the log up to this position."""
        if self._root is None:
            reading = self._reading
            place = (reading.generation, self.position, "root")
            self._root = reading.recall.get(place) or reading.views.peek(lambda db: tree.root(db, self.position))
            reading.recall.keep(reading.generation, place, self._root, ROW_BYTES)
        return self._root

    async def gathered(self, name: str, query: Gathering, key: Any) -> Any:
        """What a query of any length answers for a key: asked once for all keys that are wanted under its name."""
        loader = self._loaders.get(name)
        if loader is None:

            async def find(keys: list[Any]) -> Mapping[Any, Any]:
                found: Mapping[Any, Any] = await self.read(lambda db: query(db, keys))
                return found

            loader = self._loaders[name] = Gathered(find)
        return await loader.load(key)

    async def batched(
        self, name: str, load: Callable[[list[Any]], Awaitable[Sequence[Any]]], keys: Sequence[Any]
    ) -> Any:
        """What ``load`` answers for these keys, in order: asked once for all keys that are wanted under its name."""
        loader = self._loaders.get(name)
        if loader is None:

            async def find(wanted: list[Any]) -> Mapping[Any, Any]:
                return dict(zip(wanted, await load(wanted), strict=True))

            loader = self._loaders[name] = Gathered(find)
        return await loader.load_many(keys)

    async def document(self, table: str, key: str) -> Doc | None:
        """The document of that key (``KEYS``, else a digest) in a table of documents, or None where there is none."""
        doc: Doc | None = await self._documents_of(table).load(key)
        return doc

    async def documents(self, table: str, keys: Sequence[str | None]) -> Sequence[Doc | None]:
        """Several documents at once, in order; None where there is no key or no document."""
        return await self._documents_of(table).load_many(keys)

    async def documents_now(self, table: str, keys: Sequence[str | None]) -> Sequence[Doc | None]:
        """The same without waiting for what others ask for: for who asks for all that is wanted at once."""
        return await self._documents_of(table).load_now(keys)

    async def source(self, slug: str) -> Doc:
        """The source of that slug, registered or not."""
        return await self.document("sources", slug) or self.adopt(unregistered(slug))

    async def sources(self, slugs: Sequence[str]) -> Sequence[Doc]:
        """The sources of several slugs at once, in order."""
        found = await self.documents_now("sources", slugs)
        return [doc or self.adopt(unregistered(slug)) for doc, slug in zip(found, slugs, strict=True)]

    async def aliases(self, target: str) -> list[str]:
        """The other names of an object."""
        return list(await self._loader("aliases", self._aliases).load(target) or ())

    async def manifest(self, digest: str) -> str:
        """The canonical text of a registered manifest."""
        return str(await self._loader("manifests", self._manifests).load(digest))

    async def duplicates(self, digest: str) -> list[str]:
        """The runs that are flagged for this one."""
        return list(await self._loader("duplicates", self._duplicates).load(digest) or ())

    async def newest_observation(self, source: str) -> str | None:
        """When the newest run of a source was measured."""

        def query(db: sqlite3.Connection, slugs: list[str]) -> Mapping[str, str]:
            return published.newest_observations(db, slugs, self.position)

        observed_at: str | None = await self._loader("newest observations", query).load(source)
        return observed_at

    async def changed_at(self, digest: str) -> str:
        """When what is known of a run last changed."""

        def query(db: sqlite3.Connection, digests: list[str]) -> Mapping[str, str]:
            return runs.changed_at(db, digests, self.position)

        return str(await self._loader("changes", query).load(digest))

    async def attestation_counts(self, digest: str) -> list[Doc]:
        """How many voices attest to a run, by type."""

        def query(db: sqlite3.Connection, digests: list[str]) -> Mapping[str, list[Doc]]:
            return attestations.counts(db, digests, self.position)

        return list(await self._loader("attestation counts", query).load(digest))

    async def standing(self, comparison_key: str) -> Standing | None:
        """The group of that key, ranked; None where nothing in it is."""
        standing: Standing | None = await self._standing_of().load(comparison_key)
        return standing

    async def standings(self, comparison_keys: Sequence[str | None]) -> Sequence[Standing | None]:
        """Several of them at once, in order."""
        return await self._standing_of().load_now(comparison_keys)

    async def matches(self, text: str, kinds: Collection[str]) -> list[Match]:
        """What an id may mean among objects of these kinds."""

        def query(db: sqlite3.Connection, ids: list[str]) -> Mapping[str, list[Match]]:
            return identities.matches(db, ids, self.position, kinds)

        return list(await self._loader(f"ids of {', '.join(kinds)}", query, PREFIXES_ON_LOOP).load(text))

    async def target(self, alias: str) -> str | None:
        """What an alias names: a digest, or `source/<slug>`."""

        def query(db: sqlite3.Connection, aliases: list[str]) -> Mapping[str, str]:
            return identities.targets_of(db, aliases, self.position)

        target: str | None = await self._loader("targets", query).load(alias)
        return target

    async def erasure(self, digest: str) -> Erasure | None:
        """Why a record is gone, where it was erased."""

        def query(db: sqlite3.Connection, digests: list[str]) -> Mapping[str, Erasure]:
            return erasures.of_records(db, digests)

        erasure: Erasure | None = await self._loader("erasures", query).load(digest)
        return erasure

    def forget(self) -> None:
        """Read anew what is asked for again, whoever may have found it before."""
        self._loaders.clear()
        self._reading.recall = Recall(0)

    def adopt(self, doc: Doc) -> Doc:
        """Mark a document, fresh from the views, as read in this snapshot."""
        doc["@"] = self
        if self.pinned and "id" in doc:
            doc["id"] = pinned_id(doc["id"], self.position)
        return doc

    def stored(self, table: str, key: Any, row: Text) -> Doc:
        """A document of the views, read in this snapshot from the row that is found by ``key``."""
        reading = self._reading
        version = (reading.generation, table, key, row.since)
        return Stored(row.text, self, self.position if self.pinned else None, version, reading.recall)

    def _loader(self, name: str, query: Query, on_loop: int = ON_LOOP) -> Gathered:
        loader = self._loaders.get(name)
        if loader is None:
            loader = self._loaders[name] = Gathered(lambda keys: self._reading.look_up(query, keys, on_loop))
        return loader

    def _standing_of(self) -> Gathered:
        loader = self._loaders.get("standings")
        if loader is None:
            loader = self._loaders["standings"] = Gathered(self._ranked.find, self._ranked.recall)
        return loader

    def _documents_of(self, table: str) -> Gathered:
        loader = self._loaders.get(table)
        if loader is None:
            documents = Documents(self._reading, table, self.stored)
            loader = self._loaders[table] = Gathered(documents.find, documents.recall)
        return loader

    def _aliases(self, db: sqlite3.Connection, targets: list[str]) -> Mapping[str, list[str]]:
        return identities.aliases_of(db, targets, self.position)

    def _manifests(self, db: sqlite3.Connection, digests: list[str]) -> Mapping[str, str]:
        return identities.manifest_texts(db, digests, self.position)

    def _duplicates(self, db: sqlite3.Connection, digests: list[str]) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for duplicate in runs.duplicates(db, digests, self.position):
            found.setdefault(duplicate.of, []).append(duplicate.digest)
        return found
