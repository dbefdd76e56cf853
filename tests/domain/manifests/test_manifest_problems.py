"""What a refusal says: every fault at its path, under its code, with what would be right."""

import copy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from domain.errors import ErrorCode, InvalidInput, Problem
from domain.json_text import MAX_PROBLEMS, read_json
from domain.manifests import Kind, read_manifest

FIXTURES = Path(__file__).parents[2] / "fixtures/manifests"
UNKNOWN, MISSING, VALUE, TEXT = (
    ErrorCode.UNKNOWN_FIELD,
    ErrorCode.MISSING_FIELD,
    ErrorCode.INVALID_VALUE,
    ErrorCode.INVALID_TEXT,
)


def refusal(tree: Any, **kinds: Any) -> tuple[Problem, ...]:
    with pytest.raises(InvalidInput) as caught:
        read_manifest(tree, document="doc", **kinds)
    problems = caught.value.problems
    assert all(problem.document == "doc" for problem in problems)
    assert all(problem.remedy for problem in problems)
    assert not any(mark in str(problem) for problem in problems for mark in ("function-", "constrained", "[key]"))
    str(caught.value).encode()
    return problems


def changed(name: str, change: Callable[[Any], object]) -> Any:
    tree = copy.deepcopy(read_json((FIXTURES / f"{name}.json").read_bytes()))
    change(tree)
    return tree


