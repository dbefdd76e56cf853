"""``kernelindex cite``."""

import json
from pathlib import Path

import pytest

from service.sample import FILES, FIRST_RUN
from tests.service.cli.conftest import Command

KEY = f"ki-{FIRST_RUN[:12]}-p"


@pytest.fixture
def cli(cli: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command line, over an index of one record that others can reach."""
    monkeypatch.setenv("KERNELINDEX_BASE_URL", "https://kernels.example")
    cli("import", FILES[1])
    return cli


@pytest.mark.parametrize(
    ("format_", "begins"),
    [
        ("text", "Argus. Argus: Expert token scatter with weighted forward backward, suite of 16 cases"),
        ("bibtex", f"@misc{{{KEY}"),
        ("biblatex", f"@dataset{{{KEY}"),
        ("csl-json", f'[\n  {{\n    "id": "{KEY}'),
        ("ris", f"TY  - DATA\r\nID  - {KEY}"),
        ("schema-org", '{\n  "@context": "https://schema.org",\n  "@graph"'),
        ("apa", "Argus. (2026). Argus: Expert token scatter"),
        ("ieee", "Argus, “Argus: Expert token scatter"),
    ],
)
def test_every_format_is_printed_as_it_is(cli: Command, format_: str, begins: str) -> None:
    cited = cli("cite", FIRST_RUN[:8], "--format", format_)

    assert (cited.status, cited.out[: len(begins)]) == (0, begins)
    assert f"https://kernels.example/runs/{FIRST_RUN}/at/" in cited.out


def test_text_is_the_default_and_takes_a_style(cli: Command) -> None:
    assert cli("cite", FIRST_RUN).out == cli("cite", FIRST_RUN, "--format", "text").out
    assert cli("cite", FIRST_RUN, "--style", "apa").out == cli("cite", FIRST_RUN, "--format", "apa").out


def test_the_day_of_access_can_be_given(cli: Command) -> None:
    cited = cli("cite", FIRST_RUN, "--format", "biblatex", "--accessed-on", "2026-08-25")
    assert "urldate = {2026-08-25}" in cited.out
    assert cited.err.startswith("warning: position ")

    for wrong in ("25 August", "2026-02-30", "9999-01-01"):
        refused = cli("cite", FIRST_RUN, "--accessed-on", wrong)
        assert (refused.status, refused.out) == (1, "")
        assert refused.err.startswith("error: ")


def test_what_is_not_found_is_said_and_the_rest_is_printed(cli: Command) -> None:
    cited = cli("cite", "nothing", FIRST_RUN, "--format", "bibtex")

    assert cited.status == 1
    assert cited.out.count("@misc{") == 1
    assert cited.err == (
        "error: no run has the id 'nothing' (give a digest, a prefix of at least 8 hex digits, or an alias)\n"
    )


@pytest.mark.parametrize(
    "wrong",
    [("--format", "no-such-style"), ("--format", "bibtex", "--style", "apa"), ("--format", "x", "--style", "apa")],
)
def test_what_can_not_be_written_is_refused(cli: Command, wrong: tuple[str, ...]) -> None:
    refused = cli("cite", FIRST_RUN, *wrong)

    assert (refused.status, refused.out) == (1, "")
    assert refused.err.startswith("error: ")


def test_a_permalink_that_nobody_can_follow_is_warned_of(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KERNELINDEX_BASE_URL")

    cited = cli("cite", FIRST_RUN)

    assert cited.status == 0
    assert "warning: the permalink leads to this machine only" in cited.err


def test_json_is_the_whole_export(cli: Command) -> None:
    export = json.loads(cli("cite", FIRST_RUN, "nothing", "--format", "ris", "--json").out)

    assert export["mediaType"] == "application/x-research-info-systems"
    assert [problem["code"] for problem in export["problems"]] == ["NOT_FOUND"]
    assert len(export["keys"]) == 1


def test_a_citation_makes_no_index(cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELINDEX_DATA_DIR", str(tmp_path / "none"))

    assert "import something first" in cli("cite", FIRST_RUN).err
    assert not (tmp_path / "none").exists()
