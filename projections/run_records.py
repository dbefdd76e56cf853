"""The row of a run: the columns that it is found and ranked by, its level, and its document."""

from typing import Any

import msgspec

from domain.display.names import slugify
from domain.instants import instant_key
from domain.manifests import Manifest
from domain.measurements import Measurement, decimal_text, lower_is_better, metric_key, primary_measurement
from domain.policies import EVIDENCE_POLICIES, RANKING_POLICIES
from domain.policies.evidence import Evidence, RerunFacts, record_facts
from projections.lifecycles import Lifecycle
from projections.model import Doc, document_text
from projections.references import References, comparison_parts, key_of
from projections.run_documents import Compared, Names, Publication, document, text_of


class Standing(msgspec.Struct, frozen=True):
    """What decides about a run beside its manifests: the policies that hold, what was decided of it, its reruns."""

    ranking: str
    evidence: str
    lifecycle: Lifecycle
    reruns: tuple[RerunFacts, ...]


def row_of(
    run: Manifest, publication: Publication, references: References, names: Names, standing: Standing
) -> dict[str, Any]:
    """The row of a run: wide columns for lists and rankings, and its document."""
    primary = primary_measurement(run.spec)
    parts = comparison_parts(run, references, metric_key(primary))
    compared = Compared(primary, parts, key_of(parts))
    evidence = _evidence(run, publication, references, standing)
    reasons = _reasons(run, references, standing, primary)
    doc = document(run, publication, references, names, compared)
    doc["evidence"] = _evidence_doc(evidence, standing.evidence)
    doc["ineligibleReasons"] = list(reasons)
    doc["lifecycle"] = standing.lifecycle.doc
    hardware = references.environment.manifest.spec["hardware"] if references.environment else None
    return {
        "digest": run.digest,
        "recorded_position": publication.position,
        "observed_key": instant_key(run.spec["observedAt"]),
        "published_key": instant_key(doc["publishedAt"]),
        "status": run.spec["status"],
        "source": publication.source,
        "external_id": publication.external_id,
        "implementation": run.spec["implementationDigest"],
        "workload": run.spec["workloadDigest"],
        "protocol": run.spec["protocolDigest"],
        "environment": run.spec["environmentDigest"],
        "operation": references.operation_digest,
        "project": references.project_digest,
        "hardware": slugify(hardware["product"]) if hardware else None,
        "architecture": hardware["architecture"] if hardware else None,
        "dtypes": document_text(_dtypes(references)),
        "comparison_key": compared.key,
        "eligible": not reasons,
        "value": decimal_text(primary.value) if primary else None,
        "low": text_of(primary.low) if primary else None,
        "high": text_of(primary.high) if primary else None,
        "lower_is_better": lower_is_better(primary.metric, primary.unit) if primary else None,
        "profile": doc["profile"],
        "level": evidence.level.ordinal,
        "doc": document_text(doc),
    }


def _reasons(run: Manifest, references: References, standing: Standing, primary: Measurement | None) -> tuple[str, ...]:
    return RANKING_POLICIES[standing.ranking].eligibility(
        run.spec["status"],
        retracted=standing.lifecycle.retracted,
        superseded=standing.lifecycle.superseded,
        disputed=standing.lifecycle.blocked,
        primary=primary,
        unresolved=bool(references.unresolved),
    )


def _dtypes(references: References) -> list[str]:
    spec = references.workload.manifest.spec if references.workload else {}
    tensors = list(spec.get("tensors", {}).values())
    if not tensors and references.operation:
        parameters = references.operation.manifest.spec
        tensors = [
            parameter.get("tensor") or parameter.get("scalar") or {}
            for parameter in (*parameters["inputs"], *parameters["outputs"])
        ]
    return sorted({tensor["dtype"] for tensor in tensors if "dtype" in tensor})


def _evidence(run: Manifest, publication: Publication, references: References, standing: Standing) -> Evidence:
    implementation = references.implementation
    own = record_facts(
        run.spec,
        implementation.manifest.spec if implementation else None,
        claimed=publication.position,
        resolved=None if references.unresolved else max(publication.position, references.resolved_at),
        registered=implementation.since if implementation else 0,
    )
    facts = msgspec.structs.replace(
        own,
        parties=frozenset(filter(None, (publication.actor, publication.producer))),
        reruns=standing.reruns,
        dispute_open=standing.lifecycle.dispute_open,
        dispute_upheld=standing.lifecycle.dispute_upheld,
    )
    return EVIDENCE_POLICIES[standing.evidence].assess(facts)


def _evidence_doc(evidence: Evidence, version: str) -> Doc:
    return {
        "level": evidence.level.value,
        "contested": evidence.contested,
        "policyVersion": version,
        "reasons": [{"fact": reason.fact.value, "position": reason.position} for reason in evidence.reasons],
        "missing": [fact.value for fact in evidence.missing],
    }
