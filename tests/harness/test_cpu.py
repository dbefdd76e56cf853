"""The CPU harness: what it computes does not depend on the machine, and what it can't do it says."""

import math
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.identity import digest_of
from domain.manifests import read_manifest
from tests.examples import manifest
from tests.harness import claims, cpu
from tests.harness.samples import interval_of_median, speedup, timing

FIRST_TWO = [-1.7957207107381599, -0.24963070978623944]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return claims.keep_sources(tmp_path / "sources")


def measured(kernel: str, sources: Path, family: str = "latency") -> dict[str, Any]:
    """The spec of the run that it makes of a kernel, in this process."""
    run = cpu.measured(claims.task(kernel, family), sources)["run"]
    return read_manifest(run).spec


def test_inputs_are_the_same_whoever_makes_them() -> None:
    made = cpu.inputs(claims.WORKLOAD.spec)
    assert made == cpu.inputs(deepcopy(claims.WORKLOAD.spec))
    assert made["x"][:2] == pytest.approx(FIRST_TWO, rel=1e-12)
    assert (len(made["x"]), len(made["weight"]), made["tokens"], made["epsilon"]) == (2048, 256, 8, 1e-6)


@pytest.mark.parametrize("kernel", ["fast", "slow"])
def test_a_right_kernel_passes_with_its_latency_and_an_interval(kernel: str, sources: Path) -> None:
    spec = measured(kernel, sources)
    assert (spec["status"], spec["correctness"]["matchedRatio"]) == ("passed", 1)
    latency = spec["timing"]["latencyNs"]
    low, high = latency["confidence95"]
    assert 0 < latency["minimum"] <= low <= latency["median"] <= high <= latency["maximum"]
    assert spec["timing"]["samples"] == 151


def test_a_wrong_kernel_has_no_latency(sources: Path) -> None:
    spec = measured("wrong", sources)
    assert spec["status"] == "incorrect_numerical"
    assert "timing" not in spec


SOURCE = "def rmsnorm(*, tokens, hidden, x, weight, epsilon):\n    "


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("def rmsnorm(:", "compile_error"),
        ("def another(): pass", "compile_error"),
        (SOURCE + "return x[10**9]", "runtime_error"),
        (SOURCE + "return {}['key']", "runtime_error"),
        (SOURCE + "return x[1:]", "incorrect_shape"),
        (SOURCE + "return None", "incorrect_shape"),
        (SOURCE + "return [1] * len(x)", "incorrect_dtype"),
        (SOURCE + "return [float('nan')] * len(x)", "incorrect_numerical"),
        (SOURCE + "print('hello'); return [0.0] * len(x)", "incorrect_numerical"),
    ],
)
def test_each_way_to_fail_has_its_status(source: str, status: str, sources: Path) -> None:
    digest = digest_of(source.encode())
    (sources / digest.removeprefix("sha256:")).write_text(source)
    task = claims.task("fast")
    tree = task["manifests"]["implementation"]
    tree["spec"]["source"]["contentDigest"] = digest
    task["manifests"]["run"]["spec"]["implementationDigest"] = read_manifest(tree).digest
    assert cpu.measured(task, sources)["run"]["spec"]["status"] == status


def test_a_kernel_that_changes_its_answer_after_the_first_call_is_caught(sources: Path) -> None:
    calls = []

    def kernel(**given: Any) -> list[float]:
        calls.append(1)
        output: list[float] = reference(**given) if len(calls) < 20 else given["x"]
        return output

    reference = cpu.load(sources, claims.digest("reference"), "reference")
    case = cpu.Case(claims.implementation("fast").spec, claims.WORKLOAD.spec, claims.protocol("latency").spec)
    arguments = cpu.inputs(claims.WORKLOAD.spec)
    timed = cpu.run(kernel, arguments, reference(**arguments), reference, case)
    assert timed.checked.status == "incorrect_numerical"


