"""The nearest cases, against brute force."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from domain.neighbours import Case, Neighbour, case_of, nearest

sizes = st.integers(0, 4)
cases = st.builds(
    lambda m, n, k, rest, number: Case(f"{number:03}", {"m": m, "n": n, "k": k}, rest),
    sizes,
    sizes,
    sizes,
    st.sampled_from([b"x", b"x", b"y"]),
    st.integers(0, 999),
)


@given(cases, st.lists(cases, max_size=40, unique_by=lambda case: case.digest))
def test_each_is_the_nearest_on_its_side_of_its_axis_and_none_is_missing(wanted: Case, measured: list[Case]) -> None:
    expected = set()
    for axis in wanted.axes:
        along = [
            case
            for case in measured
            if case.rest == wanted.rest
            and case.axes[axis] != wanted.axes[axis]
            and all(case.axes[other] == wanted.axes[other] for other in wanted.axes if other != axis)
        ]
        below = [case.axes[axis] for case in along if case.axes[axis] < wanted.axes[axis]]
        above = [case.axes[axis] for case in along if case.axes[axis] > wanted.axes[axis]]
        chosen = {max(below, default=None), min(above, default=None)}
        expected |= {
            (case.digest, axis, wanted.axes[axis], case.axes[axis]) for case in along if case.axes[axis] in chosen
        }

    found = nearest(wanted, measured)

    assert {(one.digest, one.axis, one.wanted, one.size) for one in found} == expected
    assert len(found) == len(expected)
    assert found == sorted(found, key=lambda one: (one.axis, one.size, one.digest))


def spec(m: int, dtype: str = "bf16", **more: Any) -> dict[str, Any]:
    tensor = {"dtype": dtype, "shape": [m, 8], "data": {"generator": "normal", "seed": m}, **more}
    return {
        "operationSpecDigest": "sha256:1",
        "axes": {"m": m},
        "tensors": {"shape": tensor},
        "correctness": {"comparator": "exact"},
    }


def test_shapes_and_seeds_follow_from_the_sizes_and_data_types_do_not() -> None:
    wanted = case_of("wanted", spec(4))
    others = [
        case_of("near", spec(8)),
        case_of("other type", spec(8, "fp8")),
        case_of("aligned", spec(8, alignmentBytes=16)),
    ]

    assert nearest(wanted, others) == [Neighbour("near", "m", 4, 8)]
