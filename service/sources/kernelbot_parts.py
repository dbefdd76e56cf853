"""The manifests behind a KernelBot run: protocol, environment, and where the code is told by its digest."""

from functools import lru_cache
from typing import Final

from domain.json_text import Json
from domain.manifests import Kind
from service.sources.hardware import UNKNOWN, Hardware, hardware
from service.sources.manifests import Part, given, name_of, part, text_digest
from service.sources.values import Fields

_HARNESS: Final = {
    "name": "reference-kernels eval.py",
    "repository": "https://github.com/gpu-mode/reference-kernels",
}
COMPARATOR: Final = "kernelbot_eval"
_NOTES: Final = {
    "mean": "Per-case wall-clock statistics as published in the KernelBot dataset. Comparable only within one"
    " leaderboard problem and GPU type; runner software versions ride each run's labels.",
    "geomean": "Aggregate leaderboard score in seconds over the problem's published benchmark suite, as computed by the"
    " upstream ranked run. Comparable only within one leaderboard problem and runner type.",
}
# Runners are named after a card, a provider, or for the card's maker alone, where a competition had one card only.
_RUNNERS: Final = {"B200_Nebius": "B200", "NVIDIA": "B200"}


def source_of(row: Fields) -> Json:
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


def hardware_of(published: str | None) -> Hardware:
    """The card of a submission, by its name or its runner's; unspecified where neither is stated."""
    if published is None:
        return Hardware("unspecified", UNKNOWN, UNKNOWN, known=True)
    return hardware(_RUNNERS.get(published, published))


@lru_cache(maxsize=8)
def protocol_part(statistic: str) -> Part:
    """The protocol: per benchmark with its ``mean``, or the ``geomean`` of them all."""
    names = {
        "mean": ("gpumode-kernelbot-eval", "GPU MODE KernelBot evaluation harness"),
        "geomean": ("gpumode-kernelbot-leaderboard-geomean", "GPU MODE KernelBot ranked leaderboard run"),
    }
    name, title = names[statistic]
    spec: dict[str, Json] = {
        "harness": dict(_HARNESS),
        "measurement": {"timer": "wall_clock", "primaryStatistic": statistic},
        "correctness": {"reference": "problem reference implementation", "comparator": COMPARATOR},
        "comparability": {"family": "gpumode_kernelbot", "notes": _NOTES[statistic]},
    }
    return part(Kind.BENCHMARK_PROTOCOL, spec, name=name, title=title)


@lru_cache(maxsize=256)
def environment_part(vendor: str, product: str, architecture: str, runner: str | None) -> Part:
    """The environment, of which no more than the card or the runner is told."""
    form = f"runner:{runner}" if runner else None
    known = {"vendor": vendor, "product": product, "architecture": architecture, **given(formFactor=form)}
    name = f"gpumode-kernelbot-{name_of(runner or product)}"[:200].strip("-")
    title = f"KernelBot runner · {product}"
    return part(Kind.EXECUTION_ENVIRONMENT, {"hardware": known, "software": {}}, name=name, title=title)
