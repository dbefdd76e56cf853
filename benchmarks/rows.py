"""What the scripts of this folder have measured: a row says one thing, and what it should be.

A script prints its rows for the reader and, by :func:`tell`, a line for each that ``__main__`` finds in its output.
"""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

MARK: Final = "row: "


class Row(msgspec.Struct, frozen=True):
    """One measure. Without a ``target`` it is told for comparison only."""

    part: str
    measure: str
    value: float
    target: float | None = None
    bound: Literal["at least", "at most"] = "at least"

    @property
    def verdict(self) -> str:
        """Whether the target is met."""
        if self.target is None:
            return ""
        met = self.value >= self.target if self.bound == "at least" else self.value <= self.target
        return "met" if met else "missed"


def tell(*rows: Row) -> None:
    """Print rows for ``__main__``."""
    for row in rows:
        print(MARK + msgspec.json.encode(row).decode(), flush=True)


def rows_in(output: str) -> list[Row]:
    """The rows in what a script printed."""
    lines = (line for line in output.splitlines() if line.startswith(MARK))
    return [msgspec.json.decode(line.removeprefix(MARK), type=Row) for line in lines]


def table(rows: Iterable[Row]) -> str:
    """The rows as a table."""
    lines = ["| part | measure | value | target | |", "|---|---|---:|---:|---|"]
    for row in rows:
        target = "" if row.target is None else f"{row.bound} {row.target:,g}"
        value = f"{row.value:,.2f}" if row.value < 100 else f"{row.value:,.0f}"
        lines.append(f"| {row.part} | {row.measure} | {value} | {target} | {row.verdict} |")
    return "\n".join(lines)
