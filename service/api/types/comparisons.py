"""Comparisons: runs side by side, field by field."""

from typing import Any

from strawberry.types import Info

from domain import comparing
from domain.display.comparisons import ComparisonFormat, export
from projections.model import Doc
from service.api.context import Context
from service.api.scalars import Digest
from service.api.snapshot import Snapshot
from service.api.stamps import stamp
from service.api.types.base import Root, loaded, picked, snapshot_of
from service.api.types.described import object_type
from service.api.types.enums import ComparisonSection
from service.api.types.runs import Run

MAX_FIELDS = 1_000


@object_type("What one run says in a field.")
class ComparedValue:
    run: Digest = picked("The run.")
    text: str | None = picked("What it says; null where it says nothing, or nobody here knows.")
    registered: bool = picked("Whether the manifest that would say it is registered here.")


@object_type("One field of all compared runs.")
class ComparedField:
    section: ComparisonSection = picked("What it is part of.")
    path: str = picked("Its path in the manifest, such as `harness.version`; `digest` for the manifest's own.")
    material: bool = picked("Whether a difference here means that the runs don't compare.")
    differs: bool = picked("Whether two of the runs say different things.")
    values: list[ComparedValue] = picked("What each run says, in the order asked for.")


@object_type("A run in a comparison. Rank and ratio are null unless the runs compare.")
class ComparedRun:
    rank: int | None = picked("Its rank in the group of all of them; null for one that may not be ranked.")
    tied: bool | None = picked("Whether another run of the group has the same rank.")
    ratio_to_best: float | None = picked("How far behind the best of the compared: 1 for that, else above.")

    @loaded(Run, "The run.")
    async def run(self, root: Root) -> Doc | None:
        return await snapshot_of(root).document("runs", root["@run"])


@object_type("Runs side by side. What doesn't compare gets no ratio and no rank.")
class Comparison:
    comparable: bool = picked("Whether all of the runs compare: their comparison keys are the same.")
    verdict: str = picked("Whether they compare, in words: of runs that don't, the first material mismatch.")
    comparison_key: Digest | None = picked("The group that they share, if they do.")
    first_mismatch: ComparedField | None = picked("The first field that keeps them from being compared.")
    runs: list[ComparedRun] = picked("The runs, in the order asked for.")
    field_count: int = picked("How many fields there are.")

    @loaded(
        list[ComparedField],
        "The fields, material differences first, then other differences, then what is equal; at most 1,000.",
    )
    async def fields(self, root: Root, differing: bool = False) -> list[Doc]:
        compared: comparing.Comparison = root["@comparison"]
        shown = [field for field in compared.fields if field.differs or not differing]
        return [_field(compared, field) for field in shown[:MAX_FIELDS]]

    @loaded(str, "All of it as a document to take away.")
    async def export(self, root: Root, info: Info[Context, Any], format: ComparisonFormat) -> str:  # noqa: A002
        read = stamp(snapshot_of(root), info.context.accessed_at)
        stated = {"position": str(read["position"]), "asOf": read["asOf"], "accessedAt": read["accessedAt"]}
        return export(root["@comparison"], format, stated)


def comparison_document(compared: comparing.Comparison, snapshot: Snapshot) -> Doc:
    """The document of a comparison."""
    pairs = zip(compared.subjects, compared.outcomes, strict=True)
    return snapshot.adopt(
        {
            "comparable": compared.comparable,
            "verdict": compared.verdict,
            "comparisonKey": compared.subjects[0].comparison_key if compared.comparable else None,
            "firstMismatch": _field(compared, compared.first_mismatch) if compared.first_mismatch else None,
            "runs": [snapshot.adopt(_run(subject, outcome)) for subject, outcome in pairs],
            "fieldCount": len(compared.fields),
            "@comparison": compared,
        }
    )


def _run(subject: comparing.Subject, outcome: comparing.Outcome) -> Doc:
    return {
        "rank": outcome.rank,
        "tied": outcome.tied,
        "ratioToBest": outcome.ratio_to_best,
        "@run": subject.digest,
    }


def _field(compared: comparing.Comparison, field: comparing.Field) -> Doc:
    values = [
        {"run": subject.digest, "text": value.text, "registered": value.registered}
        for subject, value in zip(compared.subjects, field.values, strict=True)
    ]
    return {
        "section": field.section.value,
        "path": field.path,
        "material": field.material,
        "differs": field.differs,
        "values": values,
    }
