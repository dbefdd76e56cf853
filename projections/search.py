"""Full-text search: a row for each thing that can be found, and an SQLite FTS5 index over it.

A row says what its thing says itself, in the columns by which it is searched. It is made once per save, of what the
other read models hold at the end of it; only a text that changed is indexed anew.

The order of hits depends on the row and the search alone, never on what else is in the index, so that pages fit
together whatever is written between them.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from domain.identity import digest_prefix, unpinned
from domain.search_text import Search, Term
from projections.model import TEMPORAL, ReadModel, json_list
from projections.paging import Listing
from projections.searchable import COLUMNS, IS_WORD, THINGS, Thing

_TEXT: Final = ", ".join(COLUMNS)
DDL = f"""
CREATE TABLE findable (
  id TEXT NOT NULL, kind TEXT NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL,
  {", ".join(f"{column} TEXT NOT NULL" for column in COLUMNS)}, {TEMPORAL}, PRIMARY KEY (id, from_position)
) STRICT;
CREATE VIRTUAL TABLE findable_text USING fts5 (
  {_TEXT}, content = 'findable', tokenize = "unicode61 remove_diacritics 2 tokenchars '_='"
);
CREATE INDEX search_aliases ON aliases (from_position);
{"".join(f"CREATE INDEX search_{one.table} ON {one.table} (from_position);" for one in THINGS if one.table != "runs")}
"""

FIELD_OF: Final[Mapping[str, str]] = {"names": "name", "axes": "axis"}
"""What searches call a column, where that is not its name."""

_MARK: Final = "\x01"


class Explained(msgspec.Struct, frozen=True):
    """Why a row was found: the fields in which something matched, and the words around it."""

    matched: tuple[str, ...]
    snippet: str


def listing(search: Search) -> Listing:
    """What is found: ids first, then names that begin with the words, names with all words, the rest; by kind, name."""
    pin = unpinned(search.text)
    bare = pin[0] if pin else search.text
    names = {"anywhere": _all_of(search.terms), "id": bare, "prefix": digest_prefix(bare)}
    tiers = ["SELECT rowid AS row, 3 AS tier FROM findable_text WHERE findable_text MATCH :anywhere"]
    if search.words:
        others = [term for term in search.terms if term.field]
        beginning = f"names : ^ {_quoted(' '.join(term.text for term in search.words))} *"
        in_name = f"names : ({_all_of(search.words)})"
        names |= {
            "beginning": " AND ".join([beginning, *map(_expression, others)]),
            "named": " AND ".join([in_name, *map(_expression, others)]),
        }
        tiers += [
            "SELECT rowid, 1 FROM findable_text WHERE findable_text MATCH :beginning",
            "SELECT rowid, 2 FROM findable_text WHERE findable_text MATCH :named",
        ]
    found = " UNION ALL ".join([*(tiers if search.terms else ()), _BY_ID])
    table = f"""(SELECT min(tier) AS tier, place, name, id, from_position, to_position,
        json_object('row', row, 'kind', kind, 'id', id, 'name', name) AS doc
      FROM ({found}) JOIN findable ON findable.rowid = row GROUP BY row)"""  # noqa: S608 text is ours
    return Listing(table, ("tier", "place", "name", "id"), (), names)


_BY_ID: Final = """
  SELECT rowid AS row, 0 AS tier FROM findable WHERE id IN (
    SELECT target FROM aliases WHERE alias = :id AND from_position <= :position)
  UNION ALL SELECT rowid, 0 FROM findable WHERE id >= :prefix AND id < :prefix || 'g'"""


def explain(db: sqlite3.Connection, search: Search, rows: Iterable[int]) -> dict[int, Explained]:
    """Why these rows were found, in one statement. Rows that only their id led to are not among the answers."""
    if not search.terms:
        return {}
    marked = ", ".join(
        f"instr(highlight(findable_text, {number}, char(1), ''), char(1)) > 0" for number in range(len(COLUMNS))
    )
    # The plus keeps SQLite from running the whole search again for each row.
    query = f"""SELECT rowid, snippet(findable_text, -1, '**', '**', '…', 16), {marked} FROM findable_text
      WHERE findable_text MATCH :anywhere AND +rowid IN (SELECT value FROM json_each(:rows))"""  # noqa: S608
    found = db.execute(query, {"anywhere": _all_of(search.terms), "rows": msgspec.json.encode(list(rows)).decode()})
    return {
        row: Explained(
            tuple(FIELD_OF.get(column, column) for column, hit in zip(COLUMNS, hits, strict=True) if hit), snippet
        )
        for row, snippet, *hits in found
    }


def _all_of(terms: Iterable[Term]) -> str:
    return " AND ".join(map(_expression, terms))


def _expression(term: Term) -> str:
    """A term in FTS5's language. Names are indexed without underscores, data types and axes with them."""
    more = "" if term.whole else " *"
    spellings = dict.fromkeys((term.text, term.text.replace("_", " "))) if "=" not in term.text else (term.text,)
    either = " OR ".join(f"{_quoted(text)}{more}" for text in spellings)
    column = {"axis": "axes"}.get(term.field or "", term.field)
    return f"{column} : ({either})" if column else f"({either})"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _conclude(db: sqlite3.Connection, before: int, position: int) -> None:
    """Index what this save changed, then what shows it."""
    save = {"before": before, "position": position}
    since = "from_position > :before AND from_position <= :position"
    named = f"SELECT target FROM aliases WHERE {since} AND {IS_WORD}"  # noqa: S608 text is ours
    changed = {target for (target,) in db.execute(named, save)}
    for thing in THINGS:
        query = f"SELECT {thing.key} FROM {thing.table} WHERE {since}"  # noqa: S608 names are ours
        keys = {key for (key,) in db.execute(query, save)}
        keys.update(_showing(db, thing, changed))
        if keys:
            changed.update(_index(db, thing, keys, position))


