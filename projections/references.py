"""What a run refers to, as far as it is registered at a position."""

import sqlite3
from typing import Any

import msgspec

from domain.identity import comparison_key, correctness_key
from domain.manifests import Manifest
from projections import identities
from projections.identities import Registered


class References(msgspec.Struct, frozen=True):
    """A run's references by digest, and what is registered of them. ``operation`` and ``project`` are named by others.

    ``unresolved`` lists the digests that are named and not registered; ``resolved_at`` is the position at which the
    last of the registered ones came.
    """

    implementation: Registered | None
    workload: Registered | None
    protocol: Registered | None
    environment: Registered | None
    operation: Registered | None
    project: Registered | None
    operation_digest: str | None
    project_digest: str | None
    unresolved: tuple[str, ...]
    resolved_at: int


def resolve(db: sqlite3.Connection, run: Manifest, position: int) -> References:
    """Look up everything that the run refers to."""
    named = [
        run.spec[field] for field in ("implementationDigest", "workloadDigest", "protocolDigest", "environmentDigest")
    ]
    found = identities.registered_of(db, named, position)
    implementation, workload, protocol, environment = (found.get(digest) for digest in named)
    operation_digest = _operation_digest(workload, implementation)
    project_digest = implementation.project if implementation else None
    named += [digest for digest in (operation_digest, project_digest) if digest]
    found |= identities.registered_of(db, named[4:], position)
    return References(
        implementation=implementation,
        workload=workload,
        protocol=protocol,
        environment=environment,
        operation=found.get(operation_digest or ""),
        project=found.get(project_digest or ""),
        operation_digest=operation_digest,
        project_digest=project_digest,
        unresolved=tuple(digest for digest in dict.fromkeys(named) if digest not in found),
        resolved_at=max((registered.since for registered in found.values()), default=0),
    )


def comparison_parts(run: Manifest, references: References, metric: str) -> dict[str, str] | None:
    """The parts of the run's comparison key, or None until its workload is registered."""
    if references.workload is None:
        return None
    spec: dict[str, Any] = references.workload.manifest.spec
    return {
        "operation": spec["operationSpecDigest"],
        "workload": run.spec["workloadDigest"],
        "protocol": run.spec["protocolDigest"],
        "environment": run.spec["environmentDigest"],
        "correctness": correctness_key(spec),
        "metric": metric,
    }


def key_of(parts: dict[str, str] | None) -> str | None:
    """The comparison key that the parts give."""
    return comparison_key(**parts) if parts else None


def _operation_digest(workload: Registered | None, implementation: Registered | None) -> str | None:
    if workload:
        return str(workload.manifest.spec["operationSpecDigest"])
    return str(implementation.manifest.spec["operation"]["specDigest"]) if implementation else None
