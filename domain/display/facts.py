"""The lines of a record's page: what each part of it states, as key and value.

Keys are the manifests' own field names. Values keep the manifests' vocabulary; numbers are exact, a boolean reads
``yes`` or ``no``, and what a manifest does not state has no line.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from domain.display.names import external_id_text
from domain.display.quantities import format_value
from domain.identity import hex_of, short_id
from domain.measurements import Measurement, decimal_of, decimal_text

SEPARATOR: Final = " · "
KEY_DIGITS: Final = 16
DIGEST_DIGITS: Final = 23
NO_KEY: Final = "none while the workload is unresolved"

TOLERANCES: Final = ("maxAbsoluteError", "maxRelativeError", "requiredMatchedRatio", "nanPolicy", "infinityPolicy")
MEASURED_BEFORE_REFERENCE: Final = (
    "timer",
    "synchronization",
    "compileIncluded",
    "warmupIterations",
    "measuredIterations",
    "samples",
    "inputRegeneration",
    "primaryStatistic",
    "outlierPolicy",
)


class Line(NamedTuple):
    """One line of a page."""

    key: str
    value: str


def identity_facts(
    *,
    digest: str,
    implementation_digest: str,
    workload: str,
    source: str,
    source_name: str,
    implementation: str | None = None,
    project: str | None = None,
    project_digest: str | None = None,
    revision: str | None = None,
    comparison_key: str | None = None,
    external_id: str | None = None,
) -> list[Line]:
    """Who and what a run is, in the order of its page.

    ``implementation``, ``revision`` and ``workload`` are as :mod:`domain.display.names` and :func:`workload_label`
    give them, ``source`` is the slug and ``source_name`` the name of the source. ``implementation`` and ``project``
    are None where they are not registered, ``comparison_key`` until the workload is; their lines then say so.
    """
    lines = [
        Line("implementation", implementation or _unresolved("implementation", implementation_digest)),
        Line("project", project or _unresolved("project", project_digest, implementation)),
        Line("revision", revision or _unresolved("revision", None, implementation)),
        Line("workload", workload),
        Line("comparison key", _shortened(comparison_key, KEY_DIGITS) if comparison_key else NO_KEY),
        Line("source", source_name),
    ]
    if external_id:
        lines.append(Line("external id", external_id_text(source, external_id)))
    return [*lines, Line("digest", _shortened(digest, DIGEST_DIGITS))]


def workload_label(digest: str, spec: Mapping[str, Any] | None) -> str:
    """``suite of 16 cases · mean latency``, or a case's axes by name and its tensors' dtypes.

    ``spec`` is None where the workload is not registered.
    """
    if spec is None:
        return _unresolved("workload", digest)
    if "cases" in spec:
        count, aggregation = len(spec["cases"]), spec["aggregation"]
        cases = "1 case" if count == 1 else f"{count} cases"
        return f"suite of {cases}{SEPARATOR}{aggregation['statistic']} {aggregation['metric']}"
    dtypes = sorted({tensor["dtype"] for tensor in spec.get("tensors", {}).values()})
    parts = [*_axes(spec), *([", ".join(dtypes)] if dtypes else [])]
    return SEPARATOR.join(parts) or f"case {short_id(digest)}"


def workload_facts(spec: Mapping[str, Any]) -> list[Line]:
    """Axes, tensors and scalars of a case; then comparator, and tolerances or the suite's description."""
    axes = SEPARATOR.join(_axes(spec))
    correctness = spec.get("correctness", {})
    return [
        *([Line("axes", axes)] if axes else []),
        *(Line(f"tensor {name}", _tensor(tensor)) for name, tensor in sorted(spec.get("tensors", {}).items())),
        *(
            Line(f"scalar {name}", f"{scalar['dtype']} {value_text(scalar['value'])}")
            for name, scalar in sorted(spec.get("scalars", {}).items())
        ),
        *_stated(correctness, ("comparator", *TOLERANCES, "description")),
    ]


def protocol_facts(spec: Mapping[str, Any]) -> list[Line]:
    """How it was measured."""
    harness = spec["harness"]
    return [
        Line("harness", _joined(harness["name"], harness.get("version"))),
        *_stated(spec["measurement"], MEASURED_BEFORE_REFERENCE),
        *_renamed(spec.get("correctness", {}), {"reference": "correctnessReference"}),
        *_renamed(spec.get("comparability", {}), {"family": "comparabilityFamily"}),
    ]


def environment_facts(spec: Mapping[str, Any]) -> list[Line]:
    """Where it was measured. ``memoryBytes`` is in bytes, exact."""
    hardware, software = spec["hardware"], spec["software"]
    framework = software.get("framework")
    return [
        Line("gpu", f"{hardware['product']} ({hardware['architecture']})"),
        *_renamed(hardware, {"count": "gpuCount", "memoryBytes": "memoryBytes"}),
        *_stated(software, ("operatingSystem", "driver", "cudaToolkit")),
        *([Line("framework", _joined(framework["name"], framework["version"]))] if framework else []),
        *_stated(software, ("compiler",)),
        *_stated(spec.get("settings", {}), ("clocksLocked", "persistenceMode")),
        *_stated(spec, ("imageDigest",)),
    ]


def measurement_facts(measured: Iterable[Measurement]) -> list[Line]:
    """One line per measurement: ``latency · mean``, ``353.4 µs``."""
    return [Line(f"{one.metric}{SEPARATOR}{one.statistic}", format_value(one.value, one.unit)) for one in measured]


def _axes(spec: Mapping[str, Any]) -> list[str]:
    """By name, for canonical JSON keeps no other order."""
    return [f"{axis} = {value}" for axis, value in sorted(spec.get("axes", {}).items())]


def _tensor(tensor: Mapping[str, Any]) -> str:
    text = f"{tensor['dtype']} {_list(tensor['shape'])}"
    if "strides" in tensor:
        text += f" strides {_list(tensor['strides'])}"
    return text + (f" align {tensor['alignmentBytes']}" if "alignmentBytes" in tensor else "")


def _list(numbers: Sequence[int]) -> str:
    return f"[{', '.join(map(str, numbers))}]"


def _stated(part: Mapping[str, Any], keys: Iterable[str]) -> Iterator[Line]:
    return _renamed(part, {key: key for key in keys})


def _renamed(part: Mapping[str, Any], keys: Mapping[str, str]) -> Iterator[Line]:
    return (Line(shown, value_text(part[key])) for key, shown in keys.items() if key in part)


def value_text(value: Any) -> str:
    """A plain value as pages show it: text as it is, numbers exact, a boolean as ``yes`` or ``no``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else decimal_text(decimal_of(value))


def _joined(name: str, version: str | None) -> str:
    return f"{name} {version}" if version else name


def _unresolved(what: str, digest: str | None, implementation: str | None = None) -> str:
    """Why a line has no value: its manifest is missing, or the implementation's, or that one does not say."""
    if digest:
        return f"unresolved {what} {short_id(digest)}"
    return "not stated" if implementation else "unresolved implementation"


def _shortened(digest: str, digits: int) -> str:
    return f"sha256:{hex_of(digest)[:digits]}…"