def _showing(db: sqlite3.Connection, thing: Thing, changed: set[str]) -> Iterator[str]:
    """The keys of a table's rows whose text is made of something that changed, or that changed their aliases."""
    if not changed:
        return
    yield from (one.removeprefix(thing.prefix) for one in changed if one.startswith(thing.prefix))
    for column, prefix in thing.shows.items():
        parents = [one.removeprefix(prefix) for one in changed if one.startswith(prefix)]
        query = f"""SELECT {thing.key} FROM {thing.table}
          WHERE {column} IN (SELECT value FROM json_each(?)) AND to_position IS NULL"""  # noqa: S608 names are ours
        yield from (key for (key,) in db.execute(query, (json_list(parents),)))


def _index(db: sqlite3.Connection, thing: Thing, keys: set[str], position: int) -> list[str]:
    """Make the rows of these things anew. Answers the ids of those whose text is another one now."""
    (last,) = db.execute("SELECT coalesce(max(rowid), 0) FROM findable").fetchone()
    names: dict[str, Any] = {"keys": json_list(sorted(keys)), "position": position, "last": last}
    db.execute(thing.insertion, names)
    changed = [one for (one,) in db.execute("SELECT id FROM findable WHERE rowid > :last", names)]
    if changed:
        db.execute(_CLOSE, names)
        db.execute(_INDEX, names)
    return changed


_CLOSE: Final = """UPDATE findable SET to_position = :position
  WHERE id IN (SELECT id FROM findable WHERE rowid > :last) AND from_position < :position AND to_position IS NULL"""
_INDEX: Final = f"""INSERT INTO findable_text (rowid, {_TEXT})
  SELECT rowid, {_TEXT} FROM findable WHERE rowid > :last"""  # noqa: S608 text is ours

READ_MODEL = ReadModel("search", 1, DDL, {}, _conclude)
