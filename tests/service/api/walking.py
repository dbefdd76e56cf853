"""One walk along a log: views that are built save by save, and everything that can be asked of them wherever they are.

Which fields are asked for is read from the schema, so that a new one joins in by itself.
"""

import dataclasses
import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLNamedType,
    get_named_type,
    graphql,
    is_abstract_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
)

from domain.errors import ErrorCode
from projections.views import Views
from service.api.execute import Api
from service.api.schema import built_schema
from service.app import Index
from service.auth import AT_HOME
from service.errors_out import execution_errors
from service.follower import Follower
from service.replay import Moment

schema = built_schema()

CORE = schema._schema
OF_THE_READING = {"accessedAt", "accessedOn"}
"""Fields that say when something was read: those differ."""
NOTHING = f"sha256:{'0' * 64}"


class Walk:
    """Views of the log of ``index`` that stand where the walk has come to."""

    def __init__(self, index: Index, views: Views) -> None:
        self._index = index
        self.views = views

    async def on_to(self, position: int) -> Index:
        """The index as it was when its views had come to this position, the end of a save."""
        follower = Follower(self._index.log, self.views, beyond=Moment(position=position).precedes)
        head = await follower.catch_up()
        assert head.position == position
        return dataclasses.replace(self._index, views=self.views, follower=follower)


@asynccontextmanager
async def walk(index: Index, folder: Path) -> AsyncIterator[Walk]:
    """A walk along the log of this index, its views in this folder."""
    views = await Views.open(folder, index.log.erasures())
    try:
        yield Walk(index, views)
    finally:
        await views.close()


class Asking:
    """Asks one index, and goes on using what it kept from question to question."""

    def __init__(self, index: Index) -> None:
        self._api = Api(index)

    async def now(self, fields: str) -> dict[str, Any]:
        """What root fields answer: their data and the codes of their errors."""
        return await self._asked(f"{{ {fields} }}")

    async def at(self, position: int, fields: str) -> dict[str, Any]:
        """What they answer as of a position."""
        query = f"query($position: Position!) {{ at(asOf: {{position: $position}}) {{ {fields} }} }}"
        answer = await self._asked(query, position=position)
        return answer | {"data": answer["data"]["at"]}

    async def _asked(self, query: str, **variables: Any) -> dict[str, Any]:
        # Below what the API lets a query cost: everything is asked for.
        context = self._api.context(AT_HOME)
        result = await graphql(CORE, query, context_value=context, variable_values=variables)
        codes = [error["extensions"]["code"] for error in execution_errors(result.errors or [])]
        # What the law has erased is gone at every position, and only whoever has read of that can say so.
        codes = [code for code in codes if code != ErrorCode.GONE]
        assert result.data is not None, (query, result.errors)
        assert not {"INTERNAL", "GRAPHQL_VALIDATION_FAILED", "QUERY_TOO_COMPLEX"} & set(codes), (query, result.errors)
        return {"data": result.data, "codes": codes}


def unpinned(answer: dict[str, Any], position: int) -> dict[str, Any]:
    """The answer with bare ids in the place of those that are pinned to this position."""
    bare: dict[str, Any] = json.loads(re.sub(rf'("id": ?"[^"]+)@{position}"', r'\1"', json.dumps(answer)))
    return bare


def known_ids(index: Index) -> dict[str, list[str]]:
    """Every id that the index has, by the type of its node, and every alias."""

    def query(db: sqlite3.Connection) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {
            "alias": [alias for (alias,) in db.execute("SELECT alias FROM aliases ORDER BY 1")]
        }
        with_documents = """SELECT held.name FROM sqlite_schema AS held, pragma_table_info(held.name) AS columns
          WHERE held.type = 'table' AND columns.name = 'doc' ORDER BY 1"""
        for (table,) in db.execute(with_documents).fetchall():
            listed = f"SELECT DISTINCT doc ->> '$.\"@type\"', doc ->> '$.id' FROM {table} ORDER BY 2"
            for kind, id_ in db.execute(listed):
                if id_ is not None:
                    found.setdefault(kind, []).append(id_)
        return found

    return index.views.peek(query)


