"""What the problems of GPU MODE's KernelBot compute, as far as we know it by heart.

Its data set names a problem and describes it in prose. One that is not here and that nobody described with ``--kernel``
is an operation of which no more than its name is known.
"""

from functools import lru_cache
from typing import Any, Final

from domain.manifests import Kind
from service.sources.manifests import Part, name_of, part

_TASKS: Final = "https://github.com/gpu-mode/reference-kernels/blob/main/problems"
_VARIABLE: Final = {"role": "variable", "type": "integer"}


def _tensor(name: str, dtype: str, shape: list[str], layout: str) -> dict[str, Any]:
    return {"name": name, "tensor": {"shape": shape, "dtype": dtype, "layout": layout}}


_FP8_MM: Final[dict[str, Any]] = {
    "family": "gemm",
    "axes": {
        **dict.fromkeys(("m", "n", "k", "seed"), _VARIABLE),
        "k_blocks": {"role": "derived", "type": "integer", "expression": "k // 128"},
        "n_blocks": {"role": "derived", "type": "integer", "expression": "n // 128"},
    },
    "inputs": [
        _tensor("a", "fp8_e4m3fnuz", ["m", "k"], "col_major"),
        _tensor("b", "fp8_e4m3fnuz", ["n", "k"], "col_major"),
        _tensor("a_scale", "fp32", ["m", "k_blocks"], "col_major"),
        _tensor("b_scale", "fp32", ["n_blocks", "k_blocks"], "col_major"),
    ],
    "outputs": [_tensor("c", "bf16", ["m", "n"], "row_major")],
    "semantics": {"mutation": "none", "determinism": "unspecified"},
}
_KNOWN: Final = {
    "amd-fp8-mm": part(
        Kind.OPERATION_SPEC,
        _FP8_MM,
        name="gpumode-amd-fp8-mm",
        title="AMD FP8 blockwise GEMM",
        description="Matrix product of A (m×k) and B (n×k), both e4m3fnuz in column-major order with fp32 scales for"
        " blocks of 128, into C (m×n), bf16 in row-major order.",
        sourceRefs=[{"url": f"{_TASKS}/amd/fp8-mm/task.yml"}],
    )
}


def known(problem: str) -> Part | None:
    """The operation of a problem that we know."""
    return _KNOWN.get(problem)


@lru_cache(maxsize=256)
def named_only(problem: str) -> Part:
    """The operation of a problem of which only the name is known: KernelBot calls every one as ``f(data)``."""
    spec = {
        "family": "unspecified",
        "axes": {},
        "inputs": [{"name": "data"}],
        "outputs": [{"name": "output"}],
        "semantics": {
            "expression": f"KernelBot problem {problem}",
            "mutation": "none",
            "determinism": "unspecified",
        },
    }
    return part(Kind.OPERATION_SPEC, spec, name=f"gpumode-{name_of(problem)}", title=problem)


@lru_cache(maxsize=256)
def suite_named_only(problem: str, operation: str) -> Part:
    """The benchmarks of a problem whose list is not known, as one case that has the problem's name."""
    spec = {
        "operationSpecDigest": operation,
        "cases": [{"externalId": problem, "axes": {}}],
        "correctness": {"comparator": "kernelbot_eval"},
        "aggregation": {"metric": "score", "statistic": "geomean"},
    }
    name, title = f"gpumode-{name_of(problem)}-suite", f"{problem} · leaderboard suite"
    return part(Kind.WORKLOAD_SUITE, spec, name=name, title=title)
