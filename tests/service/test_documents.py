"""Documents as people send them, and the published examples read end to end."""

from pathlib import Path

import pytest

from domain.errors import ErrorCode, InvalidInput
from domain.manifests import Manifest, read_manifest
from service.documents import read_document

RUN = """\
apiVersion: kernelindex.dev/v1alpha1
kind: BenchmarkRun
metadata: {{name: yaml-trap}}
spec:
  implementationDigest: sha256:{4}
  workloadDigest: sha256:{1}
  protocolDigest: sha256:{2}
  environmentDigest: sha256:{3}
  status: passed
  timing: {{primaryStatistic: median, latencyNs: {{median: LATENCY}}}}
  observedAt: 2026-08-01T12:00:00Z
""".format(*(str(digit) * 64 for digit in range(5)))

ENVIRONMENT = """\
apiVersion: kernelindex.dev/v1alpha1
kind: ExecutionEnvironment
metadata: {name: norway}
spec:
  hardware: {vendor: nvidia, product: NO, architecture: sm_100, count: 010}
  software: {operatingSystem: on}
"""


def read(text: str | bytes) -> Manifest:
    return read_manifest(read_document(text, "doc"), document="doc")


@pytest.mark.parametrize("start", ["", " \t\r\n", "\ufeff", "\ufeff\n"])
@pytest.mark.parametrize("encode", [str, str.encode])
def test_a_document_that_starts_with_a_bracket_is_json(start: str, encode: type) -> None:
    assert read_document(encode(start + '{"a": [1]}')) == {"a": [1]}
    assert read_document(encode(start + "[1]")) == [1]
    with pytest.raises(InvalidInput, match="not JSON"):
        read_document(encode(start + "{a: 1}"))


@pytest.mark.parametrize("start", ["", "# comment\n", "---\n", "\ufeff"])
def test_every_other_document_is_yaml(start: str) -> None:
    assert read_document(start + "a: [1]\n") == {"a": [1]}
    assert read_document((start + "a: [1]\n").encode()) == {"a": [1]}


def test_both_readings_name_the_document() -> None:
    for text in ("{", "a: b: c"):
        with pytest.raises(InvalidInput) as caught:
            read_document(text, "third")
        assert caught.value.problems[0].document == "third"


@pytest.mark.parametrize("latency", ["1:10", "8_120", "0x1F", "NO", "'8120'", ""])
def test_yaml_1_1_spellings_of_a_latency_are_refused(latency: str) -> None:
    """Case 23 a, b: text that older YAML took for a number is not a duration."""
    with pytest.raises(InvalidInput) as caught:
        read(RUN.replace("LATENCY", latency))
    (problem,) = caught.value.problems
    assert (problem.code, problem.path) == (ErrorCode.INVALID_VALUE, "spec.timing.latencyNs.median")


def test_yaml_1_1_booleans_are_text_and_a_leading_zero_is_decimal() -> None:
    """Case 23 c."""
    spec = read(ENVIRONMENT).spec
    assert spec["hardware"]["product"] == "NO"
    assert spec["hardware"]["count"] == 10
    assert spec["software"]["operatingSystem"] == "on"
    with pytest.raises(InvalidInput) as caught:
        read(ENVIRONMENT + "  settings: {clocksLocked: off}\n")
    assert [problem.path for problem in caught.value.problems] == ["spec.settings.clocksLocked"]


@pytest.mark.parametrize("latency", ["8120", "8.12 us", "8120.0", "0.00812 ms"])
def test_a_run_has_one_digest_however_its_latency_is_spelt(latency: str) -> None:
    """Case 23 d, and the instant stays as written."""
    run = read(RUN.replace("LATENCY", latency))
    assert run.digest == "sha256:9a9df16217183ed6cc868f6f3d63f3976676dfa29b58c3d966cd36f596fc5383"
    assert run.spec["observedAt"] == "2026-08-01T12:00:00Z"


def test_the_published_examples_are_read_and_refer_to_each_other(shared: Path) -> None:
    examples = {path.stem: read(path.read_bytes()) for path in (shared / "data/manifest-examples").glob("*.yaml")}
    assert len(examples) == 8
    run = examples["benchmark-run"].spec
    assert run["implementationDigest"] == examples["implementation-revision"].digest
    assert run["workloadDigest"] == examples["workload-case"].digest
    assert run["protocolDigest"] == examples["benchmark-protocol"].digest
    assert run["environmentDigest"] == examples["execution-environment"].digest
    operation = examples["operation-spec"].digest
    assert examples["workload-case"].spec["operationSpecDigest"] == operation
    assert examples["workload-suite"].spec["operationSpecDigest"] == operation
    assert examples["implementation-revision"].spec["operation"]["specDigest"] == operation


@pytest.mark.parametrize(
    ("name", "code", "path"),
    [
        ("ambiguous-duration", ErrorCode.INVALID_VALUE, "spec.timing.latencyNs.median"),
        ("bad-digest", ErrorCode.INVALID_VALUE, "spec.operationSpecDigest"),
        ("duplicate-key", ErrorCode.DUPLICATE_KEY, "spec.name"),
        ("unknown-field", ErrorCode.UNKNOWN_FIELD, "spec.popularity"),
    ],
)
def test_the_published_invalid_examples_are_refused_at_their_fault(
    shared: Path, name: str, code: ErrorCode, path: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        read((shared / f"data/manifest-examples/invalid/{name}.yaml").read_bytes())
    assert [(problem.code, problem.path) for problem in caught.value.problems] == [(code, path)]


@pytest.mark.parametrize("letter", "abcd")
def test_the_inputs_of_case_23_as_they_were_sent(shared: Path, letter: str) -> None:
    (path,) = (shared / "cases/inputs").glob(f"23{letter}-*.yaml")
    if letter == "d":
        assert read(path.read_bytes()).digest.startswith("sha256:9a9df1621718")
    else:
        with pytest.raises(InvalidInput):
            read(path.read_bytes())


def test_the_input_of_case_25_as_it_was_sent(shared: Path) -> None:
    with pytest.raises(InvalidInput, match="aliases"):
        read((shared / "cases/inputs/25-alias-bomb.yaml").read_bytes())
