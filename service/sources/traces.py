"""The trace format that FlashInfer-Bench and SOL-ExecBench share: definitions, solutions, workloads, evaluations."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec

from domain.json_text import Json
from domain.manifests import Kind
from service.sources.base import Document, Fact, Noted, Parsed, Record, Skipped, Told
from service.sources.hardware import UNKNOWN, hardware
from service.sources.manifests import Part, bundle, given, name_of, one_line, part, prose, text_digest, title_of
from service.sources.rows import each
from service.sources.shapes import axes, input_dtypes, parameters, sizes, tensors
from service.sources.values import Fields, plain

COMPARATOR: Final = "sol_execbench_eval"
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


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between the benchmarks that write traces.

    ``statistic`` is what the benchmark says that its latency is. ``licence`` is that of the whole data set.
    """

    name: str
    slug: str
    harness: dict[str, Json]
    comparator: str
    family: str
    protocol_title: str
    statistic: str
    repository: str | None = None
    dataset: str | None = None
    licence: str | None = None
    solution_needed: bool = False


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
        self._protocol = _protocol(dialect)

    def learn(self, document: Document, told: Told) -> Iterator[Fact]:
        """Definitions and solutions are what traces refer to."""
        kind = kind_of(document)
        if kind == "definition":
            yield "operation", document["name"], self._operation(Fields(document), told)
        elif kind == "solution":
            # Its code is only needed for its digest: a thousand solutions are not to be kept whole.
            sources = [_without_body(one) for one in document["sources"] if isinstance(one, dict)]
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
            sourceRefs=self._refs(told, "definitions"),
        )

    def _refs(self, told: Told, path: str) -> list[Json]:
        dataset = self._dialect.dataset
        return [{"url": f"{dataset}/blob/{told.revision}/{path}"}] if dataset and told.revision else []

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
                scalars[key] = {"dtype": types.get(key, UNKNOWN), "value": _scalar(made)}
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
        evaluation, solution = trace.within("evaluation"), trace.text("solution")
        published = evaluation.within("environment").text("hardware")
        if not hardware(published).known:
            yield Noted(f"hardware {published!r} is in no table of names: kept as published")
        implementation, project = self._implementation(trace, solution, operation, told)
        environment = _environment(evaluation.within("environment"))
        log = evaluation.text("log") if evaluation.get("log") else ""
        run = part(
            Kind.BENCHMARK_RUN,
            {
                "implementationDigest": implementation.digest,
                "workloadDigest": workload.digest,
                "protocolDigest": self._protocol.digest,
                "environmentDigest": environment.digest,
                "observedAt": evaluation.instant("timestamp", told.now),
                **self._outcome(evaluation, definition, log),
            },
            name=f"sol-trace-{name_of(definition)[:180]}-{name_of(trace.within('workload').text('uuid')[:8])}",
            title=f"{solution} · {definition}",
            labels=given(hardware=published if published != hardware(published).product else None),
        )
        yield Record(
            row=_row(trace.tree),
            operation=operation.digest,
            log=log,
            bundle=bundle(
                run,
                {"source": dialect.slug, "externalId": _row(trace.tree)},
                project=project,
                operation=operation,
                workload=workload,
                implementation=implementation,
                protocol=self._protocol,
                environment=environment,
            ),
        )

    def _outcome(self, evaluation: Fields, definition: str, log: str) -> dict[str, Json]:
        status = _STATUSES.get(evaluation.text("status"))
        if status is None:
            raise evaluation.fault("status", f"{evaluation.text('status')} is no status that we know")
        native: dict[str, Json] = {"source": self._dialect.slug, "benchmark": definition}
        outcome: dict[str, Json] = {"status": status, "sourceNative": native}
        if evaluation.get("correctness") is not None:
            outcome["correctness"] = _correctness(evaluation.within("correctness"))
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

    def _implementation(self, trace: Fields, name: str, operation: Part, told: Told) -> tuple[Part, Part | None]:
        stated = told.fact(self._dialect.name, "solution", f"{trace.text('definition')}/{name}")
        if stated is None:
            if self._dialect.solution_needed:
                remedy = "import its file with it, or name it with --kernel: it says whose the code is"
                raise trace.fault("solution", f"solution {name} is not known", remedy=remedy)
            return _known_by_name(name, operation), None
        solution = Fields(stated)
        return self._solution(solution, operation, told), self._project(solution.text("author"))

    def _solution(self, solution: Fields, operation: Part, told: Told) -> Part:
        dialect, spec, name = self._dialect, solution.within("spec"), solution.text("name")
        path, _, symbol = spec.text("entry_point").partition("::")
        targets = spec.texts("target_hardware")
        family = operation.spec["family"].replace("-", "_")
        where = f"solutions/{solution.text('author')}/{family}/{solution.text('definition')}/{name}.json"
        licence = given(declared=dialect.licence, concluded=dialect.licence)
        return part(
            Kind.IMPLEMENTATION_REVISION,
            {
                "projectRevision": given(repository=dialect.repository, commit=told.revision)
                if told.revision and dialect.repository
                else {"version": name},
                "operation": {"specDigest": operation.digest},
                "callable": given(language=_language(spec), path=path, symbol=symbol or None),
                "support": {
                    "hardwareArchitectures": sorted({_architecture(target) for target in targets}),
                    "productsTested": sorted({hardware(target).product for target in targets}),
                    "dtypes": input_dtypes(operation.spec),
                },
                "licensing": licence,
                **given(source=_source(solution, path)),
            },
            name=name_of(name),
            title=name,
            description=prose(solution.optional_text("description") or "", 2000),
            authors=[{"name": one_line(solution.text("author"), 200)}],
            sourceRefs=self._refs(told, where),
        )

    def _project(self, author: str) -> Part:
        dialect = self._dialect
        return _project_of(dialect.slug, dialect.repository, author)


