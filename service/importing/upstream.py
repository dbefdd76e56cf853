"""Documents in the formats of sources: told apart, read by their source, and turned into what an import records."""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec

from domain.bundles import Bundle, read_bundle
from domain.commands import Ingest
from domain.errors import ErrorCode, InvalidInput
from domain.events import timestamp
from domain.facts import ArtifactRecorded
from domain.json_text import Json, check_tree
from domain.manifests import Kind, Manifest, read_manifest
from service.documents import read_document
from service.importing.exact import read_exactly, read_row
from service.importing.files import Reading, find, holds_lines, holds_rows
from service.importing.items import KINDS, RUNS, SOURCES, Item, Note, Omitted, Read, Rejected
from service.importing.reconciling import Sightings
from service.importing.report import FileReport
from service.sources.base import Fact, Noted, Parsed, Record, Refused, Skipped, Source, Told, Whole, Withdrawn
from service.sources.known import KNOWN
from service.sources.manifests import Part, manifests_in, text_digest
from service.sources.registry import SOURCES as REGISTRY

_CACHED: Final = 1024
_LOOKED_AT: Final = 50
"""So many lines of a file are looked at to find out beforehand which source it is of."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How files of sources are to be read.

    ``source`` names the format; where it is None it is found out. ``revision`` is the commit that the files are of,
    ``kernels`` are files that say what others refer to. ``whole`` says that the files hold all that their source has of
    the operations in them. ``retract`` is the reason for which records that are gone upstream are to be retracted.
    """

    source: str | None = None
    revision: str | None = None
    kernels: tuple[Path, ...] = ()
    whole: bool = False
    retract: str | None = None


class Upstream:
    """The documents of one import that are in a source's own format. ``now`` is asked once, at the first one."""

    def __init__(self, options: Options, now: Callable[[], datetime]) -> None:
        self.sightings = Sightings(everything=options.whole)
        self._now = now
        self._told = Told(now="", revision=options.revision, facts={})
        self._kernels = options.kernels
        self._forced = _named(options.source)
        self._sure: dict[Path, set[str]] = {}
        self._beside: dict[Path, tuple[Part, ...]] = {}
        self._registered: set[str] = set()
        self._manifests: dict[bytes, Manifest] = {}

    def learn(self, files: Sequence[Path]) -> Iterator[Rejected]:
        """Look through the files for what others refer to, so that their order does not matter."""
        named, problems = find(self._kernels)
        yield from (Rejected("files", (problem,)) for problem in problems)
        unsure = []
        for path, tree in chain(_glances(named), _glances(files)):
            sure = [source for source in REGISTRY.values() if source.recognises(tree)]
            self._sure.setdefault(path.parent, set()).update(source.name for source in sure)
            if sure or not any(source.resembles(tree) for source in REGISTRY.values()):
                yield from self._learn(path, tree, sure, described=path in named)
            else:
                unsure.append((path, tree))
        for path, tree in unsure:
            try:
                source = self.source_of(tree, path)
            except InvalidInput:
                continue  # said when the file itself is imported
            yield from self._learn(path, tree, [source] if source else [], described=False)

    def _learn(self, path: Path, tree: Any, sources: Sequence[Source], *, described: bool) -> Iterator[Rejected]:
        try:
            source = self._forced if self._forced and self._forced.resembles(tree) else None
            self._learn_from(path, tree, source or (sources[0] if sources else None), described=described)
        except InvalidInput as error:
            yield Rejected("files", error.within(str(path)).problems)

    def _learn_from(self, path: Path, tree: Any, source: Source | None, *, described: bool) -> None:
        if source:
            for kind, name, value in source.learn(tree, self._told):
                self._tell(source.name, (kind, name, value))
                if kind == "operation":
                    known = self._beside.get(path.parent, ())
                    self._beside[path.parent] = known if value in known else (*known, value)
        elif described:
            for one in manifests_in(tree):
                suite = one.tree["kind"] == Kind.WORKLOAD_SUITE
                name = one.spec["operationSpecDigest"] if suite else one.tree["metadata"]["name"]
                self._tell("", ("suite" if suite else "operation", name, one))

    def _tell(self, source: str, fact: Fact) -> None:
        kind, name, value = fact
        if self._told.facts.setdefault((source, kind, name), value) != value:
            remedy = "import the files of the two apart"
            raise InvalidInput.because(
                f"describes the {kind} {name} in another way than a file before it", remedy=remedy
            )

    def source_of(self, tree: Any, path: Path, hint: str | None = None) -> Source | None:
        """The source that a document of the file at ``path`` is of; ``hint`` is that of the documents before it.

        What the document leaves open, the ones around it may say: those before it, in its folder, in the import.

        Raises :class:`InvalidInput` where it could be of several.
        """
        if self._forced and not self._forced.resembles(tree):
            remedy = f"`kernelindex sources describe {self._forced.name}` says what it reads; leave --source out"
            raise InvalidInput.because(f"is no document that {self._forced.name} reads", remedy=remedy)
        if self._forced:
            return self._forced
        found = [source for source in REGISTRY.values() if source.recognises(tree)]
        if len(found) != 1:
            found = [source for source in REGISTRY.values() if source.resembles(tree)]
        for likely in ({hint}, self._sure.get(path.parent, set()), set().union(*self._sure.values())):
            if len(found) > 1:
                found = [source for source in found if source.name in likely] or found
        if len(found) > 1:
            names = " or ".join(source.name for source in found)
            raise InvalidInput.because(f"may be of {names}", remedy="say which with --source")
        return found[0] if found else None

    def read(self, source: Source, tree: Any, path: Path, document: str, file: FileReport) -> Iterator[Read]:
        """What a document of a source stands for."""
        file.importer, file.version, file.source = source.name, source.version, source.slug
        yield from self._registration(source.slug)
        self._told.now = self._told.now or f"{timestamp(self._now())[:23]}Z"
        told = msgspec.structs.replace(self._told, beside=self._beside.get(path.parent, ()))
        with self.sightings.of(source) as sightings:
            for parsed in source.parse(tree, told):
                sightings.see(parsed)
                yield from self._read(source, parsed, document)

    def _read(self, source: Source, parsed: Parsed, document: str) -> Iterator[Read]:
        match parsed:
            case Record():
                yield self._item(source, parsed, document)
            case Refused():
                problems = tuple(problem.within(document) for problem in parsed.problems)
                yield Rejected(RUNS, problems, source.slug, parsed.row)
            case Skipped():
                yield Omitted(parsed.why)
            case Noted():
                yield Note(parsed.text)
            case Withdrawn() | Whole():
                pass

    def _item(self, source: Source, record: Record, document: str) -> Item | Rejected:
        kind = RUNS if "run" in record.bundle else "workloads" if "workload" in record.bundle else "operations"
        try:
            check_tree(record.bundle.get("record"))
            bundle = read_bundle(dict(record.bundle), document, read=self._manifest)
        except InvalidInput as error:
            return Rejected(kind, error.within(document).problems, source.slug, record.row)
        if record.log:
            bundle = _with_log(bundle, record.log)
        about = bundle.run or bundle.manifests[-1]
        return Item(
            kind=KINDS[about.kind],
            digest=about.digest,
            source=source.slug if bundle.run else None,
            row=record.row,
            command=Ingest(bundle=bundle, document=document),
        )

    def _registration(self, slug: str) -> Iterator[Item]:
        if slug not in self._registered:
            self._registered.add(slug)
            yield Item(kind=SOURCES, command=KNOWN[slug].registration())

    def _manifest(self, tree: Json, *, document: str = "", kinds: Collection[Kind] | None = None) -> Manifest:
        """A part of a bundle: thousands of rows repeat all of them but the run."""
        text = msgspec.json.encode(tree)
        known = self._manifests.get(text)
        if known is None:
            check_tree(tree)
            known = read_manifest(tree, document=document, kinds=kinds)
            if known.kind is not Kind.BENCHMARK_RUN:
                if len(self._manifests) >= _CACHED:
                    self._manifests.clear()
                self._manifests[text] = known
        return known