def root_fields(ids: dict[str, list[str]], depth: int = 3) -> Iterator[str]:
    """Every field of ``Reads``, asked for in each way that matters, with everything below it down to a depth."""
    reads = CORE.type_map["Reads"]
    assert isinstance(reads, GraphQLInterfaceType)
    for name, field in reads.fields.items():
        named = get_named_type(field.type)
        for arguments in _ways(name, field, ids):
            given = ", ".join(f"{argument}: {value}" for argument, value in arguments.items())
            for below in _below(named, depth - 1 if "ids" in field.args else depth):
                yield f"{name}{f'({given})' if given else ''} {below}"


def _ways(name: str, field: GraphQLField, ids: dict[str, list[str]]) -> Iterator[dict[str, str]]:
    if name == "operation":
        yield {"id": _literal(name, "id", ids)}
        yield {"slug": _literal(name, "slug", ids)}
        return
    base = {
        argument: _value(name, argument, of, ids)
        for argument, of in field.args.items()
        if is_non_null_type(of.type) and not isinstance(get_named_type(of.type), GraphQLEnumType)
    }
    if "first" in field.args:
        base["first"] = "6"
    enums = {
        argument: list(enum.values)
        for argument, of in field.args.items()
        if isinstance(enum := get_named_type(of.type), GraphQLEnumType)
    }
    for values in product(*enums.values()):
        yield base | dict(zip(enums, values, strict=True))


def _value(field: str, argument: str, of: GraphQLArgument, ids: dict[str, list[str]]) -> str:
    literal = _literal(field, argument, ids)
    of_list = is_list_type(of.type.of_type if is_non_null_type(of.type) else of.type)
    return literal if of_list is literal.startswith("[") else f"[{literal}]"


MAX_IDS = 20
"""More nodes with all that is below them cost more than a query may."""


def _literal(field: str, argument: str, ids: dict[str, list[str]]) -> str:
    """A value for an argument of a root field; a new argument that has none here fails its test."""
    firsts, seconds = ([kind[place] for kind in ids.values() if len(kind) > place] for place in (0, 1))
    everything = [*firsts, *seconds][:MAX_IDS]
    kind = {"node": "Run", "workload": "WorkloadCase"}.get(field, field.capitalize())
    first = defaultdict(lambda: NOTHING, {kind: known[0] for kind, known in ids.items() if known})
    values: dict[str, Any] = {
        "id": first[kind],
        "ids": everything if field == "nodes" else ids.get("Run", [NOTHING])[:2],
        "comparisonKey": first["Ranking"],
        "workload": first["WorkloadCase"],
        "slug": first["Hardware"].partition("/")[2] if field == "hardware" else "rmsnorm-h4096",
        "text": "rmsnorm",
        "position": 3,
    }
    if argument not in values:
        pytest.fail(f"walking.py has no value for {field}({argument}: …)")
    return json.dumps(values[argument])


def _below(of: GraphQLNamedType, depth: int) -> Iterator[str]:
    """The selections that together show all of a type: of an interface or union one for each of its types."""
    if is_abstract_type(of):
        for possible in CORE.get_possible_types(of):
            yield f"{{ __typename ... on {possible.name} {{ {selection(possible, depth)} }} }}"
    else:
        yield f"{{ {selection(of, depth)} }}"


def selection(of: Any, depth: int) -> str:
    """All fields that need no argument, down to a depth, but for those that say when it was read."""
    chosen = ["__typename"]
    for name, field in of.fields.items():
        named = get_named_type(field.type)
        if name in OF_THE_READING or any(is_non_null_type(argument.type) for argument in field.args.values()):
            continue
        if is_leaf_type(named):
            chosen.append(name)
        elif depth > 1 and hasattr(named, "fields"):
            size = "(first: 3)" if "first" in field.args else ""
            chosen.append(f"{name}{size} {{ {selection(named, depth - 1)} }}")
    return " ".join(chosen)
