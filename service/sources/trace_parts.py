"""The manifests behind a trace: protocol, environment, solution, project."""

from functools import lru_cache
from typing import Any, Final

import msgspec

from domain.json_text import Json
from domain.manifests import Kind
from service.sources.base import Told
from service.sources.hardware import UNKNOWN, hardware
from service.sources.manifests import Part, given, name_of, one_line, part, prose, text_digest
from service.sources.shapes import input_dtypes
from service.sources.values import Fields, plain

COMPARATOR: Final = "sol_execbench_eval"


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


def refs(dialect: Dialect, told: Told, path: str) -> list[Json]:
    """Where in the data set something was read, if the revision is known."""
    return [{"url": f"{dialect.dataset}/blob/{told.revision}/{path}"}] if dialect.dataset and told.revision else []


def without_body(source: dict[str, Any]) -> dict[str, Any]:
    """A source file with its digest and size in place of its text."""
    content = source.get("content")
    if not isinstance(content, str):
        return source
    digest, size = text_digest(content), len(content.encode("utf-8", "surrogatepass"))
    return {"path": source.get("path"), "contentDigest": digest, "sizeBytes": size}


def solution_part(dialect: Dialect, solution: Fields, operation: Part, told: Told) -> Part:
    """The implementation that a solution is."""
    spec, name = solution.within("spec"), solution.text("name")
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
        sourceRefs=refs(dialect, told, where),
    )


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


def scalar(made: Fields) -> Json:
    """The value of a scalar input."""
    value = made.get("value")
    return int(value) if isinstance(value, bool) else plain(made.number("value"))


def correctness(stated: Fields) -> dict[str, Json]:
    """How far the results were off; what is not a number is left out."""
    errors = {"maximumAbsoluteError": "max_absolute_error", "maximumRelativeError": "max_relative_error"}
    found = {field: stated.optional_number(name) for field, name in errors.items()}
    return {"comparator": COMPARATOR, **{field: plain(one) for field, one in found.items() if one is not None}}


def known_by_name(name: str, operation: Part) -> Part:
    """The implementation of a solution of which there is nothing but the name."""
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


def environment_part(stated: Fields) -> Part:
    """The environment, as the trace reports it."""
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


def protocol_part(dialect: Dialect) -> Part:
    """The protocol by which the benchmark measures."""
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
def project_part(slug: str, repository: str | None, author: str) -> Part:
    """The project of an author of solutions."""
    short = slug.removesuffix("-bench")
    if repository:
        host: dict[str, Json] = {"kind": "huggingface", "id": repository.partition("/datasets/")[2]}
        name = "FlashInfer-Bench baselines" if author == "baseline" else author
        spec: dict[str, Json] = {"name": name, "repository": repository, "host": host}
    else:
        spec = {"name": author, "host": {"kind": "other", "id": f"{slug}/author/{author}"}}
    return part(Kind.SOFTWARE_PROJECT, spec, name=name_of(short, author))
