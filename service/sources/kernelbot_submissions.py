"""One submission to KernelBot: a run for its score, and one for each of its benchmarks."""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from domain.json_text import Json
from domain.manifests import Kind
from service.sources.base import Noted, Parsed, Record, Told
from service.sources.kernelbot_parts import COMPARATOR, environment_part, hardware_of, protocol_part, source_of
from service.sources.manifests import Part, bundle, given, name_of, one_line, part, title_of
from service.sources.shapes import input_dtypes, sizes, tensors
from service.sources.values import Fields, plain

SLUG: Final = "gpumode-kernelbot"
_DATASET: Final = "https://huggingface.co/datasets/GPUMODE/kernelbot-data"
_BENCHMARK: Final = re.compile(r"benchmark\.([0-9]+)\.spec\Z")
_SIZE: Final = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*:\s*(-?[0-9]+)\s*\Z")


class Problem(msgspec.Struct, frozen=True):
    """A problem with what it computes."""

    name: str
    operation: Part
    suite: Part


class Submission:
    """One row, with what all of its runs share."""

    def __init__(self, row: Fields, problem: Problem, told: Told) -> None:
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
        self._hardware = hardware_of(self._published)
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
                "correctness": {"comparator": COMPARATOR},
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
                **given(source=source_of(row)),
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
        environment = environment_part(found.vendor, found.product, found.architecture, self._runner)
        protocol = protocol_part(statistic)
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
