"""What a subscription field tells: how it is read from the views, and from where on."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

import msgspec

from projections import events, happenings, reruns, runs
from projections.events import Criteria
from projections.happenings import Happening, Place, Stretch
from projections.paging import Listing


class Found(NamedTuple):
    """What was found in a stretch, in order; ``until`` is how far it was looked through, None for all of it."""

    happenings: list[Happening]
    until: Place | None = None


Read = Callable[[sqlite3.Connection, Stretch], Found]


class Feed(msgspec.Struct, frozen=True):
    """What one subscriber asked for, and the place where it goes on."""

    read: Read
    start: Place

    def __aiter__(self) -> AsyncIterator[Any]:
        """What graphql-core asks of whatever a subscription field answers; the hub reads feeds in another way."""
        raise NotImplementedError


def new_runs(criteria: dict[str, Any]) -> Read:
    """Runs that meet the criteria once they are recorded."""
    return _rows(runs.listing(criteria, "RECORDED_AT"), "digest", "recorded_position", "NewRun", "run")


def rerun_changes(criteria: dict[str, Any]) -> Read:
    """Reruns that meet the criteria once something has become of them: requested, started, given back, recorded."""
    return _rows(reruns.listing(criteria), "rerun", "from_position", "RerunChange", "rerun")


def events_recorded(criteria: Criteria) -> Read:
    """Events that meet the criteria."""

    def read(db: sqlite3.Connection, stretch: Stretch) -> Found:
        rows = events.page(db, criteria, stretch.after.position, stretch.until, stretch.limit).rows
        found = [Happening(Place(at), {"@type": "EventRecorded", "event": at}) for at, _ in rows]
        return _found(found, stretch)

    return read


def evidence_changes(run: str | None) -> Read:
    """Runs, one or all, whose level became another, or that became contested, or are not any more."""

    def read(db: sqlite3.Connection, stretch: Stretch) -> Found:
        return _found([_typed(one, "EvidenceChange") for one in happenings.of_evidence(db, run, stretch)], stretch)

    return read


def ranking_changes(comparison_key: str | None) -> Read:
    """Groups, one or all, in which the ranks or the ranked values became others."""

    def read(db: sqlite3.Connection, stretch: Stretch) -> Found:
        found, until = happenings.of_rankings(db, comparison_key, stretch)
        return Found([_typed(one, "RankingChange") for one in found], until)

    return read


def _rows(listing: Listing, key: str, since: str, type_name: str, field: str) -> Read:
    def read(db: sqlite3.Connection, stretch: Stretch) -> Found:
        rows = happenings.of_rows(db, listing, key, since, stretch)
        return _found([Happening(Place(at), {"@type": type_name, field: value}) for at, value in rows], stretch)

    return read


def _typed(happening: Happening, type_name: str) -> Happening:
    return happening._replace(doc={"@type": type_name, **happening.doc})


def _found(found: list[Happening], stretch: Stretch) -> Found:
    return Found(found, found[-1].place if len(found) == stretch.limit else None)
