"""The same RMSNorm, which does all of its work four times over."""

from itertools import repeat
from math import sqrt
from operator import mul


def rmsnorm(*, tokens: int, hidden: int, x: list[float], weight: list[float], epsilon: float) -> list[float]:
    output: list[float] = []
    for _ in range(4):
        output.clear()
        for start in range(0, tokens * hidden, hidden):
            row = x[start : start + hidden]
            scale = 1.0 / sqrt(sum(map(mul, row, row)) / hidden + epsilon)
            output += map(mul, map(mul, row, repeat(scale)), weight)
    return output
