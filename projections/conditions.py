"""The conditions of a measurement: protocols, environments, and the hardware that environments name."""

import sqlite3

import msgspec

from domain.display.facts import environment_facts, protocol_facts
from domain.display.names import slugify
from domain.events import Event
from domain.manifests import Kind, Manifest
from projections.identities import node, when_described
from projections.model import AS_OF, TEMPORAL, Doc, ReadModel, document_text, lines, put

DDL = f"""
CREATE TABLE conditions (
  digest TEXT NOT NULL, doc TEXT NOT NULL, {TEMPORAL}, PRIMARY KEY (digest, from_position)
) STRICT;
CREATE TABLE hardware (
  slug TEXT NOT NULL, doc TEXT NOT NULL, {TEMPORAL}, PRIMARY KEY (slug, from_position)
) STRICT;
"""


def describe_protocol(manifest: Manifest) -> Doc:
    """The document of a protocol."""
    spec = manifest.spec
    return node("Protocol", manifest) | {
        "harness": spec["harness"]["name"],
        "harnessVersion": spec["harness"].get("version"),
        "timer": spec["measurement"]["timer"],
        "primaryStatistic": spec["measurement"]["primaryStatistic"],
        "comparabilityFamily": spec.get("comparability", {}).get("family"),
        "comparabilityNotes": spec.get("comparability", {}).get("notes"),
        "facts": lines(protocol_facts(spec)),
    }


def describe_environment(manifest: Manifest) -> Doc:
    """The document of an environment."""
    return node("Environment", manifest) | {
        "hardware": slugify(manifest.spec["hardware"]["product"]),
        "architecture": manifest.spec["hardware"]["architecture"],
        "facts": lines(environment_facts(manifest.spec)),
    }


def hardware(db: sqlite3.Connection, slug: str, position: int) -> Doc | None:
    """The document of a hardware product."""
    query = f"SELECT doc FROM hardware WHERE slug = :slug AND {AS_OF}"  # noqa: S608 text is ours
    row = db.execute(query, {"slug": slug, "position": position}).fetchone()
    return msgspec.json.decode(row[0]) if row else None


@when_described(Kind.BENCHMARK_PROTOCOL, Kind.EXECUTION_ENVIRONMENT)
def _described(db: sqlite3.Connection, event: Event, manifest: Manifest) -> None:
    is_protocol = manifest.kind is Kind.BENCHMARK_PROTOCOL
    doc = describe_protocol(manifest) if is_protocol else describe_environment(manifest)
    put(db, "conditions", "digest", {"digest": manifest.digest, "doc": document_text(doc)}, event.position)
    if not is_protocol:
        _put_hardware(db, event, manifest)


def _put_hardware(db: sqlite3.Connection, event: Event, manifest: Manifest) -> None:
    stated = manifest.spec["hardware"]
    slug = slugify(stated["product"])
    known = hardware(db, slug, event.position)
    doc = {
        "@type": "Hardware",
        "id": f"hardware/{slug}",
        "slug": slug,
        "product": known["product"] if known else stated["product"],
        "vendor": stated["vendor"],
        "architectures": sorted({*(known["architectures"] if known else ()), stated["architecture"]}),
    }
    put(db, "hardware", "slug", {"slug": slug, "doc": document_text(doc)}, event.position)


READ_MODEL = ReadModel("conditions", 2, DDL, _described)
