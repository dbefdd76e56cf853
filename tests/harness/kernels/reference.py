"""RMSNorm, as written in its definition: output = x * rsqrt(mean(x^2, axis=-1) + epsilon) * weight."""

import math


def reference(*, tokens: int, hidden: int, x: list[float], weight: list[float], epsilon: float) -> list[float]:
    output: list[float] = []
    for token in range(tokens):
        row = x[token * hidden : (token + 1) * hidden]
        total = 0.0
        for value in row:
            total += value * value
        scale = 1.0 / math.sqrt(total / hidden + epsilon)
        output += [row[column] * scale * weight[column] for column in range(hidden)]
    return output
