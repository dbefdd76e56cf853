"""The catalog export: JSON Lines of ``{"table", "row"}``. Rows refer to each other by id, to rows further up only.

The digests and keys that a row states are computed anew; a row whose own they are not is refused. Measurements and
record events follow from the runs, so they are not imported.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, NamedTuple

import msgspec
from pydantic import TypeAdapter

from domain.bundles import Bundle
from domain.commands import Ingest, RegisterSource
from domain.errors import ErrorCode, InvalidInput, Problem
from domain.facts import ArtifactRecorded
from domain.identity import canonical_json, comparison_key, correctness_key
from domain.json_text import Json, shown
from domain.manifests import Kind, Manifest
from domain.measurements import primary_metric_key
from service.importing import rows
from service.importing.items import ALIASES, ARTIFACTS, DOCUMENTS, RUNS, SOURCES, Derived, Item, Read, Rejected
from service.importing.rows import accepted, manifest_of, require_equal, require_standing
from service.sources.known import homepage_of

DERIVED: Final = {"measurements": "measurements", "record_events": "record events"}
"""Tables whose rows follow from others."""

_CACHED: Final = 256


class _Workload(NamedTuple):
    operation: str
    correctness: str


class Catalog:
    """Reads the rows of one export. Keeps of them only what later rows refer to: ids and digests."""

    def __init__(self) -> None:
        self._named: dict[str, str] = {}
        self._refused: set[str] = set()
        self._workloads: dict[str, _Workload] = {}
        self._conditions: dict[bytes, Manifest] = {}

    def read(self, line: Mapping[str, Json], document: str) -> Read:
        """What a line of the export stands for."""
        table, row = str(line["table"]), line["row"]
        if table in DERIVED:
            return Derived(DERIVED[table])
        if table not in self._TABLES:
            return Rejected(DOCUMENTS, (_unknown_table(line["table"], document),))
        kind, model, read = self._TABLES[table]
        try:
            return read(self, accepted(model, row), document)
        except InvalidInput as error:
            if isinstance(row, dict):
                self._refused.add(str(row.get("id")))
            return Rejected(kind, error.within(document).problems, self._source_of(row) if kind == RUNS else None)

    def _source(self, row: rows.Source, document: str) -> Item:  # noqa: ARG002 nothing in it can be refused here
        slug = self._named[row["id"]] = row["slug"]
        command = RegisterSource(
            slug=slug,
            name=row["name"],
            kind=row["kind"],
            homepage=homepage_of(slug),
            policy=canonical_json(row["policy"]) if row.get("policy") is not None else None,
            aliases=(row["id"],),
        )
        return Item(kind=SOURCES, source=slug, command=command)

    def _project(self, row: rows.Project, document: str) -> Item:
        manifest = manifest_of(row["manifest"], Kind.SOFTWARE_PROJECT)
        return self._named_manifest("projects", row["id"], manifest, document)

    def _operation(self, row: rows.Operation, document: str) -> Item:
        manifest = manifest_of(row["manifest"], Kind.OPERATION_SPEC)
        require_equal({"semanticDigest": (row["semanticDigest"], manifest.digest)})
        return self._named_manifest("operations", row["id"], manifest, document)

    def _operation_alias(self, row: rows.OperationAlias, document: str) -> Item:
        operation = self._named.get(row["operationId"])
        if operation is None:
            raise InvalidInput(self._dangling("operationId", row["operationId"], "operation"))
        bundle = Bundle(aliases=((row["alias"], operation),))
        return Item(kind=ALIASES, command=Ingest(bundle=bundle, document=document))

    def _workload(self, row: rows.Workload, document: str) -> Item:
        manifest = manifest_of(row["manifest"], Kind.WORKLOAD_CASE, Kind.WORKLOAD_SUITE)
        operation = manifest.spec["operationSpecDigest"]
        require_equal(
            {
                "workloadDigest": (row["workloadDigest"], manifest.digest),
                "operationId": (self._named.get(row.get("operationId") or ""), operation),
            }
        )
        self._workloads[manifest.digest] = _Workload(operation, correctness_key(manifest.spec))
        return self._named_manifest("workloads", row["id"], manifest, document)

    def _implementation(self, row: rows.Implementation, document: str) -> Item:
        manifest = manifest_of(row["manifest"], Kind.IMPLEMENTATION_REVISION)
        require_equal(
            {
                "implementationDigest": (row["implementationDigest"], manifest.digest),
                "operationId": (
                    self._named.get(row.get("operationId") or ""),
                    manifest.spec["operation"]["specDigest"],
                ),
            }
        )
        project = row.get("projectId")
        # Without its project, where that one was refused: a later import of both joins them.
        if project and project not in self._named and project not in self._refused:
            raise InvalidInput(self._dangling("projectId", project, "project"))
        return self._named_manifest(
            "implementations", row["id"], manifest, document, project=self._named.get(project or "")
        )

    def _run(self, row: rows.Run, document: str) -> Item:
        parts = row["manifest"]
        run = manifest_of(parts["run"], Kind.BENCHMARK_RUN, within=".run")
        protocol = self._condition(parts["protocol"], Kind.BENCHMARK_PROTOCOL, ".protocol")
        environment = self._condition(parts["environment"], Kind.EXECUTION_ENVIRONMENT, ".environment")
        require_standing(row)
        require_equal(
            {
                "runDigest": (row["runDigest"], run.digest),
                "protocolKey": (row.get("protocolKey"), protocol.digest),
                "environmentKey": (row.get("environmentKey"), environment.digest),
                "implementationId": (
                    self._named.get(row.get("implementationId") or ""),
                    run.spec["implementationDigest"],
                ),
                "workloadId": (self._named.get(row.get("workloadId") or ""), run.spec["workloadDigest"]),
                **self._keys(row, run),
            }
        )
        source = self._source_of(row)
        bundle = Bundle(
            manifests=(protocol, environment),
            run=run,
            aliases=((row["id"], run.digest),),
            source=source,
            published_at=row.get("publishedAt"),
        )
        return Item(kind=RUNS, digest=run.digest, source=source, command=Ingest(bundle=bundle, document=document))

    def _artifact(self, row: rows.Artifact, document: str) -> Item:
        digest = row["contentDigest"]
        artifact = ArtifactRecorded(
            digest=digest,
            kind=row["kind"],
            media_type=row.get("mediaType"),
            size_bytes=row.get("sizeBytes"),
            uri=row.get("uri"),
            licence=row.get("license"),
        )
        bundle = Bundle(aliases=((row["id"], digest),), artifacts=(artifact,))
        return Item(kind=ARTIFACTS, command=Ingest(bundle=bundle, document=document))

    def _named_manifest(
        self, kind: str, id_: str, manifest: Manifest, document: str, project: str | None = None
    ) -> Item:
        self._named[id_] = manifest.digest
        bundle = Bundle(manifests=(manifest,), project=project, aliases=((id_, manifest.digest),))
        return Item(kind=kind, digest=manifest.digest, command=Ingest(bundle=bundle, document=document))

    def _condition(self, tree: Json, kind: Kind, within: str) -> Manifest:
        """A protocol or environment: thousands of rows repeat a few of them."""
        text = msgspec.json.encode(tree)
        if (known := self._conditions.get(text)) is not None:
            return known
        if len(self._conditions) >= _CACHED:
            self._conditions.clear()
        manifest = self._conditions[text] = manifest_of(tree, kind, within=within)
        return manifest

    def _keys(self, row: rows.Run, run: Manifest) -> dict[str, tuple[str | None, str]]:
        """The keys that the row states and those that its manifests give, as far as the workload is known."""
        workload = self._workloads.get(run.spec["workloadDigest"])
        if workload is None:
            return {}
        key = comparison_key(
            operation=workload.operation,
            workload=run.spec["workloadDigest"],
            protocol=run.spec["protocolDigest"],
            environment=run.spec["environmentDigest"],
            correctness=workload.correctness,
            metric=primary_metric_key(run.spec),
        )
        return {
            "correctnessKey": (row.get("correctnessKey"), workload.correctness),
            "comparisonKey": (row.get("comparisonKey"), key),
        }

    def _source_of(self, row: Any) -> str | None:
        id_ = row.get("sourceId") if isinstance(row, dict) else None
        return self._named.get(id_) if isinstance(id_, str) else None

    def _dangling(self, field: str, id_: str, what: str) -> Problem:
        if id_ in self._refused:
            message, remedy = f"its {what} was refused", f"correct the {what} and import both again"
        else:
            message = f"no {what} with the id {shown(id_)} stands further up"
            remedy = f"put the row of the {what} before this one, or correct the id"
        return Problem(code=ErrorCode.INVALID_VALUE, message=message, path=f"row.{field}", remedy=remedy)

    _TABLES: ClassVar[Mapping[str, tuple[str, TypeAdapter[Any], Callable[..., Item]]]] = {
        "sources": (SOURCES, TypeAdapter(rows.Source), _source),
        "projects": ("projects", TypeAdapter(rows.Project), _project),
        "operations": ("operations", TypeAdapter(rows.Operation), _operation),
        "operation_aliases": (ALIASES, TypeAdapter(rows.OperationAlias), _operation_alias),
        "workloads": ("workloads", TypeAdapter(rows.Workload), _workload),
        "implementations": ("implementations", TypeAdapter(rows.Implementation), _implementation),
        "benchmark_runs": (RUNS, TypeAdapter(rows.Run), _run),
        "artifacts": (ARTIFACTS, TypeAdapter(rows.Artifact), _artifact),
    }


def _unknown_table(table: Json, document: str) -> Problem:
    return Problem(
        code=ErrorCode.UNKNOWN_KIND,
        message=f"{shown(table)} is not a table of the catalog",
        path="table",
        document=document,
        remedy="leave the line out, or use a release that knows it",
    )
