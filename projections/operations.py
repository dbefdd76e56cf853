"""Operations: what is computed, whoever computes it."""

import sqlite3
from collections.abc import Mapping
from typing import Any

import msgspec

from domain.display.names import operation_name
from domain.events import Event
from domain.manifests import Kind, Manifest
from projections.identities import node, when_described
from projections.model import AS_OF, TEMPORAL, Doc, ReadModel, document_text, put
from projections.paging import Listing

DDL = f"""
CREATE TABLE operations (
  digest TEXT NOT NULL, slug TEXT NOT NULL, family TEXT NOT NULL, name TEXT NOT NULL, doc TEXT NOT NULL, {TEMPORAL},
  PRIMARY KEY (digest, from_position)
) STRICT;
CREATE INDEX operations_slug ON operations (slug);
CREATE INDEX operations_name ON operations (name);
CREATE INDEX operations_family ON operations (family, name);
"""


def describe(manifest: Manifest) -> Doc:
    """The document of an operation."""
    spec = manifest.spec
    parameters = [*spec["inputs"], *spec["outputs"]]
    return node("Operation", manifest) | {
        "slug": manifest.name,
        "name": operation_name(manifest.title),
        "family": spec["family"],
        "axes": [_axis(name, axis) for name, axis in sorted(spec["axes"].items())],
        "inputs": [_parameter(parameter) for parameter in spec["inputs"]],
        "outputs": [_parameter(parameter) for parameter in spec["outputs"]],
        "dtypes": sorted({type_["dtype"] for parameter in parameters if (type_ := _type_of(parameter))}),
        "expression": spec["semantics"].get("expression"),
        "mutation": spec["semantics"]["mutation"],
        "determinism": spec["semantics"]["determinism"],
    }


def with_slug(db: sqlite3.Connection, slug: str, position: int) -> Doc | None:
    """The newest operation of that slug."""
    query = f"""SELECT doc FROM operations WHERE slug = :slug AND {AS_OF}
      ORDER BY from_position DESC, digest LIMIT 1"""  # noqa: S608 text is ours
    row = db.execute(query, {"slug": slug, "position": position}).fetchone()
    return msgspec.json.decode(row[0]) if row else None


def listing(criteria: Mapping[str, Any]) -> Listing:
    """Operations that meet all criteria (``family``), by name."""
    return Listing("operations", ("name", "digest"), tuple(f"{name} = :{name}" for name in criteria), criteria)


def _axis(name: str, axis: dict[str, Any]) -> Doc:
    numbers = {field: str(axis[field]) if field in axis else None for field in ("value", "minimum", "maximum")}
    return {"name": name, "role": axis["role"].upper(), "expression": axis.get("expression"), **numbers}


def _type_of(parameter: dict[str, Any]) -> dict[str, Any]:
    type_: dict[str, Any] = parameter.get("tensor") or parameter.get("scalar") or {}
    return type_


def _parameter(parameter: dict[str, Any]) -> Doc:
    type_ = _type_of(parameter)
    return {
        "name": parameter["name"],
        "dtype": type_.get("dtype"),
        "shape": [str(size) for size in type_["shape"]] if "shape" in type_ else None,
        "layout": type_.get("layout"),
    }


def is_operation(db: sqlite3.Connection, digest: str) -> bool:
    """Whether an operation of that digest is registered: an object with another alias is one in fifty times only."""
    return db.execute("SELECT 1 FROM operations WHERE digest = ?", (digest,)).fetchone() is not None


@when_described(Kind.OPERATION_SPEC)
def _described(db: sqlite3.Connection, event: Event, manifest: Manifest) -> None:
    doc = describe(manifest)
    row = {
        "digest": manifest.digest,
        "slug": doc["slug"],
        "family": doc["family"],
        "name": doc["name"],
        "doc": document_text(doc),
    }
    put(db, "operations", "digest", row, event.position)


READ_MODEL = ReadModel("operations", 2, DDL, _described)
