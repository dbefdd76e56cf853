"""Reading documents by their source, without an index."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from domain.bundles import Bundle, read_bundle
from domain.json_text import check_tree
from service.importing.files import Reading
from service.importing.upstream import exact
from service.sources.base import Parsed, Record, Refused, Source, Told

FIXTURES = Path(__file__).parents[2] / "fixtures"
SOURCES = FIXTURES / "sources"
NOW = "2026-12-01T00:00:00.000Z"
REVISION = "da915083d4c7c5e61aa3005e3d17ae488e0fc71c"


def documents(*paths: Path) -> list[Any]:
    """The documents of files, as a source is given them."""
    found = []
    for path in paths:
        for name, text in Reading(path).documents():
            assert isinstance(text, bytes)
            found.append(exact(path, text, name))
    return found


def told(source: Source, given: Sequence[Any], *, now: str = NOW, revision: str | None = REVISION) -> Told:
    """What a source is told of these documents."""
    known = Told(now=now, revision=revision, facts={})
    for document in given:
        known.facts |= {(source.name, kind, name): value for kind, name, value in source.learn(document, known)}
    return known


def parsed(source: Source, given: Sequence[Any], known: Told | None = None) -> list[Parsed]:
    """All that a source makes of documents."""
    known = known or told(source, given)
    return [one for document in given for one in source.parse(document, known)]


def bundles(source: Source, given: Sequence[Any], known: Told | None = None) -> list[Bundle]:
    """The accepted bundles among that."""
    return [accepted(one) for one in parsed(source, given, known) if isinstance(one, Record)]


def accepted(record: Record) -> Bundle:
    """The bundle, as intake takes it."""
    check_tree(dict(record.bundle))
    return read_bundle(dict(record.bundle))


def refusals(source: Source, given: Sequence[Any], known: Told | None = None) -> dict[str, list[str]]:
    """The paths of what was refused, by row."""
    found = [one for one in parsed(source, given, known) if isinstance(one, Refused)]
    return {one.row: [problem.path for problem in one.problems] for one in found}
