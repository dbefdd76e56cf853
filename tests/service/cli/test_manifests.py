"""``kernelindex manifest validate`` and ``kernelindex manifest digest``."""

import json
from pathlib import Path

import pytest

from tests.service.cli.conftest import Command
from tests.service.importing.exports import seed

RUN = "sha256:28c78ea8f808d1b78085d073f400abf64930109cb0ad61efd3634542aaa78a58"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(seed()["run"]))
    return path


def test_the_digest_of_a_manifest_is_printed_alone(cli: Command, run: Path) -> None:
    assert cli("manifest", "digest", run).out == f"{RUN}\n"
    assert json.loads(cli("manifest", "digest", run, "--json").out)["manifests"] == [
        {"kind": "BenchmarkRun", "digest": RUN}
    ]


def test_of_a_bundle_each_digest_is_printed_with_its_kind(cli: Command, tmp_path: Path) -> None:
    path = tmp_path / "bundle.yaml"
    path.write_text("# a bundle\n" + json.dumps(seed()))
    lines = cli("manifest", "digest", path).out.splitlines()
    assert len(lines) == 7
    assert f"{RUN}  BenchmarkRun" in lines


def test_a_bundle_whose_parts_do_not_fit_is_refused_as_import_would(cli: Command, tmp_path: Path) -> None:
    tree = seed()
    tree["protocol"]["spec"]["harness"]["version"] = "v9"
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps(tree))
    checked = cli("manifest", "validate", path)
    assert checked.status == 1
    assert "run.spec.protocolDigest" in checked.out


def test_a_valid_manifest_is_said_to_be_valid(cli: Command, run: Path) -> None:
    checked = cli("manifest", "validate", run)
    assert (checked.status, checked.out) == (0, f"{run}: BenchmarkRun {RUN} is valid\n")


def test_every_problem_is_a_line_with_file_field_and_remedy(cli: Command, run: Path, tmp_path: Path) -> None:
    tree = seed()["run"]
    tree["spec"] |= {"status": "splendid", "colour": "blue"}
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(tree))

    checked = cli("manifest", "validate", run, wrong)

    assert checked.status == 1
    good, *problems = checked.out.splitlines()
    assert good.endswith("is valid")
    assert {line.split(": ")[1] for line in problems} == {"spec.status", "spec.colour"}
    assert all(line.startswith(f"{wrong}: ") and line.endswith(")") for line in problems)


def test_problems_as_json_have_their_codes(cli: Command, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    checked = cli("manifest", "validate", broken, "--json")
    assert checked.status == 1
    ((problem,),) = (result["problems"] for result in json.loads(checked.out))
    assert (problem["document"], problem["code"]) == (str(broken), "MALFORMED_DOCUMENT")


def test_a_digest_of_nothing_valid_is_refused_on_standard_error(cli: Command, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    refused = cli("manifest", "digest", broken)
    assert (refused.status, refused.out) == (1, "")
    assert str(broken) in refused.err


def test_a_file_that_is_not_there_is_an_error(cli: Command, tmp_path: Path) -> None:
    missing = cli("manifest", "validate", tmp_path / "missing.json")
    assert missing.status == 1
    assert missing.err == f"error: {tmp_path / 'missing.json'}: No such file or directory\n"
