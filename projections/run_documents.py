"""A run's document: what its page shows of the manifests, in the API's own shape."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from domain.display.correctness import comparison_text, correctness_text
from domain.display.facts import (
    environment_facts,
    identity_facts,
    protocol_facts,
    workload_facts,
    workload_label,
)
from domain.display.names import external_id_text, revision_text
from domain.display.quantities import format_value, shown_metrics, source_metrics
from domain.instants import with_seconds
from domain.manifests import Kind, Manifest
from domain.measurements import Measurement, decimal_text, measurements
from domain.policies.ranking import profile_of
from projections.identities import Registered, node
from projections.model import Doc, lines
from projections.references import References


class Publication(msgspec.Struct, frozen=True):
    """How a run came in: what its ``RunIngested`` says beside the manifest."""

    digest: str
    position: int
    recorded_at: str
    actor: str
    source: str
    external_id: str | None
    producer: str | None
    published_at: str | None


class Compared(msgspec.Struct, frozen=True):
    """What a run is compared by, and with what: its primary measurement, the parts of its group's key, the key."""

    primary: Measurement | None
    parts: dict[str, str] | None
    key: str | None


class Names(msgspec.Struct, frozen=True):
    """Names that other read models keep."""

    implementation: str | None
    source: str


def names_of(db: sqlite3.Connection, publication: Publication, run: Manifest) -> Names:
    """Look up the names that a run's page shows."""
    implementation = db.execute(
        "SELECT name FROM implementations WHERE digest = ? AND to_position IS NULL", (run.spec["implementationDigest"],)
    ).fetchone()
    source = db.execute(
        "SELECT name FROM sources WHERE slug = ? AND to_position IS NULL", (publication.source,)
    ).fetchone()
    return Names(implementation[0] if implementation else None, source[0] if source else publication.source)


def document(run: Manifest, publication: Publication, references: References, names: Names, compared: Compared) -> Doc:
    spec = run.spec
    measured = [_measurement(measurement) for measurement in measurements(spec)]
    metrics = source_metrics(spec.get("sourceNative", {}).get("metrics", {}))
    profile = profile_of(spec)
    workload = references.workload.manifest.spec if references.workload else None
    return node("Run", run) | {
        "status": spec["status"].upper(),
        "observedAt": with_seconds(spec["observedAt"]),
        "publishedAt": publication.published_at or publication.recorded_at,
        "recordedAt": publication.recorded_at,
        "position": publication.position,
        "submittedBy": publication.actor,
        "primary": measured[0] if compared.primary else None,
        "measurements": measured,
        "sourceMetrics": [{"key": metric.key, "value": metric.value, "text": metric.text} for metric in metrics],
        "sourceMetricsText": shown_metrics(metrics),
        "profile": profile,
        "comparisonText": comparison_text(profile),
        "comparisonKey": compared.key,
        "comparison": compared.parts,
        "implementation": spec["implementationDigest"],
        "project": references.project_digest,
        "revision": revision_text(references.implementation.manifest.spec) if references.implementation else None,
        "operation": references.operation_digest,
        "workload": spec["workloadDigest"],
        "protocol": spec["protocolDigest"],
        "environment": spec["environmentDigest"],
        "workloadLabel": workload_label(spec["workloadDigest"], workload),
        "workloadFacts": _facts(references.workload),
        "protocolFacts": _facts(references.protocol),
        "environmentFacts": _facts(references.environment),
        "identityFacts": _identity_lines(run, publication, references, names, compared.key),
        "correctness": _correctness(spec),
        "correctnessText": correctness_text(spec),
        "source": publication.source,
        "externalId": external_id_text(publication.source, publication.external_id)
        if publication.external_id
        else None,
        "producer": publication.producer,
        "artifacts": _artifacts(spec),
        "unresolved": list(references.unresolved),
    }


_FACTS: Final[Mapping[Kind, Callable[[Mapping[str, Any]], Iterable[tuple[str, str]]]]] = {
    Kind.WORKLOAD_CASE: workload_facts,
    Kind.WORKLOAD_SUITE: workload_facts,
    Kind.BENCHMARK_PROTOCOL: protocol_facts,
    Kind.EXECUTION_ENVIRONMENT: environment_facts,
}


def _facts(referred: Registered | None) -> list[Doc]:
    return _lines_of(referred.manifest) if referred else []


@lru_cache(maxsize=1024)
def _lines_of(manifest: Manifest) -> list[Doc]:
    # Thousands of runs share a protocol and an environment.
    return lines(_FACTS[manifest.kind](manifest.spec))


def _identity_lines(
    run: Manifest, publication: Publication, references: References, names: Names, key: str | None
) -> list[Doc]:
    implementation = references.implementation.manifest if references.implementation else None
    return lines(
        identity_facts(
            digest=run.digest,
            implementation_digest=run.spec["implementationDigest"],
            workload=workload_label(
                run.spec["workloadDigest"], references.workload.manifest.spec if references.workload else None
            ),
            source=publication.source,
            source_name=names.source,
            implementation=names.implementation,
            project=references.project.manifest.spec["name"] if references.project else None,
            project_digest=references.project_digest,
            revision=revision_text(implementation.spec) if implementation else None,
            comparison_key=key,
            external_id=publication.external_id,
        )
    )


def _measurement(measured: Measurement) -> Doc:
    def formatted(value: Any) -> str | None:
        return format_value(value, measured.unit) if value is not None else None

    return {
        "metric": measured.metric,
        "statistic": measured.statistic,
        "unit": measured.unit,
        "value": decimal_text(measured.value),
        "number": float(measured.value),
        "formatted": format_value(measured.value, measured.unit),
        "sampleCount": str(measured.sample_count) if measured.sample_count is not None else None,
        "spread": text_of(measured.spread),
        "spreadStatistic": measured.spread_statistic,
        "spreadFormatted": formatted(measured.spread),
        "interval": {
            "low": decimal_text(measured.low),
            "high": decimal_text(measured.high),
            "formatted": f"{formatted(measured.low)} to {formatted(measured.high)}",
        }
        if measured.low is not None and measured.high is not None
        else None,
    }


def text_of(value: Any) -> str | None:
    return decimal_text(value) if value is not None else None


def _correctness(spec: dict[str, Any]) -> Doc | None:
    stated = spec.get("correctness")
    if stated is None:
        return None
    fields = ("maximumAbsoluteError", "maximumRelativeError", "matchedRatio")
    return {"comparator": stated["comparator"], **{field: stated.get(field) for field in fields}}


def _artifacts(spec: dict[str, Any]) -> list[Doc]:
    evidence = spec.get("evidence", {})
    named = {
        "LOG": evidence.get("logs"),
        "RAW_SAMPLES": evidence.get("rawSamples") or spec.get("timing", {}).get("rawSamples"),
    }
    return [{"role": role, "digest": one["digest"], "uri": one["uri"]} for role, one in named.items() if one]
