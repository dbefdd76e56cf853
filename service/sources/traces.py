"""The trace format that FlashInfer-Bench and SOL-ExecBench share: definitions, solutions, workloads, evaluations."""

from collections.abc import Iterator
from typing import Any, Final

from domain.json_text import Json
from domain.manifests import Kind
from service.sources.base import Document, Fact, Noted, Parsed, Record, Skipped, Told
from service.sources.hardware import UNKNOWN, hardware
from service.sources.manifests import Part, bundle, given, name_of, part, prose, text_digest, title_of
from service.sources.rows import each
from service.sources.shapes import axes, parameters, sizes, tensors
from service.sources.trace_parts import (
    COMPARATOR,
    Dialect,
    correctness,
    environment_part,
    known_by_name,
    project_part,
    protocol_part,
    refs,
    scalar,
    solution_part,
    without_body,
)
from service.sources.values import Fields, plain

_STATUSES: Final = {
    "PASSED": "passed",
    "INVALID_REFERENCE": "invalid_reference",
    "INCORRECT_SHAPE": "incorrect_shape",
    "INCORRECT_NUMERICAL": "incorrect_numerical",
    "INCORRECT_DTYPE": "incorrect_dtype",
    "RUNTIME_ERROR": "runtime_error",
    "COMPILE_ERROR": "compile_error",
    "TIMEOUT": "timeout",
}
_METRICS: Final = ("latency_ms", "reference_latency_ms", "speedup_factor")


def kind_of(document: Document) -> str | None:
    """Which document of the format this is."""
    if not isinstance(document, dict):
        return None
    keys = document.keys()
    if {"name", "axes", "inputs", "outputs"} <= keys:
        return "definition"
    if {"name", "definition", "spec", "sources"} <= keys and isinstance(document["sources"], list):
        return "solution"
    if {"definition", "workload"} <= keys:
        return "trace"
    return "workload" if {"uuid", "axes", "inputs"} <= keys else None


def resembles(document: Document) -> bool:
    """Whether this is a document of the format, whoever wrote it."""
    return kind_of(document) is not None


