"""What an event says of a record, worked out again: its digest and its primary measurement."""

import msgspec

from domain.audit.findings import Tampered, Tampering
from domain.errors import InvalidInput
from domain.events import Recorded
from domain.facts import Erased, ManifestRegistered, RerunRecorded, RunIngested
from domain.manifests import Manifest, stored_manifest
from domain.measurements import decimal_text, primary_measurement


def holds(event: Recorded, position: int) -> None:
    """Raise :class:`Tampered` unless the event's record has the digest, the stream and the primary value it claims."""
    fact = event.fact
    if isinstance(fact, Erased):
        return
    if fact.stream != event.originator_id:
        raise _altered(position, f"belongs to stream {fact.stream} and stands in {event.originator_id}")
    if isinstance(fact, RunIngested):
        _has_primary(fact, _manifest(fact.manifest, fact.digest, position), position)
    elif isinstance(fact, ManifestRegistered):
        _manifest(fact.manifest, fact.digest, position)
    elif isinstance(fact, RerunRecorded):
        _manifest(fact.manifest, fact.manifest_digest, position)


def _manifest(manifest: msgspec.Raw, claimed: str, position: int) -> Manifest:
    try:
        read = stored_manifest(bytes(manifest))
    except InvalidInput as error:
        raise _altered(position, f"holds no record: {error}") from None
    if read.digest != claimed:
        raise _altered(position, f"holds a record of digest {read.digest}, which it names {claimed}")
    return read


def _has_primary(fact: RunIngested, manifest: Manifest, position: int) -> None:
    derived = primary_measurement(manifest.spec)
    value = decimal_text(derived.value) if derived else None
    stated = fact.primary.value if fact.primary else None
    if value != stated:
        raise _altered(position, f"states a primary value of {stated}, which its manifest says is {value}")


def _altered(position: int, what: str) -> Tampered:
    return Tampered(Tampering.PAYLOAD_ALTERED, f"event {position} {what}", position)
