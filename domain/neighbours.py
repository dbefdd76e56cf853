"""The nearest cases of one operation: those that differ in the size of exactly one axis, and in nothing else.

They are neighbours of what was asked for, never an answer to it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from domain.identity import canonical_json


class Case(msgspec.Struct, frozen=True):
    """A workload case: its digest, the sizes of its axes, and all else that it fixes, as one text."""

    digest: str
    axes: Mapping[str, int]
    rest: bytes


class Neighbour(msgspec.Struct, frozen=True):
    """A case with another size of one axis. ``wanted`` is the size that was asked for, ``size`` its own."""

    digest: str
    axis: str
    wanted: int
    size: int


FOLLOWS: Final = frozenset({"shape", "strides", "seed", "artifact"})
"""What of a tensor changes with the sizes of the axes: its extent, and the very numbers in it."""


def case_of(digest: str, spec: Mapping[str, Any]) -> Case:
    """A workload case as it is compared."""
    tensors = {name: _fixed(tensor) for name, tensor in spec["tensors"].items()}
    rest = {**spec, "axes": sorted(spec["axes"]), "tensors": tensors}
    return Case(digest, spec["axes"], canonical_json(rest))


def _fixed(part: Any) -> Any:
    if isinstance(part, Mapping):
        return {key: _fixed(value) for key, value in part.items() if key not in FOLLOWS}
    return part


def nearest(wanted: Case, cases: Iterable[Case]) -> list[Neighbour]:
    """On each axis the neighbour with the next smaller size and that with the next larger one, by axis and size.

    Several cases of one such size are all given: they differ in shapes or data, which follow from the sizes.
    """
    best: dict[tuple[str, bool], list[Neighbour]] = {}
    for neighbour in _along_one_axis(wanted, cases):
        side = (neighbour.axis, neighbour.size > neighbour.wanted)
        known = best.get(side, [])
        if not known or _distance(neighbour) < _distance(known[0]):
            best[side] = [neighbour]
        elif neighbour.size == known[0].size:
            known.append(neighbour)
    return sorted((one for side in best.values() for one in side), key=lambda one: (one.axis, one.size, one.digest))


def _along_one_axis(wanted: Case, cases: Iterable[Case]) -> Iterator[Neighbour]:
    for case in cases:
        if case.rest != wanted.rest:
            continue
        differing = [axis for axis, size in wanted.axes.items() if case.axes[axis] != size]
        if len(differing) == 1:
            (axis,) = differing
            yield Neighbour(case.digest, axis, wanted.axes[axis], case.axes[axis])


def _distance(neighbour: Neighbour) -> int:
    return abs(neighbour.size - neighbour.wanted)
