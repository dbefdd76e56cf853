"""NVIDIA SOL-ExecBench: traces as its own runner writes them."""

from typing import Final

from service.sources.base import Document, Source
from service.sources.trace_parts import COMPARATOR, Dialect
from service.sources.traces import Traces, kind_of, resembles

_TRACES: Final = Traces(
    Dialect(
        name="sol-traces",
        slug="sol-execbench",
        harness={"name": "sol-execbench", "repository": "https://github.com/NVIDIA/SOL-ExecBench"},
        comparator=COMPARATOR,
        family="sol_execbench_trace",
        protocol_title="SOL-ExecBench trace harness",
        statistic="unspecified",
    )
)


def recognises(document: Document) -> bool:
    """Whether this is surely one of ours: FlashInfer-Bench writes nearly the same."""
    kind = kind_of(document)
    if kind == "definition":
        return "custom_inputs_entrypoint" in document and "tags" not in document
    if kind == "solution":
        return "languages" in (document["spec"] or {})
    correctness = (document.get("evaluation") or {}).get("correctness") if kind == "trace" else None
    return isinstance(correctness, dict) and "has_nan" in correctness


SOURCE = Source(
    name="sol-traces",
    slug="sol-execbench",
    version="1",
    reads="SOL-ExecBench's own traces: definitions, solutions, workloads and trace lines",
    needs="the definition of each trace, in the same import or with --kernel; its solution where there is one",
    conventions=(
        "the statistic of latency_ms is unspecified, for the traces don't say; so it is no median and no mean",
        "names of axes and tensors are written in lower case",
        "hardware is a product without an architecture, for traces state none",
        "an implementation whose solution is not there is known by its name alone",
        "no licence: the traces state none",
    ),
    recognises=recognises,
    resembles=resembles,
    parse=_TRACES.parse,
    learn=_TRACES.learn,
)
