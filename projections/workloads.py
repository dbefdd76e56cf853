"""Workloads: one case of an operation, or a closed suite of cases."""

import sqlite3
from typing import Any

from domain.display.facts import workload_facts, workload_label
from domain.events import Event
from domain.manifests import Kind, Manifest
from projections.identities import node, when_described
from projections.model import TEMPORAL, Doc, ReadModel, document_text, lines, put

DDL = f"""
CREATE TABLE workloads (
  digest TEXT NOT NULL, operation TEXT NOT NULL, label TEXT NOT NULL, doc TEXT NOT NULL, {TEMPORAL},
  PRIMARY KEY (digest, from_position)
) STRICT;
CREATE INDEX workloads_operation ON workloads (operation);
"""


def describe(manifest: Manifest) -> Doc:
    """The document of a workload: of a case its axes and tensors, of a suite its cases and their aggregation."""
    spec = manifest.spec
    shared = node(manifest.kind.value, manifest) | {
        "label": workload_label(manifest.digest, spec),
        "facts": lines(workload_facts(spec)),
        "operation": spec["operationSpecDigest"],
        "dtypes": dtypes(spec),
    }
    if manifest.kind is Kind.WORKLOAD_CASE:
        return shared | {"axes": _axes(spec["axes"])}
    cases = [{"externalId": case["externalId"], "axes": _axes(case["axes"])} for case in spec["cases"]]
    return shared | {"cases": cases, "caseCount": len(cases), "aggregation": spec["aggregation"]}


def dtypes(spec: dict[str, Any]) -> list[str]:
    """The element types that a case's tensors have. A suite states none."""
    return sorted({tensor["dtype"] for tensor in spec.get("tensors", {}).values()})


def _axes(axes: dict[str, int]) -> list[Doc]:
    return [{"name": name, "value": str(value)} for name, value in sorted(axes.items())]


@when_described(Kind.WORKLOAD_CASE, Kind.WORKLOAD_SUITE)
def _described(db: sqlite3.Connection, event: Event, manifest: Manifest) -> None:
    doc = describe(manifest)
    row = {
        "digest": manifest.digest,
        "operation": doc["operation"],
        "label": doc["label"],
        "doc": document_text(doc),
    }
    put(db, "workloads", "digest", row, event.position)


READ_MODEL = ReadModel("workloads", 3, DDL, _described)
