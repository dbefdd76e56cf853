"""``kernelindex import``."""

import json
from pathlib import Path

from service.sample import FILES
from tests.service.cli.conftest import Command
from tests.service.importing.exports import COUNTS, changed, one_run, sample, written

SAMPLE, SEED, _ = FILES


def test_the_summary_says_what_was_new_and_what_follows(cli: Command) -> None:
    imported = cli("import", SAMPLE)
    assert imported.status == 0
    rows = {
        " ".join(line.split()[:-3]): line.split()[-3:]
        for line in imported.out.splitlines()
        if line[:3] != "new" and line[-1].isdigit()
    }
    assert rows == {kind: [str(count), "0", "0"] for kind, count in COUNTS.items()}
    new = [line for line in imported.out.splitlines() if line.startswith("new run: sha256:")]
    assert len(set(new)) == 10
    assert "… and 180 more, which --json lists" in imported.out
    assert "Not imported, because they follow from the runs: 184 measurements." in imported.out
    assert imported.err == ""


def test_a_second_import_says_unchanged_and_is_fine(cli: Command) -> None:
    first = cli("import", SEED, "--json")
    assert [len(digest) for digest in json.loads(first.out)["newRuns"]] == [len("sha256:") + 64]
    again = cli("import", SEED, "--json")
    assert again.status == 0
    report = json.loads(again.out)
    assert report["counts"]["runs"] == {"new": 0, "unchanged": 1, "refused": 0}
    assert report["refused"] == report["newRuns"] == []


def test_a_refusal_is_status_1_and_a_line_with_place_and_remedy(cli: Command, tmp_path: Path) -> None:
    lines = one_run()
    number = changed(lines, "benchmark_runs", lambda row: row.update(runDigest=f"sha256:{'0' * 64}"))
    file = written(tmp_path, lines)

    refused = cli("import", file, SEED)

    assert refused.status == 1
    (line,) = [line for line in refused.out.splitlines() if line.startswith("refused: ")]
    assert line.startswith(f"refused: {file}:{number} row.runDigest: stands for sha256:000")
    assert line.endswith(")")


def test_many_refusals_are_listed_up_to_twenty_and_all_of_them_as_json(cli: Command, tmp_path: Path) -> None:
    lines = sample()
    for line in lines:
        if line["table"] == "benchmark_runs":
            line["row"]["runDigest"] = "none"
    file = written(tmp_path, lines)

    shown = cli("import", file, "--dry-run")
    listed = json.loads(cli("import", file, "--dry-run", "--json").out)

    assert shown.out.count("refused: ") == 20
    assert "… and 170 more, which --json lists" in shown.out
    assert len(listed["refused"]) == 190
    problem = listed["refused"][0]["problems"][0]
    assert problem["path"] == "row.runDigest"
    assert problem["code"] == "INVALID_VALUE"
    assert problem["remedy"]


def test_a_dry_run_says_so_and_leaves_no_trace(cli: Command, data: Path) -> None:
    tried = cli("import", SEED, "--dry-run")
    assert tried.status == 0
    assert tried.out.startswith("Dry run: ")
    assert not data.exists()


def test_from_a_shell_results_are_on_standard_output_and_nothing_else(process: Command) -> None:
    imported = process("import", SAMPLE, "--json")
    assert imported.status == 0
    assert json.loads(imported.out)["counts"]["runs"]["new"] == 190
    assert imported.err == ""
