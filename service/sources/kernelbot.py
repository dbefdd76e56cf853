"""GPU MODE's KernelBot, as its data set has it: leaderboards, and rows of submissions with their ranked runs."""

from collections.abc import Iterator
from typing import Any, Final

from service.sources import kernelbot_problems as problems
from service.sources.base import Document, Fact, Parsed, Skipped, Source, Told, Whole
from service.sources.kernelbot_submissions import SLUG, Problem, Submission
from service.sources.manifests import name_of
from service.sources.rows import each
from service.sources.values import Fields

NAME: Final = "kernelbot"


def _rows(document: Document) -> list[tuple[str, Any]]:
    """The rows of a page, whether each is wrapped as the data set's server does, or not."""
    rows = document.get("rows") if isinstance(document, dict) else None
    found = []
    for place, row in enumerate(rows if isinstance(rows, list) else []):
        wrapped = isinstance(row, dict) and isinstance(row.get("row"), dict)
        found.append((f"rows[{place}]{'.row' if wrapped else ''}", row["row"] if wrapped else row))
    return found


def recognises(document: Document) -> bool:
    """Whether these are rows of submissions or of leaderboards."""
    return any(
        isinstance(row, dict) and ("submission_id" in row or "gpu_types" in row) for _, row in _rows(document)[:1]
    )


def learn(document: Document, _: Told) -> Iterator[Fact]:
    """Leaderboards: submissions name them by number."""
    for _path, row in _rows(document):
        if isinstance(row, dict) and "gpu_types" in row and "name" in row:
            yield "leaderboard", str(row.get("id")), str(row["name"])


def parse(document: Document, told: Told) -> Iterator[Parsed]:
    """A run for the score of a submission, and one for each of its benchmarks."""
    submissions = []
    for path, row in _rows(document):
        if isinstance(row, dict) and "gpu_types" in row:
            yield Skipped("leaderboards that are only listed")
        else:
            submissions.append((path, row))
    yield from each(submissions, lambda row: _submission(row, told), _external_id)
    names = {_problem_name(row, told) for _, row in submissions if isinstance(row, dict)}
    if document.get("num_rows_total") and len(names) == 1 and (name := names.pop()):
        total = Fields(document).integer("num_rows_total")
        yield Whole(operation=_problem(name, told).operation.digest, rows=total)


def _external_id(row: dict[str, Any]) -> str:
    return f"submission/{row.get('submission_id')}"


def _problem_name(row: dict[str, Any], told: Told) -> str | None:
    name = row.get("problem_name") or told.fact(NAME, "leaderboard", str(row.get("leaderboard_id")))
    return str(name) if name else None


def _problem(name: str, told: Told) -> Problem:
    operation = told.operation(NAME, f"gpumode-{name_of(name)}", name) or problems.known(name)
    operation = operation or problems.named_only(name)
    return Problem(name, operation, told.suite(NAME, operation) or problems.suite_named_only(name, operation.digest))


def _submission(row: Fields, told: Told) -> Iterator[Parsed]:
    if row.get("run_mode") not in (None, "leaderboard"):
        yield Skipped("runs that are not ranked ones", _external_id(row.tree))
        return
    if row.get("run_passed") is False:
        yield Skipped("runs that did not pass", _external_id(row.tree))
        return
    name = _problem_name(row.tree, told)
    if name is None:
        remedy = "import the leaderboards with it, or name their file with --kernel"
        raise row.fault(
            "leaderboard_id", f"leaderboard {row.get('leaderboard_id')} is not known by name", remedy=remedy
        )
    yield from Submission(row, _problem(name, told), told).parse()


SOURCE = Source(
    name=NAME,
    slug=SLUG,
    version="1",
    reads="rows of the KernelBot data set: submissions with their ranked runs, and leaderboards",
    needs="the leaderboards, where rows give only their number; the operation and suite of problems that"
    " `describe` does not list, with --kernel",
    conventions=(
        "the score is the geometric mean in seconds over the problem's benchmarks, as the source computed it",
        "each benchmark of a ranked run is a run of its own: mean, best and worst in nanoseconds, and std as published",
        "known by heart: amd-fp8-mm; any other problem that is not described is an operation known by name only",
        "the card of run_system_info goes before the runner's name; without either the product is unspecified",
        "equal code under many names is many implementations with one source digest",
    ),
    states_total=True,
    recognises=recognises,
    resembles=recognises,
    parse=parse,
    learn=learn,
)