def changed(name: str, **changes: Any) -> dict[str, Any]:
    """A task whose manifest of that name, and run, say something else."""
    task = claims.task("fast")
    tree = task["manifests"][name]
    for path, value in changes.items():
        *steps, last = path.split("__")
        node = tree["spec"]
        for step in steps:
            node = node[step]
        node[last] = value
    task["manifests"]["run"]["spec"][f"{name}Digest"] = read_manifest(tree).digest
    return task


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("protocol", {"measurement__timer": "device_events"}),
        ("protocol", {"measurement__primaryStatistic": "p95"}),
        ("implementation", {"callable__language": "triton"}),
        ("workload", {"correctness__comparator": "bitwise"}),
        ("workload", {"tensors__x__dtype": "bf16"}),
        ("workload", {"tensors__x__data__generator": "file"}),
    ],
)
def test_what_it_does_not_do_it_says(name: str, changes: Mapping[str, Any], sources: Path) -> None:
    with pytest.raises(cpu.Unfit):
        cpu.measured(changed(name, **changes), sources)


def test_manifests_that_the_run_does_not_name_are_refused(sources: Path) -> None:
    task = claims.task("fast")
    task["manifests"]["implementation"] = claims.task("slow")["manifests"]["implementation"]
    with pytest.raises(cpu.Unfit, match="the implementation sent is"):
        cpu.measured(task, sources)


def test_a_file_that_is_not_what_it_is_kept_as_is_not_run(sources: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    (sources / claims.digest("fast").removeprefix("sha256:")).write_text(f"open({str(mark)!r}, 'w')")
    with pytest.raises(cpu.Unfit, match="has the digest"):
        cpu.measured(claims.task("fast"), sources)
    assert not mark.exists()


def test_another_machine_than_the_claims_brings_its_environment(sources: Path) -> None:
    hardware = {"vendor": "acme", "product": "Another", "architecture": "x"}
    other = manifest("ExecutionEnvironment", {"hardware": hardware, "software": {}})
    found = cpu.measured(claims.task("fast", environment=other), sources)
    assert found["run"]["spec"]["environmentDigest"] == read_manifest(found["environment"]).digest
    assert "environment" not in cpu.measured(claims.task("fast"), sources)


def test_closeness_is_absolute_plus_relative_to_the_reference() -> None:
    rule = {"comparator": "elementwise_close", "maxAbsoluteError": 0.1, "maxRelativeError": 0.01}
    assert cpu.check([100.0, 1.0], [101.0, 1.1], rule).status == "passed"
    assert cpu.check([100.0, 1.0], [101.2, 1.1], rule).status == "incorrect_numerical"
    some = cpu.check([100.0, 1.0], [101.2, 1.1], rule | {"requiredMatchedRatio": 0.5})
    assert some == (
        "passed",
        {"comparator": "elementwise_close", "matchedRatio": 0.5, "maximumAbsoluteError": pytest.approx(1.2)},
    )


@pytest.mark.parametrize(("count", "low", "high"), [(6, 1, 6), (10, 2, 9), (20, 6, 15), (100, 40, 61)])
def test_the_interval_of_the_median_is_that_of_the_tables(count: int, low: int, high: int) -> None:
    """Ranks of the two-sided 95% interval, as tables of the sign test have them."""
    assert interval_of_median(range(count, 0, -1)) == (low, high)


def test_five_samples_have_no_95_percent_interval() -> None:
    assert interval_of_median([1, 2, 3, 4, 5]) is None


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=200))
def test_timing_is_in_order_and_whole(samples: list[int]) -> None:
    latency = timing(samples, "median")["latencyNs"]
    assert latency["minimum"] <= latency["median"] <= latency["maximum"]
    low, high = latency.get("confidence95", (latency["median"], latency["median"]))
    assert latency["minimum"] <= low <= latency["median"] <= high <= latency["maximum"]


def test_speedup_is_the_median_of_the_pairs() -> None:
    """Not the ratio of the medians: a slow moment slows both of a pair."""
    found = speedup([20, 200, 30], [10, 100, 10])
    assert (found["value"], found["sampleCount"]) == (2, 3)
    assert math.isclose(speedup([1], [3])["value"], 0.333333)
