"""``kernelindex import``."""

import json
from pathlib import Path

from service.sample import FILES
from tests.service.cli.conftest import Command
from tests.service.importing.exports import COUNTS, changed, one_run, sample, written

FIXTURES = Path(__file__).parents[2] / "fixtures"
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


SOURCES = FIXTURES / "sources"


def test_files_of_sources_are_read_as_what_they_are_and_that_is_said(cli: Command) -> None:
    imported = cli("import", SOURCES / "sol-traces", SOURCES / "liger")
    assert imported.status == 0
    assert f"Read as sol-traces: {SOURCES / 'sol-traces' / 'definition.json'} and 2 more" in imported.out
    assert f"Read as liger: {SOURCES / 'liger' / 'all_benchmark_data.csv'}" in imported.out
    assert "Skipped: 1 measurements of memory." in imported.out


def test_rejects_are_written_with_reason_row_and_field(cli: Command, tmp_path: Path) -> None:
    case, rejects = FIXTURES / "cases" / "05-zero-score.json", tmp_path / "rejects.jsonl"

    imported = cli("import", case, "--rejects", rejects)

    assert imported.status == 1
    (line,) = [json.loads(text) for text in rejects.read_text().splitlines()]
    assert line["remedy"]
    assert line == {
        "document": str(case),
        "source": "gpumode-kernelbot",
        "row": "submission/910001",
        "field": "rows[0].row.run_score",
        "reason": "0.0 is not positive: nothing takes no time",
        "code": "INVALID_VALUE",
        "remedy": line["remedy"],
    }


def test_what_is_changed_and_gone_is_printed(cli: Command, tmp_path: Path) -> None:
    folder = SOURCES / "sol-leaderboard"
    page = json.loads((folder / "submissions.json").read_text())
    page["data"]["submissions"][0]["latency_ms"] = 0.04
    page["data"]["submissions"][1] |= {"is_disqualified": True, "disqualification_reason": "reads the clock"}
    (tmp_path / "page.json").write_text(json.dumps(page))
    cli("import", folder)

    told = cli("import", tmp_path / "page.json", "--kernel", folder / "kernel-4.json")
    done = cli(
        "import", tmp_path, "--kernel", folder / "kernel-4.json", "--retract-removed", "--reason", "withdrawn upstream"
    )

    assert "changed: sol-execbench 36577: sha256:" in told.out
    assert "gone: sol-execbench 36157: reads the clock: sha256:" in told.out
    assert "stands here" in told.out
    assert "retracted" in done.out


def test_retracting_needs_a_reason(cli: Command) -> None:
    refused = cli("import", SOURCES / "liger", "--retract-removed")
    assert refused.status == 1
    assert "--reason" in refused.err


def test_sources_are_listed_and_described(cli: Command) -> None:
    listed = cli("sources", "list")
    described = cli("sources", "describe", "kernelbot")
    as_json = json.loads(cli("sources", "list", "--json").out)
    unknown = cli("sources", "describe", "kernelbench")

    assert listed.status == described.status == 0
    names = [source["name"] for source in as_json]
    assert names == ["sol-leaderboard", "sol-traces", "flashinfer-traces", "kernelbot", "liger"]
    assert all(name in listed.out for name in names)
    assert "GPU MODE KernelBot (gpumode-kernelbot)" in described.out
    assert all(convention in described.out for convention in as_json[3]["conventions"])
    assert unknown.status == 1
    assert "the sources are sol-leaderboard" in unknown.err
