"""The lines of a record's page, beyond those that the seed pages have."""

from typing import Any

import pytest

from domain.display.correctness import OUTCOMES, comparison_text, correctness_text
from domain.display.facts import (
    Line,
    environment_facts,
    identity_facts,
    measurement_facts,
    protocol_facts,
    workload_facts,
    workload_label,
)
from domain.measurements import measurements

DIGEST = "sha256:e1793a36aa22ee61b13e51cddd44265054137a391737093c6683b5ffdbe96435"
OTHER = "sha256:387cdfa4047d7f7f03e27c17de09d86989e29b7e3187e5a8378cda967e88f5cd"

CASE: dict[str, Any] = {
    "operationSpecDigest": DIGEST,
    "axes": {"tokens": 2048, "hidden": 4096},
    "tensors": {
        "weight": {"shape": [4096], "dtype": "bf16", "strides": [1], "alignmentBytes": 16},
        "input": {"shape": [2048, 4096], "dtype": "bf16", "strides": [4096, 1]},
        "index": {"shape": [2048], "dtype": "int32", "alignmentBytes": 8},
    },
    "scalars": {"epsilon": {"dtype": "fp32", "value": 0.000001}},
    "correctness": {
        "infinityPolicy": "exact_match",
        "nanPolicy": "reject",
        "requiredMatchedRatio": 0.99,
        "maxRelativeError": 0.01,
        "maxAbsoluteError": 1e-7,
        "comparator": "elementwise_close",
    },
}


def test_a_case_is_labelled_with_its_axes_by_name_and_its_distinct_dtypes() -> None:
    assert workload_label(DIGEST, CASE) == "hidden = 4096 · tokens = 2048 · bf16, int32"


@pytest.mark.parametrize(
    ("axes", "tensors", "label"),
    [
        ({"n": -1}, {}, "n = -1"),
        ({}, {"x": {"shape": [1], "dtype": "fp8"}}, "fp8"),
        ({}, {}, "case e1793a36"),
    ],
)
def test_a_case_without_axes_or_tensors_still_has_a_label(
    axes: dict[str, int], tensors: dict[str, Any], label: str
) -> None:
    assert workload_label(DIGEST, {"axes": axes, "tensors": tensors}) == label


@pytest.mark.parametrize(
    ("count", "statistic", "label"),
    [(1, "geomean", "suite of 1 case · geomean score"), (16, "mean", "suite of 16 cases · mean score")],
)
def test_a_suite_is_labelled_with_its_size_and_what_it_aggregates(count: int, statistic: str, label: str) -> None:
    suite = {
        "cases": [{"externalId": str(number), "axes": {}} for number in range(count)],
        "aggregation": {"metric": "score", "statistic": statistic},
    }

    assert workload_label(DIGEST, suite) == label


def test_an_unregistered_workload_is_labelled_by_its_short_id() -> None:
    assert workload_label(DIGEST, None) == "unresolved workload e1793a36"


def test_a_case_states_axes_tensors_scalars_comparator_and_tolerances_in_this_order() -> None:
    assert workload_facts(CASE) == [
        ("axes", "hidden = 4096 · tokens = 2048"),
        ("tensor index", "int32 [2048] align 8"),
        ("tensor input", "bf16 [2048, 4096] strides [4096, 1]"),
        ("tensor weight", "bf16 [4096] strides [1] align 16"),
        ("scalar epsilon", "fp32 0.000001"),
        ("comparator", "elementwise_close"),
        ("maxAbsoluteError", "1e-7"),
        ("maxRelativeError", "0.01"),
        ("requiredMatchedRatio", "0.99"),
        ("nanPolicy", "reject"),
        ("infinityPolicy", "exact_match"),
    ]


def test_a_protocol_states_its_facts_in_the_order_of_the_design() -> None:
    spec = {
        "comparability": {"notes": "not a line", "family": "example_fixed_clock"},
        "correctness": {"comparator": "not_a_line", "reference": "fp32 eager reference"},
        "devicePolicy": {"clocksLocked": True},
        "measurement": {
            "outlierPolicy": "none removed",
            "primaryStatistic": "median",
            "inputRegeneration": "per_sample",
            "samples": 200,
            "measuredIterations": 100,
            "warmupIterations": 0,
            "compileIncluded": False,
            "setupIncluded": True,
            "synchronization": "device_sync",
            "timer": "device_events",
        },
        "harness": {"version": "1.0", "name": "example-harness", "repository": "https://example.invalid"},
    }

    assert protocol_facts(spec) == [
        ("harness", "example-harness 1.0"),
        ("timer", "device_events"),
        ("synchronization", "device_sync"),
        ("compileIncluded", "no"),
        ("warmupIterations", "0"),
        ("measuredIterations", "100"),
        ("samples", "200"),
        ("inputRegeneration", "per_sample"),
        ("primaryStatistic", "median"),
        ("outlierPolicy", "none removed"),
        ("correctnessReference", "fp32 eager reference"),
        ("comparabilityFamily", "example_fixed_clock"),
    ]