@pytest.mark.parametrize(
    ("name", "change", "code", "path", "says"),
    [
        ("run", lambda t: t["spec"].update(statuss="passed"), UNKNOWN, "spec.statuss", "status?"),
        ("run", lambda t: t["spec"].update(zzz=1), UNKNOWN, "spec.zzz", "observedAt"),
        ("run", lambda t: t.update(extra=1), UNKNOWN, "extra", "metadata"),
        ("project", lambda t: t["metadata"]["authors"][1].update(mail="x"), UNKNOWN, "metadata.authors[1].mail", "github"),
        ("run", lambda t: t["spec"].pop("status"), MISSING, "spec.status", '"timeout"'),
        ("run", lambda t: t.pop("spec"), MISSING, "spec", "implementationDigest"),
        ("suite", lambda t: t["spec"]["cases"][1].pop("axes"), MISSING, "spec.cases[1].axes", "object"),
        ("run", lambda t: t["spec"].update(status="pased"), VALUE, "spec.status", '"passed"'),
        ("run", lambda t: t["spec"].update(correctness=None), VALUE, "spec.correctness", "leave the field out"),
        ("run", lambda t: t["spec"].update(spec=None), UNKNOWN, "spec.spec", "known fields"),
        ("run", lambda t: t["spec"]["timing"].update(samples=0), VALUE, "spec.timing.samples", "integer from 1"),
        ("run", lambda t: t["spec"]["timing"].update(samples=True), VALUE, "spec.timing.samples", "integer from 1"),
        ("run", lambda t: t["spec"]["timing"].update(samples="20"), VALUE, "spec.timing.samples", "integer from 1"),
        ("run", lambda t: t["spec"]["correctness"].update(matchedRatio=1.5), VALUE, "spec.correctness.matchedRatio", "0 to 1"),
        ("run", lambda t: t["spec"]["measurements"][0].update(value=2**53), VALUE, "spec.measurements[0].value", "number"),
        ("run", lambda t: t["spec"]["measurements"][0].update(value=False), VALUE, "spec.measurements[0].value", "number"),
        ("run", lambda t: t["spec"]["timing"]["latencyNs"].update(mean=-1), VALUE, "spec.timing.latencyNs.mean", "8.12 us"),
        ("run", lambda t: t["spec"]["timing"]["latencyNs"].update(mean={}), VALUE, "spec.timing.latencyNs.mean", "8.12 us"),
        ("run", lambda t: t["spec"]["timing"]["latencyNs"].update(confidence95=[1, "2"]), VALUE, "spec.timing.latencyNs.confidence95[1]", "8.12 us"),
        ("run", lambda t: t["spec"]["timing"]["latencyNs"].update(confidence95={}), VALUE, "spec.timing.latencyNs.confidence95", "interval"),
        ("run", lambda t: t["spec"].update(workloadDigest="SHA256:" + "a" * 64), VALUE, "spec.workloadDigest", "64 lower-case"),
        ("case", lambda t: t["spec"]["axes"].update(m=1.5), VALUE, "spec.axes.m", "integer"),
        ("case", lambda t: t["spec"]["axes"].update({"M": 1}), VALUE, "spec.axes.M", "lower-case"),
        ("case", lambda t: t["spec"]["tensors"]["mask"].update(shape=[]), VALUE, "spec.tensors.mask.shape", "at least one"),
        ("operation", lambda t: t["spec"]["inputs"][0]["tensor"].update(shape=["rows", "Bad"]), VALUE, "spec.inputs[0].tensor.shape[1]", "name of an axis"),
        ("operation", lambda t: t["spec"]["axes"]["rows"].update(type="float"), VALUE, "spec.axes.rows.type", '"integer"'),
        ("project", lambda t: t["spec"].update(name="x" * 201), VALUE, "spec.name", "at most 200"),
        ("project", lambda t: t["metadata"].update(name="Tern Kernels"), VALUE, "metadata.name", "lower-case"),
        ("project", lambda t: t["metadata"].update(labels={"a" * 70: 1}), VALUE, f'metadata.labels["{"a" * 60}…"]', "text on one line"),
        ("environment", lambda t: t["spec"].update(settings=[]), VALUE, "spec.settings", "an object"),
        ("environment", lambda t: t["spec"]["settings"].update(eccEnabled="no"), VALUE, "spec.settings.eccEnabled", "true or false"),
        ("environment", lambda t: t["spec"]["settings"]["environmentVariables"].update({"A.B": 1}), VALUE, 'spec.settings.environmentVariables["A.B"]', "text on one line"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_code_its_path_and_what_would_be_right(
    name: str, change: Callable[[Any], object], code: ErrorCode, path: str, says: str
) -> None:
    (problem,) = refusal(changed(name, change))
    assert (problem.code, problem.path) == (code, path)
    assert says in problem.remedy


@pytest.mark.parametrize(
    "sign", ["\n", "\t", "\x00", "\x1b", "\x7f", "\x85", "\x9f", "\u202a", "\u202e", "\u2066", "\u2069"]
)
@pytest.mark.parametrize(
    ("name", "path", "put"),
    [
        ("project", "spec.name", lambda t, text: t["spec"].update(name=text)),
        ("project", "metadata.title", lambda t, text: t["metadata"].update(title=text)),
        ("project", "metadata.authors[0].name", lambda t, text: t["metadata"]["authors"][0].update(name=text)),
        ("project", "metadata.labels.domain", lambda t, text: t["metadata"]["labels"].update(domain=text)),
        ("project", "spec.homepage", lambda t, text: t["spec"].update(homepage=text)),
        ("environment", "spec.hardware.product", lambda t, text: t["spec"]["hardware"].update(product=text)),
        ("protocol", "spec.harness.version", lambda t, text: t["spec"]["harness"].update(version=text)),
        ("implementation", "spec.support.layouts[0]", lambda t, text: t["spec"]["support"].update(layouts=[text])),
        ("run", "spec.sourceNative.externalId", lambda t, text: t["spec"]["sourceNative"].update(externalId=text)),
    ],
)
def test_a_name_holds_no_control_or_direction_changing_character(
    sign: str, name: str, path: str, put: Callable[[Any, str], object]
) -> None:
    (problem,) = refusal(changed(name, lambda tree: put(tree, f"a{sign}b")))
    assert (problem.code, problem.path) == (TEXT, path)
    assert f"U+{ord(sign):04X}" in problem.message
    assert problem.message.isprintable()


def test_a_key_of_free_text_is_a_name_too() -> None:
    (problem,) = refusal(
        changed("environment", lambda t: t["spec"]["settings"].update(environmentVariables={"A\u202eB": "x"}))
    )
    assert (problem.code, problem.path) == (TEXT, 'spec.settings.environmentVariables["A\\u202eB"]')


@pytest.mark.parametrize("sign", ["\x00", "\x1b", "\x85", "\u202e", "\u2066"])
@pytest.mark.parametrize("text", ["two\nlines, a\ttab,\r\nand more"])
def test_prose_holds_lines_and_tabs_but_no_other_control_character(text: str, sign: str) -> None:
    prose: list[tuple[str, str, Callable[..., object]]] = [
        ("project", "metadata.description", lambda t, x: t["metadata"].update(description=x)),
        ("protocol", "spec.comparability.notes", lambda t, x: t["spec"]["comparability"].update(notes=x)),
        ("suite", "spec.correctness.description", lambda t, x: t["spec"]["correctness"].update(description=x)),
        ("operation", "spec.semantics.expression", lambda t, x: t["spec"]["semantics"].update(expression=x)),
        ("implementation", "spec.buildVariants[0].install.command", lambda t, x: t["spec"]["buildVariants"][0]["install"].update(command=x)),
    ]  # fmt: skip
    for name, path, put in prose:
        tree = changed(name, partial(put, x=text))
        assert read_manifest(tree).name == tree["metadata"]["name"]
        (problem,) = refusal(changed(name, partial(put, x=text + sign)))
        assert (problem.code, problem.path) == (TEXT, path)


def test_all_faults_of_a_document_are_reported_together() -> None:
    def spoil(tree: Any) -> None:
        tree["metadata"]["title"] = 7
        del tree["spec"]["status"]
        tree["spec"]["timing"]["latencyNs"] |= {"median": "1:10", "p05": None}
        tree["spec"]["measurements"].append({"metric": "x"})
        tree["spec"]["speed"] = 1

    problems = refusal(changed("run", spoil))
    assert {(problem.code, problem.path) for problem in problems} == {
        (VALUE, "metadata.title"),
        (MISSING, "spec.status"),
        (VALUE, "spec.timing.latencyNs.median"),
        (VALUE, "spec.timing.latencyNs.p05"),
        (MISSING, "spec.measurements[1].unit"),
        (MISSING, "spec.measurements[1].statistic"),
        (MISSING, "spec.measurements[1].value"),
        (UNKNOWN, "spec.speed"),
    }


def test_a_key_and_its_value_may_both_be_at_fault() -> None:
    problems = refusal(changed("case", lambda t: t["spec"]["axes"].update({"M": "x"})))
    assert [problem.path for problem in problems] == ["spec.axes.M", "spec.axes.M"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda t: t["spec"].update({f"x{index}": 1 for index in range(1000)}),
        lambda t: t["spec"].update(inputs=[1] * 500_000),
        lambda t: t["spec"]["inputs"][0]["tensor"].update(shape=[-1] * 500_000),
        lambda t: t["spec"].update(axes={f"A{index}": -1 for index in range(100_000)}),
    ],
)
def test_a_document_full_of_faults_gives_twenty_problems_and_no_more_work_than_that(
    spoil: Callable[[Any], object],
) -> None:
    assert len(refusal(changed("operation", spoil))) == MAX_PROBLEMS


def test_a_fault_late_in_a_long_list_is_named_with_its_place() -> None:
    def spoil(tree: Any) -> None:
        tree["spec"]["cases"] = [copy.deepcopy(tree["spec"]["cases"][0]) for _ in range(500)]
        tree["spec"]["cases"][433]["axes"]["rows"] = "many"

    (problem,) = refusal(changed("suite", spoil))
    assert problem.path == "spec.cases[433].axes.rows"


def test_a_long_value_is_cut_in_the_message() -> None:
    (problem,) = refusal(changed("run", lambda t: t["spec"].update(status="x" * 100_000)))
    assert len(str(problem)) < 600


def test_an_unknown_api_version_or_kind_names_the_known_ones() -> None:
    version, kind = refusal({"apiVersion": "kernelindex.dev/v2", "kind": "Benchmark", "metadata": {}, "spec": {}})
    assert (version.code, version.path) == (ErrorCode.UNKNOWN_KIND, "apiVersion")
    assert "kernelindex.dev/v1alpha1" in version.remedy
    assert (kind.code, kind.path) == (ErrorCode.UNKNOWN_KIND, "kind")
    assert all(known.value in kind.remedy for known in Kind)


@pytest.mark.parametrize("kind", [None, 1, [], {"a": 1}, "benchmarkrun"])
def test_a_kind_of_any_shape_is_refused(kind: Any) -> None:
    assert [problem.path for problem in refusal(changed("run", lambda t: t.update(kind=kind)))] == ["kind"]


def test_a_document_without_api_version_and_kind_misses_both() -> None:
    assert [(problem.code, problem.path) for problem in refusal({})] == [(MISSING, "apiVersion"), (MISSING, "kind")]


@pytest.mark.parametrize("tree", [None, 1, "text", [], [{}], True])
def test_what_is_no_object_is_no_manifest(tree: Any) -> None:
    (problem,) = refusal(tree)
    assert (problem.code, problem.path) == (VALUE, "")


def test_a_kind_that_does_not_belong_here_is_refused_with_those_that_do() -> None:
    tree = read_json((FIXTURES / "run.json").read_bytes())
    wanted = (Kind.WORKLOAD_CASE, Kind.WORKLOAD_SUITE)
    (problem,) = refusal(tree, kinds=wanted)
    assert (problem.code, problem.path) == (VALUE, "kind")
    assert problem.remedy == "give WorkloadCase or WorkloadSuite"
    assert read_manifest(tree, kinds=[Kind.BENCHMARK_RUN]).kind is Kind.BENCHMARK_RUN
