"""GPU MODE's KernelBot, as its data set has it: leaderboards, and rows of submissions with their ranked runs."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec

from domain.json_text import Json
from domain.manifests import Kind
from service.sources import kernelbot_problems as problems
from service.sources.base import Document, Fact, Noted, Parsed, Record, Skipped, Source, Told, Whole
from service.sources.hardware import UNKNOWN, Hardware, hardware
from service.sources.manifests import Part, bundle, given, name_of, one_line, part, text_digest, title_of
from service.sources.rows import each
from service.sources.shapes import input_dtypes, sizes, tensors
from service.sources.values import Fields, plain

NAME: Final = "kernelbot"
SLUG: Final = "gpumode-kernelbot"
_DATASET: Final = "https://huggingface.co/datasets/GPUMODE/kernelbot-data"
_HARNESS: Final = {
    "name": "reference-kernels eval.py",
    "repository": "https://github.com/gpu-mode/reference-kernels",
}
_COMPARATOR: Final = "kernelbot_eval"
_NOTES: Final = {
    "mean": "Per-case wall-clock statistics as published in the KernelBot dataset. Comparable only within one"
    " leaderboard problem and GPU type; runner software versions ride each run's labels.",
    "geomean": "Aggregate leaderboard score in seconds over the problem's published benchmark suite, as computed by the"
    " upstream ranked run. Comparable only within one leaderboard problem and runner type.",
}
# Runners are named after a card, a provider, or for the card's maker alone, where a competition had one card only.
_RUNNERS: Final = {"B200_Nebius": "B200", "NVIDIA": "B200"}
_BENCHMARK: Final = re.compile(r"benchmark\.([0-9]+)\.spec\Z")
_SIZE: Final = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*:\s*(-?[0-9]+)\s*\Z")


class _Problem(msgspec.Struct, frozen=True):
    """A problem with what it computes."""

    name: str
    operation: Part
    suite: Part


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
            yield "leaderboard", str(row["id"]), str(row["name"])


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


def _problem(name: str, told: Told) -> _Problem:
    operation = told.operation(NAME, f"gpumode-{name_of(name)}", name) or problems.known(name)
    operation = operation or problems.named_only(name)
    return _Problem(name, operation, told.suite(NAME, operation) or problems.suite_named_only(name, operation.digest))


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
    yield from _Submission(row, _problem(name, told), told).parse()


class _Submission:
    """One row, with what all of its runs share."""

    def __init__(self, row: Fields, problem: _Problem, told: Told) -> None:
        self._row = row
        self._problem = problem
        self._id = row.text("submission_id")
        self._score_field = "run_score" if "run_score" in row.tree else "score"
        self._score = plain(row.positive(self._score_field))
        self._observed_at = row.instant("submission_time", told.now)
        self._system = row.within("run_system_info") if row.get("run_system_info") else Fields({}, row.path)
        card = self._system.optional_text("gpu")
        self._runner = None if card else row.optional_text("runner")
        self._published = card or self._runner
        self._hardware = _hardware_of(self._published)
        self._implementation = self._implemented()
        user = row.text("user_id")
        self._project = part(
            Kind.SOFTWARE_PROJECT,
            {"name": f"KernelBot user {user}", "host": {"kind": "other", "id": f"{SLUG}/user/{user}"}},
            name=f"kernelbot-user-{name_of(user)}",
        )

    def parse(self) -> Iterator[Parsed]:
        """The run of the score, then those of the benchmarks."""
        if not self._hardware.known:
            yield Noted(f"hardware {self._published!r} is in no table of names: kept as published")
        yield self._scored()
        result = self._row.within("run_result") if self._row.get("run_result") else None
        if result is None:
            return
        numbers = sorted(int(found[1]) for name in result.tree if (found := _BENCHMARK.match(name)))
        if result.get("benchmark-count") is not None and result.integer("benchmark-count") != len(numbers):
            stated = result.integer("benchmark-count")
            raise result.fault("benchmark-count", f"{stated} benchmarks were counted, {len(numbers)} are there")
        for number in numbers:
            yield self._benchmark(result, number)

    def _scored(self) -> Record:
        measured: dict[str, Json] = {"metric": "score", "unit": "s", "statistic": "geomean", "value": self._score}
        return self._record(
            self._problem.suite,
            "geomean",
            benchmark=self._problem.name,
            metrics={"leaderboard_score_s": self._score},
            outcome={"measurements": [measured]},
            name=f"kernelbot-{self._id}-leaderboard",
            title="leaderboard score",
        )

    def _benchmark(self, result: Fields, number: int) -> Record:
        key = f"benchmark.{number}"
        axes = _sizes(result, f"{key}.spec")
        latency: dict[str, Json] = {"mean": result.nanoseconds(f"{key}.mean", "ns")}
        metrics: dict[str, Json] = {"mean_ns": plain(result.number(f"{key}.mean")), "leaderboard_score_s": self._score}
        if result.get(f"{key}.best") is not None:
            latency["minimum"] = result.nanoseconds(f"{key}.best", "ns")
            metrics["best_ns"] = plain(result.number(f"{key}.best"))
        if result.get(f"{key}.worst") is not None:
            latency["maximum"] = result.nanoseconds(f"{key}.worst", "ns")
        _in_order(result, key, latency)
        runs = result.integer(f"{key}.runs") if result.get(f"{key}.runs") is not None else None
        outcome: dict[str, Json] = {"timing": {"primaryStatistic": "mean", "latencyNs": latency, **given(samples=runs)}}
        if result.get(f"{key}.std") is not None:
            scatter = {
                "metric": "latency",
                "unit": "ns",
                "statistic": "std",
                "value": plain(result.number(f"{key}.std")),
            }
            outcome["measurements"] = [{**scatter, **given(sampleCount=runs)}]
        listed = "-".join(f"{axis}{size}" for axis, size in axes.items())
        return self._record(
            self._workload(axes, listed),
            "mean",
            benchmark=f"{self._problem.name}/{number}",
            metrics=metrics,
            outcome=outcome,
            name=f"kernelbot-{self._id}-{name_of(listed)}",
            title=f"case {number}",
        )

    def _workload(self, axes: dict[str, int], listed: str) -> Part:
        operation = self._problem.operation
        title = title_of(operation)
        return part(
            Kind.WORKLOAD_CASE,
            {
                "operationSpecDigest": operation.digest,
                "axes": axes,
                "tensors": tensors(operation.spec, sizes(operation.spec, axes)),
                "correctness": {"comparator": _COMPARATOR},
            },
            name=f"gpumode-{name_of(self._problem.name, listed)}"[:200],
            title=f"{title} · {', '.join(f'{axis}={size}' for axis, size in axes.items())}",
        )

    def _implemented(self) -> Part:
        row, operation = self._row, self._problem.operation
        author = row.optional_text("user_name")
        return part(
            Kind.IMPLEMENTATION_REVISION,
            {
                "projectRevision": {"version": f"submission-{self._id}"},
                "operation": {"specDigest": operation.digest},
                "callable": {"language": "python"},
                "support": {
                    "hardwareArchitectures": [self._hardware.architecture],
                    "productsTested": [self._hardware.product],
                    "dtypes": input_dtypes(operation.spec),
                },
                "licensing": {},
                **given(source=_source(row)),
            },
            name=f"kernelbot-submission-{name_of(self._id)}",
            title=f"{self._problem.name} · submission {self._id}",
            description=one_line(row.optional_text("file_name") or "", 200),
            authors=[{"name": one_line(author, 200)}] if author else [],
            sourceRefs=[{"url": _DATASET}],
        )

    def _record(
        self,
        workload: Part,
        statistic: str,
        *,
        benchmark: str,
        metrics: dict[str, Json],
        outcome: dict[str, Json],
        name: str,
        title: str,
    ) -> Record:
        found = self._hardware
        environment = _environment(found.vendor, found.product, found.architecture, self._runner)
        protocol = _protocol(statistic)
        run = part(
            Kind.BENCHMARK_RUN,
            {
                "implementationDigest": self._implementation.digest,
                "workloadDigest": workload.digest,
                "protocolDigest": protocol.digest,
                "environmentDigest": environment.digest,
                "status": "passed",
                "sourceNative": {
                    "source": SLUG,
                    "benchmark": benchmark,
                    "externalId": f"submission/{self._id}",
                    "metrics": metrics,
                },
                "observedAt": self._observed_at,
                **outcome,
            },
            name=name[:200].strip("-"),
            title=f"{self._problem.name} · submission {self._id} · {title}",
            labels=given(torch=self._system.optional_text("torch"), platform=self._system.optional_text("platform")),
        )
        return Record(
            row=f"submission/{self._id}",
            operation=self._problem.operation.digest,
            bundle=bundle(
                run,
                {"source": SLUG, "producer": self._project.spec["host"]["id"]},
                project=self._project,
                operation=self._problem.operation,
                workload=workload,
                implementation=self._implementation,
                protocol=protocol,
                environment=environment,
            ),
        )


def _sizes(result: Fields, name: str) -> dict[str, int]:
    """``k: 7168; m: 1024`` as axes."""
    found = {}
    for one in result.text(name).split(";"):
        match = _SIZE.match(one)
        if match is None:
            raise result.fault(name, f"{one.strip()!r} is not a whole size, and cases are told apart by sizes only")
        found[match[1].lower()] = int(match[2])
    return found


def _in_order(result: Fields, key: str, latency: dict[str, Any]) -> None:
    if not latency.get("minimum", 0) <= latency["mean"] <= latency.get("maximum", latency["mean"]):
        raise result.fault(f"{key}.mean", "the mean does not lie between the best and the worst")


def _source(row: Fields) -> Json:
    """The code's digest and size; where the code was left out of the row, they may stand beside it."""
    code = row.get("code")
    if isinstance(code, str):
        size = len(code.encode("utf-8", "surrogatepass"))
        found: dict[str, Json] = {"contentDigest": text_digest(code), **given(sizeBytes=size or None)}
    elif row.get("contentDigest"):
        found = {"contentDigest": row.text("contentDigest"), **_size(row)}
    else:
        return None
    return {**found, **given(fileName=row.optional_text("file_name"))}


