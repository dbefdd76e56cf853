"""Operations and workloads as most upstreams write them: named axes, and tensors whose shapes are over the axes."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from domain.json_text import Json
from service.sources.manifests import given
from service.sources.values import Fields

_DTYPES: Final = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "float32": "fp32",
    "float64": "fp64",
    "float8_e4m3fn": "fp8_e4m3",
    "float8_e4m3fnuz": "fp8_e4m3fnuz",
    "float8_e5m2": "fp8_e5m2",
}
_ROLES: Final = {"var": "variable", "const": "constant", "expr": "derived"}
_ARITHMETIC: Final[Mapping[type[ast.operator], Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def dtype(published: str) -> str:
    """The element type as manifests call it."""
    name = published.removeprefix("torch.").lower()
    return _DTYPES.get(name, name)


def axes(definition: Fields) -> dict[str, Json]:
    """The axes of an operation."""
    stated = definition.within("axes")
    found: dict[str, Json] = {}
    for name in stated.tree:
        axis = stated.within(name)
        role = _ROLES.get(axis.text("type"))
        if role is None:
            raise axis.fault("type", f"{axis.text('type')!r} is no kind of axis", remedy="var, const or expr")
        if name.lower() in found:
            raise stated.fault(name, "differs from another axis in capitals only")
        found[name.lower()] = given(
            role=role,
            type="integer",
            value=axis.integer("value") if role == "constant" else None,
            expression=axis.text("expression").lower() if role == "derived" else None,
        )
    return found


def parameters(definition: Fields, which: str) -> list[Json]:
    """The inputs or outputs of an operation. A shape of null is a scalar."""
    stated = definition.within(which)
    return [_parameter(name, stated.within(name)) for name in stated.tree]


def _parameter(name: str, stated: Fields) -> Json:
    element = dtype(stated.text("dtype"))
    if stated.get("shape") is None:
        return {"name": name.lower(), "scalar": {"dtype": element}}
    shape: list[Json] = [size.lower() if isinstance(size, str) else size for _, size in stated.rows("shape")]
    return {"name": name.lower(), "tensor": {"shape": shape, "dtype": element}}


def input_dtypes(operation: Mapping[str, Any]) -> list[str]:
    """The element types that go in, sorted."""
    stated = (one.get("tensor") or one.get("scalar") or {} for one in operation["inputs"])
    return sorted({one["dtype"] for one in stated if "dtype" in one})


def sizes(operation: Mapping[str, Any], given_sizes: Mapping[str, int]) -> dict[str, int]:
    """The size of every axis: those given, those that the operation fixes, those that follow."""
    known = dict(given_sizes)
    derived = {}
    for name, axis in operation["axes"].items():
        if axis["role"] == "constant":
            known.setdefault(name, axis["value"])
        elif "expression" in axis and name not in known:
            derived[name] = axis["expression"]
    for _ in range(len(derived)):
        for name, expression in derived.items():
            value = evaluated(expression, known)
            if value is not None:
                known[name] = value
    return known


def tensors(operation: Mapping[str, Any], known: Mapping[str, int]) -> dict[str, Any]:
    """The concrete input tensors, as far as all of their sizes are known."""
    found = {}
    for one in operation["inputs"]:
        tensor = one.get("tensor")
        if tensor is None:
            continue
        shape = [known.get(size) if isinstance(size, str) else size for size in tensor["shape"]]
        if None not in shape:
            found[one["name"]] = {"shape": shape, "dtype": tensor["dtype"]}
    return found


def evaluated(expression: str, known: Mapping[str, int]) -> int | None:
    """The value of arithmetic over axes; None where an axis is unknown, or where it is not arithmetic."""
    try:
        return _value(ast.parse(expression, mode="eval").body, known)
    except (SyntaxError, ValueError, LookupError, ZeroDivisionError, RecursionError):
        return None


def _value(node: ast.expr, known: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return known[name]
        case ast.BinOp(left=left, op=sign, right=right):
            return _ARITHMETIC[type(sign)](_value(left, known), _value(right, known))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, known)
    raise ValueError("not arithmetic")