def test_a_protocol_states_only_what_it_has() -> None:
    spec = {"harness": {"name": "h"}, "measurement": {"timer": "wall_clock", "primaryStatistic": "mean"}}

    assert protocol_facts(spec) == [("harness", "h"), ("timer", "wall_clock"), ("primaryStatistic", "mean")]


def test_an_environment_states_its_facts_in_the_order_of_the_design() -> None:
    spec = {
        "imageDigest": DIGEST,
        "settings": {"persistenceMode": False, "clocksLocked": True, "eccEnabled": True},
        "software": {
            "compiler": "nvcc 13.1",
            "framework": {"name": "pytorch", "version": "2.9"},
            "cudaToolkit": "13.1",
            "driver": "580.00",
            "operatingSystem": "Ubuntu 24.04",
            "libraries": {"triton": "3.5"},
        },
        "hardware": {
            "count": 8,
            "memoryBytes": 206158430208,
            "architecture": "sm_100",
            "product": "NVIDIA B200 SXM",
            "vendor": "nvidia",
        },
    }

    assert environment_facts(spec) == [
        ("gpu", "NVIDIA B200 SXM (sm_100)"),
        ("gpuCount", "8"),
        ("memoryBytes", "206158430208"),
        ("operatingSystem", "Ubuntu 24.04"),
        ("driver", "580.00"),
        ("cudaToolkit", "13.1"),
        ("framework", "pytorch 2.9"),
        ("compiler", "nvcc 13.1"),
        ("clocksLocked", "yes"),
        ("persistenceMode", "no"),
        ("imageDigest", DIGEST),
    ]


def test_a_record_whose_references_are_all_unresolved_says_so_line_by_line() -> None:
    lines = identity_facts(
        digest=DIGEST,
        implementation_digest=OTHER,
        workload=workload_label(DIGEST, None),
        source="lab",
        source_name="A lab",
    )

    assert lines == [
        ("implementation", "unresolved implementation 387cdfa4"),
        ("project", "unresolved implementation"),
        ("revision", "unresolved implementation"),
        ("workload", "unresolved workload e1793a36"),
        ("comparison key", "none while the workload is unresolved"),
        ("source", "A lab"),
        ("digest", "sha256:e1793a36aa22ee61b13e51c…"),
    ]


@pytest.mark.parametrize(("project_digest", "project"), [(OTHER, "unresolved project 387cdfa4"), (None, "not stated")])
def test_a_known_implementation_may_lack_a_registered_project_and_a_revision(
    project_digest: str | None, project: str
) -> None:
    lines = identity_facts(
        digest=DIGEST,
        implementation_digest=OTHER,
        implementation="Argus",
        project_digest=project_digest,
        workload="suite",
        comparison_key=OTHER,
        source="sol-execbench",
        source_name="NVIDIA SOL-ExecBench",
    )

    assert lines[:3] == [("implementation", "Argus"), ("project", project), ("revision", "not stated")]
    assert Line("comparison key", "sha256:387cdfa4047d7f7f…") in lines


def test_each_measurement_is_a_line_named_by_metric_and_statistic() -> None:
    run = {
        "timing": {"primaryStatistic": "mean", "latencyNs": {"mean": 14150, "minimum": 960}},
        "measurements": [{"metric": "throughput", "statistic": "mean", "unit": "tflops", "value": 1.50}],
    }

    assert measurement_facts(measurements(run)) == [
        ("latency · mean", "14.2 µs"),
        ("latency · minimum", "960 ns"),
        ("throughput · mean", "1.5 tflops"),
    ]


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (
            {"status": "passed", "sourceNative": {"source": "s"}},
            "passed by the source, whose correctness policy was not published",
        ),
        ({"status": "passed"}, "passed, without the measured errors being stated"),
        (
            {
                "status": "passed",
                "sourceNative": {"source": "s"},
                "correctness": {
                    "matchedRatio": 1.0,
                    "maximumRelativeError": 0.0081,
                    "maximumAbsoluteError": 0,
                    "comparator": "elementwise_close",
                },
            },
            "passed under elementwise_close · largest absolute error 0 · largest relative error 0.0081 · matched ratio 1",
        ),
        (
            {"status": "incorrect_numerical", "correctness": {"comparator": "c", "matchedRatio": 0.5}},
            "failed: an output has the wrong values · comparator c · matched ratio 0.5",
        ),
        ({"status": "compile_error"}, "not checked: it did not compile"),
        ({"status": "some_older_status"}, "not passed: some older status"),
    ],
)
def test_correctness_is_told_as_far_as_the_run_states_it(run: dict[str, Any], text: str) -> None:
    assert correctness_text(run) == text


def test_every_status_but_passed_that_a_manifest_can_have_is_in_words_of_its_own() -> None:
    assert len(OUTCOMES) == len(set(OUTCOMES.values())) == 12
    assert not any(words.startswith("passed") for words in OUTCOMES.values())


def test_the_two_profiles_are_told_apart() -> None:
    assert comparison_text("SOURCE_NATIVE") == "source-native comparison"
    assert comparison_text("STRICT_EXACT") == "strict comparison"
