"""What a read model is, and the columns that every temporal table has.

A row is never overwritten: ``from_position`` says since which position it holds, ``to_position`` until which
(exclusive; NULL for the current row). So the same SQL answers for any position.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from domain.events import Event
from domain.facts import Fact
from projections.bounds import bounded

TEMPORAL: Final = "from_position INTEGER NOT NULL, to_position INTEGER"
"""DDL of the two columns."""

AS_OF: Final = "from_position <= :position AND (to_position IS NULL OR to_position > :position)"
"""The condition that picks the rows which hold at ``:position``."""

DOC: Final = "CAST(doc AS BLOB)"
"""The column of documents as it is read: decoding takes UTF-8, and Python's own text is another form of it."""

Doc = dict[str, Any]
"""A JSON document in the API's own names, nesting and spelling of scalars."""

Apply = Callable[[sqlite3.Connection, Event, Any], None]
Conclude = Callable[[sqlite3.Connection, int, int], None]
Absorb = Callable[[sqlite3.Connection, Sequence[tuple[Event, int]]], None]


class ReadModel(msgspec.Struct, frozen=True):
    """A read model: its tables, and what each type of fact does to them. Raising ``version`` rebuilds the views.

    ``conclude`` is for what is derived once per save, at its end: it is given the position of the save before and that
    of this one. ``absorb`` is for what takes every event, of any type: it is given those of a save at its end, each
    with its recorder id.
    """

    name: str
    version: int
    ddl: str
    handlers: Mapping[type[Fact], Apply]
    conclude: Conclude | None = None
    absorb: Absorb | None = None


def close(db: sqlite3.Connection, table: str, key: str, value: str, position: int) -> None:
    """End the current row of ``table`` whose ``key`` is ``value``, if there is one."""
    db.execute(
        f"UPDATE {table} SET to_position = ? WHERE {key} = ? AND to_position IS NULL",  # noqa: S608 names are ours
        (position, value),
    )


def insert(db: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    """Insert a row given as columns and values."""
    db.execute(_insertion(table, tuple(row)), tuple(row.values()))


@lru_cache
def _insertion(table: str, columns: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608


def put(db: sqlite3.Connection, table: str, key: str, row: Mapping[str, Any], position: int) -> None:
    """Let ``row`` hold from this position on, in place of the one with its ``key``; an equal one goes on holding."""
    current = db.execute(
        f"SELECT {', '.join(row)} FROM {table} WHERE {key} = ? AND to_position IS NULL",  # noqa: S608 names are ours
        (row[key],),
    ).fetchone()
    if current == tuple(row.values()):
        return
    if current:
        close(db, table, key, row[key], position)
    insert(db, table, {**row, "from_position": position})


class Text(NamedTuple):
    """The text of a document, and the position since which it holds."""

    text: bytes
    since: int


def document_texts(
    db: sqlite3.Connection, table: str, key: str, values: Sequence[str], position: int
) -> dict[str, Text]:
    """The documents that hold at the position, by key; one statement however many are asked for."""
    one = len(values) == 1
    # SQLite looks one key up three times as fast as a list of one.
    wanted = f"{key} = :keys" if one else f"{key} IN (SELECT value FROM json_each(:keys))"  # noqa: S608 names are ours
    query = f"SELECT {key}, {DOC}, from_position FROM {table} WHERE {wanted} AND {AS_OF}"  # noqa: S608 names are ours
    names = {"keys": values[0] if one else json_list(values), "position": position}
    return {name: Text(text, since) for name, text, since in db.execute(query, names).fetchall()}


def json_list(values: Iterable[str]) -> str:
    """A list as SQLite's ``json_each`` takes it."""
    return msgspec.json.encode(list(values)).decode()


def act(event: Event, reason: str) -> Doc:
    """Who did something, when and why, as documents hold it."""
    return {"reason": reason, "actor": event.actor, "time": event.recorded_at, "position": event.position}


def current_document(db: sqlite3.Connection, table: str, key: str, value: str) -> Doc | None:
    """The document that holds now under a key."""
    query = f"SELECT doc FROM {table} WHERE {key} = ? AND to_position IS NULL"  # noqa: S608 names are ours
    row = db.execute(query, (value,)).fetchone()
    return msgspec.json.decode(row[0]) if row else None


def lines(facts: Iterable[tuple[str, str]]) -> list[Doc]:
    """The lines of a page, as documents hold them."""
    return [{"key": key, "value": value} for key, value in facts]


def document_text(value: Any) -> str:
    """A document as a row keeps it: within its bounds, keys sorted, so that equal documents have equal text."""
    return _ENCODER.encode(bounded(value) if isinstance(value, dict) else value).decode()


_ENCODER: Final = msgspec.json.Encoder(order="sorted")
