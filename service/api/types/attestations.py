"""Attestations as they are shown."""

from typing import Any

from projections.model import Doc
from service.api.scalars import URL, DateTime, Decimal, Position
from service.api.types.base import Documented, LazyRun, Node, Root, loaded, picked, snapshot_of
from service.api.types.described import object_type
from service.api.types.enums import AttestationType
from service.api.types.lifecycle import Decision


@object_type("A value that somebody observed.")
class ObservedValue:
    value: Decimal = picked("The value, exact.")
    unit: str = picked("Its unit.")
    number: float = picked("The value as a binary floating-point number, for charts; not exact.")
    formatted: str = picked("The value with its unit, for people.")


@object_type("What somebody says became of trying a run. It never moves the evidence level.")
class Attestation(Documented, Node):
    type: AttestationType = picked("What is attested.")
    attested_by: str = picked("The principal that says so. It is one voice, whichever of its keys it uses.")
    attested_at: DateTime = picked("When.")
    position: Position = picked("The position of its event.")
    own: bool = picked("Whether it is the run's own submitter who attests; that does not count.")
    counted: bool = picked("Whether it counts: a voice counts once for a run and type, hidden ones don't.")
    hidden: Decision | None = picked("Why a moderator has taken it off the pages; its words are only in the log then.")

    @loaded(LazyRun | None, "The run that it is about; null where that was erased.")
    async def run(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("runs", root["run"])

    @loaded(str | None, "What was tried and seen; null where it is hidden.")
    async def note(self, root: Root) -> Any:
        return _shown(root, "note")

    @loaded(URL | None, "Where a log or code of it is.")
    async def evidence_url(self, root: Root) -> Any:
        return _shown(root, "evidenceUrl")

    @loaded(ObservedValue | None, "What was measured.")
    async def observed(self, root: Root) -> Any:
        return _shown(root, "observed")

    @loaded(str | None, "Where it was tried.")
    async def environment(self, root: Root) -> Any:
        return _shown(root, "environment")


@object_type("How many voices attest the same.")
class AttestationCount:
    type: AttestationType = picked("What is attested.")
    count: int = picked("How many voices, without the submitter's own and hidden ones.")


def _shown(attestation: Doc, field: str) -> Any:
    return None if attestation["hidden"] else attestation[field]