class Traces:
    """Reads the documents of one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._protocol = protocol_part(dialect)

    def learn(self, document: Document, told: Told) -> Iterator[Fact]:
        """Definitions and solutions are what traces refer to."""
        kind = kind_of(document)
        if kind == "definition":
            yield "operation", document["name"], self._operation(Fields(document), told)
        elif kind == "solution":
            # Its code is only needed for its digest: a thousand solutions are not to be kept whole.
            sources = [without_body(one) for one in document["sources"] if isinstance(one, dict)]
            yield "solution", _solution_key(document), {**document, "sources": sources}

    def parse(self, document: Document, told: Told) -> Iterator[Parsed]:
        """The operation, the workload, or the run."""
        readers = {"definition": self._definition, "trace": self._trace, "workload": self._workload_line}
        reader = readers.get(str(kind_of(document)))
        if reader is None:
            yield Skipped("solutions, which are recorded with their runs")
            return
        yield from each([("", document)], lambda fields: reader(fields, told), _row)

    def _definition(self, definition: Fields, told: Told) -> Iterator[Parsed]:
        yield Record(row=definition.text("name"), bundle={"operation": self._operation(definition, told).tree})

    def _operation(self, definition: Fields, told: Told) -> Part:
        name = definition.text("name")
        spec = {
            "family": name_of(definition.optional_text("op_type") or "unspecified"),
            "axes": axes(definition),
            "inputs": parameters(definition, "inputs"),
            "outputs": parameters(definition, "outputs"),
            "semantics": {"mutation": "none", "determinism": "unspecified"},
            # That there is one is what the format promises, also where it was left out of the file.
            "reference": {"language": "python"},
        }
        return part(
            Kind.OPERATION_SPEC,
            spec,
            name=name_of(name),
            title=name,
            description=prose(definition.optional_text("description") or "", 2000),
            sourceRefs=refs(self._dialect, told, "definitions"),
        )

    def _workload_line(self, workload: Fields, told: Told) -> Iterator[Parsed]:
        operation = told.only_operation(self._dialect.name)
        if operation is None:
            remedy = "import it with the file of its definition only, or name that with --kernel"
            raise workload.fault("uuid", "a workload alone does not say whose it is", remedy=remedy)
        case = self._workload(workload, operation)
        yield Record(row=workload.text("uuid"), bundle={"operation": operation.tree, "workload": case.tree})

    def _workload(self, workload: Fields, operation: Part) -> Part:
        stated, inputs = workload.within("axes"), workload.within("inputs")
        given_sizes = {name.lower(): stated.integer(name) for name in stated.tree}
        concrete = tensors(operation.spec, sizes(operation.spec, given_sizes))
        scalars: dict[str, Json] = {}
        types = {one["name"]: one["scalar"]["dtype"] for one in operation.spec["inputs"] if "scalar" in one}
        for name in inputs.tree:
            made, key = inputs.within(name), name.lower()
            if made.text("type") == "scalar":
                scalars[key] = {"dtype": types.get(key, UNKNOWN), "value": scalar(made)}
            elif key in concrete:
                concrete[key]["data"] = {"generator": made.text("type")}
        title = f"{title_of(operation)} · {', '.join(f'{a}={stated.integer(a)}' for a in stated.tree)}"
        return part(
            Kind.WORKLOAD_CASE,
            {
                "operationSpecDigest": operation.digest,
                "axes": given_sizes,
                "tensors": concrete,
                "correctness": {"comparator": COMPARATOR},
                **({"scalars": scalars} if scalars else {}),
            },
            name=f"{operation.tree['metadata']['name'][:191]}-{name_of(workload.text('uuid')[:8])}",
            title=title,
        )

    def _trace(self, trace: Fields, told: Told) -> Iterator[Parsed]:
        dialect, definition = self._dialect, trace.text("definition")
        operation = told.operation(dialect.name, definition, name_of(definition))
        if operation is None:
            remedy = "import its file with it, or name it with --kernel"
            raise trace.fault("definition", f"definition {definition} is not known", remedy=remedy)
        workload = self._workload(trace.within("workload"), operation)
        if trace.get("evaluation") is None:
            yield Record(row=_row(trace.tree), bundle={"operation": operation.tree, "workload": workload.tree})
            return
        published = trace.within("evaluation").within("environment").text("hardware")
        if not hardware(published).known:
            yield Noted(f"hardware {published!r} is in no table of names: kept as published")
        yield self._record(trace, operation, workload, told)

    def _record(self, trace: Fields, operation: Part, workload: Part, told: Told) -> Record:
        evaluation = trace.within("evaluation")
        implementation, project = self._implementation(trace, operation, told)
        environment = environment_part(evaluation.within("environment"))
        log = evaluation.text("log") if evaluation.get("log") else ""
        references = {
            "implementationDigest": implementation.digest,
            "workloadDigest": workload.digest,
            "protocolDigest": self._protocol.digest,
            "environmentDigest": environment.digest,
        }
        outcome = self._outcome(evaluation, trace.text("definition"), log)
        run = self._run(trace, {**references, **outcome, "observedAt": evaluation.instant("timestamp", told.now)})
        return Record(
            row=_row(trace.tree),
            operation=operation.digest,
            log=log,
            bundle=bundle(
                run,
                {"source": self._dialect.slug, "externalId": _row(trace.tree)},
                project=project,
                operation=operation,
                workload=workload,
                implementation=implementation,
                protocol=self._protocol,
                environment=environment,
            ),
        )

    def _run(self, trace: Fields, spec: dict[str, Json]) -> Part:
        definition, uuid = trace.text("definition"), trace.within("workload").text("uuid")
        published = trace.within("evaluation").within("environment").text("hardware")
        return part(
            Kind.BENCHMARK_RUN,
            spec,
            name=f"sol-trace-{name_of(definition)[:180]}-{name_of(uuid[:8])}",
            title=f"{trace.text('solution')} · {definition}",
            labels=given(hardware=published if published != hardware(published).product else None),
        )

    def _outcome(self, evaluation: Fields, definition: str, log: str) -> dict[str, Json]:
        status = _STATUSES.get(evaluation.text("status"))
        if status is None:
            raise evaluation.fault("status", f"{evaluation.text('status')} is no status that we know")
        native: dict[str, Json] = {"source": self._dialect.slug, "benchmark": definition}
        outcome: dict[str, Json] = {"status": status, "sourceNative": native}
        if evaluation.get("correctness") is not None:
            outcome["correctness"] = correctness(evaluation.within("correctness"))
        if evaluation.get("performance") is not None:
            performance = evaluation.within("performance")
            outcome |= self._latency(performance)
            native["metrics"] = {name: plain(performance.number(name)) for name in _METRICS if performance.get(name)}
        elif status == "passed":
            raise evaluation.fault("performance", "is missing, though the run passed")
        if log:
            digest = text_digest(log)
            outcome["evidence"] = {"logs": {"uri": f"kernelindex:artifact/{digest}", "digest": digest}}
        return outcome

    def _latency(self, performance: Fields) -> dict[str, Json]:
        latency, statistic = performance.nanoseconds("latency_ms", "ms"), self._dialect.statistic
        if statistic == "unspecified":
            return {"measurements": [{"metric": "latency", "unit": "ns", "statistic": statistic, "value": latency}]}
        return {"timing": {"primaryStatistic": statistic, "latencyNs": {statistic: latency}}}

    def _implementation(self, trace: Fields, operation: Part, told: Told) -> tuple[Part, Part | None]:
        name = trace.text("solution")
        stated = told.fact(self._dialect.name, "solution", f"{trace.text('definition')}/{name}")
        if stated is None:
            if self._dialect.solution_needed:
                remedy = "import its file with it, or name it with --kernel: it says whose the code is"
                raise trace.fault("solution", f"solution {name} is not known", remedy=remedy)
            return known_by_name(name, operation), None
        solution = Fields(stated)
        dialect = self._dialect
        project = project_part(dialect.slug, dialect.repository, solution.text("author"))
        return solution_part(dialect, solution, operation, told), project


def _row(tree: dict[str, Any]) -> str:
    workload = tree.get("workload")
    uuid = workload.get("uuid") if isinstance(workload, dict) else tree.get("uuid")
    return "/".join(str(one) for one in (tree.get("definition") or tree.get("name"), tree.get("solution"), uuid) if one)


def _solution_key(document: Document) -> str:
    return f"{document['definition']}/{document['name']}"
