"""Record history: where the best value of a group changed."""

import strawberry

from domain.records import RecordBasis, RecordCause
from projections.model import Doc
from service.api.scalars import DateTime, Decimal, Digest, Position
from service.api.types.base import Documented, LazyRun, Root, loaded, picked, snapshot_of
from service.api.types.described import object_type

strawberry.enum(
    RecordBasis,
    description="`BY_OBSERVATION`: over the runs that are eligible, in the order in which they were observed."
    " `AS_KNOWN`: as the log grew, whatever was observed when. The two are never mixed.",
)
strawberry.enum(RecordCause, description="Why the best known value of a group changed.")


@object_type("The value of a record.")
class RecordValue:
    value: Decimal = picked("The value, exact.")
    number: float = picked("The value as a binary floating-point number, for charts; not exact.")
    unit: str = picked("Its unit.")
    formatted: str = picked("The value with its unit, for people.")


@object_type("A change of the best value of a group.")
class RecordChange(Documented):
    basis: RecordBasis = picked("In which of the two views.")
    comparison_key: Digest = picked("The group.")
    value: RecordValue | None = picked("The best value from then on; null where nobody was left.")
    previous_value: RecordValue | None = picked("The best value until then; null where there was none.")
    cause: RecordCause | None = picked("Why, as known; null by observation.")
    position: Position | None = picked("The position since which it was known; null by observation.")
    time: DateTime = picked("By observation when the run was measured; as known when this index recorded the change.")

    @loaded(LazyRun | None, "Who holds the best value from then on; of several the one that was observed first.")
    async def run(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("runs", root["run"]) if root["run"] else None

    @loaded(LazyRun | None, "Who held it until then.")
    async def previous_run(self, root: Root) -> Doc | None:
        previous = root["previousRun"]
        return await snapshot_of(root).document("runs", previous) if previous else None
