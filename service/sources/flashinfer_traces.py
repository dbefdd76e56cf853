"""FlashInfer-Bench: the traces of the data set flashinfer-ai/flashinfer-trace."""

from typing import Final

from service.sources.base import Document, Source
from service.sources.trace_parts import Dialect
from service.sources.traces import Traces, kind_of, resembles

_DATASET: Final = "https://huggingface.co/datasets/flashinfer-ai/flashinfer-trace"
_TRACES: Final = Traces(
    Dialect(
        name="flashinfer-traces",
        slug="flashinfer-bench",
        harness={"name": "flashinfer-bench", "repository": "https://github.com/flashinfer-ai/flashinfer-bench"},
        comparator="flashinfer_bench_eval",
        family="flashinfer_bench_trace",
        protocol_title="FlashInfer-Bench trace harness",
        statistic="mean",
        repository=_DATASET,
        dataset=_DATASET,
        licence="Apache-2.0",
        solution_needed=True,
    )
)


def recognises(document: Document) -> bool:
    """Whether this is surely one of ours: SOL-ExecBench writes nearly the same."""
    kind = kind_of(document)
    if kind == "definition":
        return "tags" in document
    if kind == "solution":
        return "language" in (document["spec"] or {})
    correctness = (document.get("evaluation") or {}).get("correctness") if kind == "trace" else None
    return isinstance(correctness, dict) and "extra" in correctness


SOURCE = Source(
    name="flashinfer-traces",
    slug="flashinfer-bench",
    version="1",
    reads="FlashInfer-Bench: definitions, solutions, workloads and trace lines",
    needs="the definition and the solution of each trace, in the same import or with --kernel;"
    " --revision, the commit of the data set that the files are of",
    conventions=(
        "latency_ms is the mean, as the benchmark computes it",
        "names of axes and tensors are written in lower case",
        "hardware is a product without an architecture, for traces state none",
        "the licence is that of the data set, Apache-2.0",
        "a trace whose solution is not there is refused: nothing else says whose code it is",
    ),
    recognises=recognises,
    resembles=resembles,
    parse=_TRACES.parse,
    learn=_TRACES.learn,
)