def _row(tree: dict[str, Any]) -> str:
    workload = tree.get("workload")
    uuid = workload.get("uuid") if isinstance(workload, dict) else tree.get("uuid")
    return "/".join(str(one) for one in (tree.get("definition") or tree.get("name"), tree.get("solution"), uuid) if one)


def _solution_key(document: Document) -> str:
    return f"{document['definition']}/{document['name']}"


def _without_body(source: dict[str, Any]) -> dict[str, Any]:
    content = source.get("content")
    if not isinstance(content, str):
        return source
    digest, size = text_digest(content), len(content.encode("utf-8", "surrogatepass"))
    return {"path": source.get("path"), "contentDigest": digest, "sizeBytes": size}


def _source(solution: Fields, entry: str) -> Json:
    """The file that is called. Where the code was left out of it, its digest and size may stand beside the path."""
    for source in solution.items("sources"):
        if source.get("path") == entry and source.get("contentDigest"):
            found = {"contentDigest": source.text("contentDigest"), "fileName": entry.rpartition("/")[2]}
            return {**found, **({"sizeBytes": source.integer("sizeBytes")} if source.get("sizeBytes") else {})}
    return None


def _language(spec: Fields) -> str:
    stated = [spec.text("language")] if spec.get("language") else spec.texts("languages")
    return name_of(stated[0]).replace("-", "_") if stated else UNKNOWN


def _architecture(target: str) -> str:
    """Of a target such as ``B200``. A product's whole name is kept for what it says: a product, no architecture."""
    found = hardware(target)
    return UNKNOWN if found.vendor in target.lower() else found.architecture


def _scalar(made: Fields) -> Json:
    value = made.get("value")
    return int(value) if isinstance(value, bool) else plain(made.number("value"))


def _correctness(stated: Fields) -> dict[str, Json]:
    errors = {"maximumAbsoluteError": "max_absolute_error", "maximumRelativeError": "max_relative_error"}
    found = {field: stated.optional_number(name) for field, name in errors.items()}
    return {"comparator": COMPARATOR, **{field: plain(one) for field, one in found.items() if one is not None}}


def _known_by_name(name: str, operation: Part) -> Part:
    return part(
        Kind.IMPLEMENTATION_REVISION,
        {
            "projectRevision": {"version": name},
            "operation": {"specDigest": operation.digest},
            "callable": {"language": UNKNOWN},
            "support": {"hardwareArchitectures": [UNKNOWN], "dtypes": input_dtypes(operation.spec)},
            "licensing": {},
        },
        name=name_of(name),
        title=name,
    )


def _environment(stated: Fields) -> Part:
    libraries = stated.within("libs").tree if stated.get("libs") else {}
    return _environment_of(stated.text("hardware"), tuple((str(name), str(one)) for name, one in libraries.items()))


@lru_cache(maxsize=256)
def _environment_of(published: str, libraries: tuple[tuple[str, str], ...]) -> Part:
    found, versions = hardware(published), dict(libraries)
    ordered = [name for name in ("torch", "triton", "cuda") if name in versions]
    software: dict[str, Json] = {}
    if "torch" in versions:
        software["framework"] = {"name": "pytorch", "version": versions["torch"]}
    if "cuda" in versions:
        software["cudaToolkit"] = versions["cuda"]
    others = {name_of(name).replace("-", "_"): one for name, one in versions.items() if name not in ("torch", "cuda")}
    if others:
        software["libraries"] = dict(sorted(others.items()))
    spec = {
        # Traces name a product, never an architecture.
        "hardware": {"vendor": found.vendor, "product": found.product, "architecture": UNKNOWN},
        "software": software,
    }
    name = name_of("sol-trace", found.product, *(versions[name] for name in ordered))
    title = f"{found.product} (trace-reported software)"
    return part(Kind.EXECUTION_ENVIRONMENT, spec, name=name, title=title)


def _protocol(dialect: Dialect) -> Part:
    spec = {
        "harness": dialect.harness,
        "measurement": {"timer": "harness_reported", "primaryStatistic": dialect.statistic},
        "correctness": {"reference": "definition reference implementation", "comparator": dialect.comparator},
        "comparability": {"family": dialect.family},
    }
    return part(
        Kind.BENCHMARK_PROTOCOL,
        spec,
        name=name_of(dialect.family.removesuffix("_trace"), "trace"),
        title=dialect.protocol_title,
    )


@lru_cache(maxsize=256)
def _project_of(slug: str, repository: str | None, author: str) -> Part:
    short = slug.removesuffix("-bench")
    if repository:
        host: dict[str, Json] = {"kind": "huggingface", "id": repository.partition("/datasets/")[2]}
        name = "FlashInfer-Bench baselines" if author == "baseline" else author
        spec: dict[str, Json] = {"name": name, "repository": repository, "host": host}
    else:
        spec = {"name": author, "host": {"kind": "other", "id": f"{slug}/author/{author}"}}
    return part(Kind.SOFTWARE_PROJECT, spec, name=name_of(short, author))