def _size(row: Fields) -> dict[str, Json]:
    return {"sizeBytes": row.integer("sizeBytes")} if row.get("sizeBytes") else {}


def _hardware_of(published: str | None) -> Hardware:
    if published is None:
        return Hardware("unspecified", UNKNOWN, UNKNOWN, known=True)
    return hardware(_RUNNERS.get(published, published))


@lru_cache(maxsize=8)
def _protocol(statistic: str) -> Part:
    names = {
        "mean": ("gpumode-kernelbot-eval", "GPU MODE KernelBot evaluation harness"),
        "geomean": ("gpumode-kernelbot-leaderboard-geomean", "GPU MODE KernelBot ranked leaderboard run"),
    }
    name, title = names[statistic]
    spec: dict[str, Json] = {
        "harness": dict(_HARNESS),
        "measurement": {"timer": "wall_clock", "primaryStatistic": statistic},
        "correctness": {"reference": "problem reference implementation", "comparator": _COMPARATOR},
        "comparability": {"family": "gpumode_kernelbot", "notes": _NOTES[statistic]},
    }
    return part(Kind.BENCHMARK_PROTOCOL, spec, name=name, title=title)


@lru_cache(maxsize=256)
def _environment(vendor: str, product: str, architecture: str, runner: str | None) -> Part:
    form = f"runner:{runner}" if runner else None
    known = {"vendor": vendor, "product": product, "architecture": architecture, **given(formFactor=form)}
    name = f"gpumode-kernelbot-{name_of(runner or product)}"[:200].strip("-")
    title = f"KernelBot runner · {product}"
    return part(Kind.EXECUTION_ENVIRONMENT, {"hardware": known, "software": {}}, name=name, title=title)


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
