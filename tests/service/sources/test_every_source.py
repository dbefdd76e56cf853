"""What every source must keep. A new one gets these tests by its line in the registry and a folder of fixtures."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import InvalidInput
from domain.identity import API_VERSION, canonical_json, digest_of, identity_bytes
from service.app import Index
from service.importing.jobs import import_into
from service.importing.upstream import Options
from service.sources.base import Record, Refused, Source
from service.sources.known import KNOWN
from service.sources.registry import SOURCES
from tests.service.sources import reading
from tests.service.sources.pinning import digests, files

every_source = pytest.mark.parametrize("source", SOURCES.values(), ids=list(SOURCES))


def expected(source: Source) -> Any:
    return json.loads((reading.SOURCES / "expected" / f"{source.name}.json").read_text())


@every_source
def test_it_says_what_it_reads_and_whose_records_these_are(source: Source) -> None:
    assert source.name in SOURCES
    assert source.slug in KNOWN
    assert source.reads
    assert source.version.isdigit()


@every_source
def test_its_fixtures_give_the_pinned_digests_in_any_order(source: Source) -> None:
    """A record is told by its source, its row and its benchmark; its parts are those that the public catalog has."""
    for paths in (files(source), files(source)[::-1]):
        assert not [one for one in reading.parsed(source, reading.documents(*paths)) if isinstance(one, Refused)]
        assert digests(source, paths) == expected(source)


@every_source
def test_it_states_the_digests_that_intake_computes(source: Source) -> None:
    """A source writes what is normal already: sorted lists, whole nanoseconds."""
    for one in reading.parsed(source, reading.documents(*files(source))):
        for tree in one.bundle.values() if isinstance(one, Record) else ():
            if isinstance(tree, dict) and "kind" in tree:
                own = digest_of(identity_bytes(API_VERSION, str(tree["kind"]), canonical_json(tree["spec"])))
                bundle = reading.accepted(one)  # type: ignore[arg-type]
                assert own in {part.digest for part in (*bundle.manifests, *([bundle.run] if bundle.run else []))}


@every_source
def test_it_is_pure(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither network nor file; equal documents give equal records; the document stays as it was."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a source went out")

    given = reading.documents(*files(source))
    before = deepcopy(given)
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr(Path, "open", refuse)

    assert reading.parsed(source, given) == reading.parsed(source, given)
    assert given == before


@every_source
async def test_its_files_are_told_from_others_and_importing_them_again_changes_nothing(
    index: Index, source: Source
) -> None:
    paths, options = files(source), Options(revision=reading.REVISION)

    first = await import_into(index, paths, options=options)
    records = index.log.latest()
    again = await import_into(index, paths[::-1], options=options)

    assert {file.importer for file in first.files} == {source.name}
    assert first.refused == again.refused == []
    assert sum(count.new for count in first.counts.values()) > 0
    assert all(count.new == 0 for count in again.counts.values())
    appended = [type(one.recorded.fact).__name__ for one in index.log.read(records, 1000)]
    assert appended == ["SourceImported"] * len(paths)
    assert (again.changed, again.gone) == ([], [])


JUNK = st.sampled_from(
    [None, "", "x", " ", "-1", "NaN", "1e400", -1, 0, 2**60, Decimal("NaN"), Decimal("-0.5"), True, [], {}, ["x"], {"x": 1},
     "e\u0301", "\ud800", "\u202e", "2031-01-01T00:00:00", "2026-02-30T00:00:00"]
)  # fmt: skip


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a document."""
    if path:
        yield path
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from places(value, (*path, key))


def broken(tree: Any, path: tuple[Any, ...], junk: Any) -> Any:
    """The document with something else at one place."""
    copy = deepcopy(tree)
    holder = copy
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = junk
    return copy


@every_source
@settings(max_examples=100)
@given(data=st.data())
def test_whatever_stands_in_a_field_is_a_record_or_a_located_refusal(source: Source, data: st.DataObject) -> None:
    """Never a crash: one bad row must not end an import. What is a record is one that intake takes or refuses."""
    given = reading.documents(*files(source))
    which = data.draw(st.integers(0, len(given) - 1))
    path = data.draw(st.sampled_from(sorted(places(given[which]), key=str)))
    given[which] = broken(given[which], path, data.draw(JUNK))

    found: list[Any] = []
    with suppress(InvalidInput):
        found = reading.parsed(source, given)
    for one in found:
        if isinstance(one, Refused):
            assert all(problem.message and problem.remedy for problem in one.problems)
        elif isinstance(one, Record):
            with suppress(InvalidInput):
                reading.accepted(one)
