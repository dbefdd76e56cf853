"""What things are found by: for each read model with a document, the words in each column of the search.

Read from the current rows of the other read models, in SQL, for a whole save at once.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

COLUMNS: Final = ("names", "op", "family", "gpu", "arch", "dtype", "language", "source", "evidence", "axes")


class Thing(NamedTuple):
    """Rows of ``table`` as they are searched. An id is the row's ``key`` behind ``prefix``.

    ``says`` gives the SQL of the columns (of the row as ``one``, of what it shows as in ``joins``); others are empty.
    ``shows`` names columns that hold ids, without their prefixes, of what the text is made of too.
    """

    table: str
    name: str
    says: Mapping[str, str]
    key: str = "digest"
    prefix: str = ""
    joins: str = ""
    shows: Mapping[str, str] = {}

    @property
    def place(self) -> int:
        """Where it stands among hits that match as well."""
        return [thing.table for thing in THINGS].index(self.table)

    @property
    def insertion(self) -> str:
        """The statement that inserts the rows with ``:keys`` whose text is another one than that of their last row."""
        texts = ", ".join(f"coalesce({self.says.get(column, 'NULL')}, '') AS {column}" for column in COLUMNS)
        same = " AND ".join(f"held.{column} = made.{column}" for column in ("kind", "name", *COLUMNS))
        return f"""INSERT INTO findable
          SELECT made.*, :position, NULL FROM (
            SELECT '{self.prefix}' || one.{self.key} AS id, json_extract(one.doc, '$."@type"') AS kind,
              {self.place} AS place, coalesce({self.name}, '') AS name, {texts}
            FROM {self.table} AS one {self.joins}
            WHERE one.{self.key} IN (SELECT value FROM json_each(:keys)) AND one.to_position IS NULL
          ) AS made
          WHERE NOT EXISTS (
            SELECT 1 FROM findable AS held WHERE held.id = made.id AND held.to_position IS NULL AND {same})"""  # noqa: S608 text is ours


def _field(path: str) -> str:
    return f"coalesce(json_extract(one.doc, '$.{path}'), '')"


def _items(path: str) -> str:
    return _listed(f"json_extract(one.doc, '$.{path}')")


def _listed(texts: str) -> str:
    """The items of a JSON list of texts, much quicker than ``json_each`` gives them."""
    return f"""trim(replace({texts}, '","', ' '), '[]"')"""


def _words(*parts: str) -> str:
    """Names as words: people search for parts of identifiers."""
    joined = " || ' ' || ".join(f"coalesce({part}, '')" for part in parts)
    return f"replace(replace({joined}, '_', ' '), '=', ' ')"


def _joined(column: str, alias: str, prefix: str = "") -> str:
    """The current searchable row of what a column names."""
    return f"LEFT JOIN findable AS {alias} ON {alias}.id = '{prefix}' || one.{column} AND {alias}.to_position IS NULL"


IS_WORD: Final = "alias NOT GLOB '????????-????-????-????-????????????'"
"""Which aliases are words: the ids that other indexes gave are found as ids."""

_ALIASES: Final = f"(SELECT group_concat(alias, ' ') FROM aliases WHERE target = one.digest AND {IS_WORD})"  # noqa: S608
# The first line of a case's page is ``batch = 1 · heads = 32``.
_AXES_OF_CASE: Final = """CASE json_extract(one.doc, '$.facts[0].key')
  WHEN 'axes' THEN replace(json_extract(one.doc, '$.facts[0].value'), ' = ', '=') END"""
_AXES_OF_SUITE: Final = """(SELECT group_concat(axis, ' ') FROM (
  SELECT DISTINCT json_extract(axis.value, '$.name') || '=' || json_extract(axis.value, '$.value') AS axis
  FROM json_each(one.doc, '$.cases') AS each_case, json_each(each_case.value, '$.axes') AS axis))"""
_AXES_OF_OPERATION: Final = """(SELECT group_concat(json_extract(value, '$.name')
    || coalesce('=' || json_extract(value, '$.value'), ''), ' ') FROM json_each(one.doc, '$.axes'))"""

_OPERATION_NAMES: Final = _words(_field("name"), _field("title"), _field("slug"), _ALIASES)

THINGS: Final = (
    Thing(
        "operations",
        _field("name"),
        {
            "names": _OPERATION_NAMES,
            "op": _OPERATION_NAMES,
            "family": "one.family",
            "dtype": _items("dtypes"),
            "axes": _AXES_OF_OPERATION,
        },
    ),
    Thing(
        "hardware",
        _field("product"),
        {
            "names": _words(_field("product"), "one.slug"),
            "gpu": _words(_field("product"), "one.slug"),
            "arch": _items("architectures"),
        },
        key="slug",
        prefix="hardware/",
    ),
    Thing(
        "sources",
        "one.name",
        {"names": _words("one.name", "one.slug"), "source": _words("one.slug", "one.name")},
        key="slug",
        prefix="source/",
    ),
    Thing(
        "projects",
        "one.name",
        {"names": _words("one.name", _field("title"), _field("repository"), _ALIASES)},
    ),
    Thing(
        "workloads",
        _field("label"),
        {
            "names": _words(_field("title"), _ALIASES),
            "op": "operation.op",
            "family": "operation.family",
            "dtype": _items("dtypes"),
            "axes": f"coalesce({_AXES_OF_CASE}, {_AXES_OF_SUITE})",
        },
        joins=_joined("operation", "operation"),
        shows={"operation": ""},
    ),
    Thing(
        "implementations",
        "one.name",
        {
            "names": _words(
                "one.name", _field("title"), _items("authors"), "project.name", _field("revision"), _ALIASES
            ),
            "op": "operation.op",
            "family": "operation.family",
            "gpu": _words(_items("productsTested")),
            "arch": _items("architectures"),
            "dtype": _items("dtypes"),
            "language": _field("language"),
        },
        joins=f"{_joined('operation', 'operation')} {_joined('project', 'project')}",
        shows={"operation": "", "project": ""},
    ),
    Thing(
        "runs",
        f"coalesce(implementation.name, {_field('title')})",
        {
            "names": _words("implementation.names", _field("title"), _field("externalId"), _ALIASES),
            "op": "operation.op",
            "family": "operation.family",
            "gpu": "hardware.gpu",
            "arch": "one.architecture",
            "dtype": _listed("one.dtypes"),
            "language": "implementation.language",
            "source": "coalesce(source.source, replace(one.source, '_', ' '))",
            "evidence": "lower(json_extract(one.doc, '$.evidence.level'))",
            # A suite is found by the sizes of its cases; a run on it has no sizes of its own.
            "axes": "CASE workload.kind WHEN 'WorkloadCase' THEN workload.axes END",
        },
        joins=" ".join(
            (
                _joined("implementation", "implementation"),
                _joined("operation", "operation"),
                _joined("hardware", "hardware", "hardware/"),
                _joined("workload", "workload"),
                _joined("source", "source", "source/"),
            )
        ),
        shows={"implementation": "", "operation": "", "workload": "", "hardware": "hardware/", "source": "source/"},
    ),
)