def _named(name: str | None) -> Source | None:
    if name is None:
        return None
    if name not in REGISTRY:
        raise InvalidInput.because(
            f"there is no source called {name}",
            code=ErrorCode.NOT_FOUND,
            path="source",
            remedy=f"the sources are {', '.join(REGISTRY)}",
        )
    return REGISTRY[name]


def exact(path: Path, text: bytes, document: str) -> Any:
    """A document as its source reads it. Raises :class:`InvalidInput`."""
    return read_row(text, document) if holds_rows(path) else read_exactly(text, document)


def _glances(files: Sequence[Path]) -> Iterator[tuple[Path, Any]]:
    """The documents that can tell something about others: whole files, and the first lines of those of lines."""
    for path in files:
        for place, (document, text) in enumerate(Reading(path).documents()):
            tree = _glance(path, text, document)
            resembled = any(source.resembles(tree) for source in REGISTRY.values())
            if tree is not None and (resembled or not holds_lines(path)):
                yield path, tree
            lines = holds_lines(path) or holds_rows(path)
            if lines and (
                place >= _LOOKED_AT or not resembled or any(one.recognises(tree) for one in REGISTRY.values())
            ):
                break


def _glance(path: Path, text: bytes | InvalidInput, document: str) -> Any:
    if isinstance(text, InvalidInput):
        return None
    try:
        return exact(path, text, document)
    except InvalidInput:
        pass
    try:
        return read_document(text, document)
    except InvalidInput:
        return None  # the import itself says what is wrong with it


def _with_log(bundle: Bundle, log: str) -> Bundle:
    size = len(log.encode("utf-8", "surrogatepass"))
    artifact = ArtifactRecorded(digest=text_digest(log), kind="log", media_type="text/plain", size_bytes=size)
    return msgspec.structs.replace(bundle, artifacts=(artifact,))
