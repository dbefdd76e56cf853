"""Faults that people met with the data of leaderboards, and what is right for us (``tests/fixtures/cases``)."""

import json
import os
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from domain.commands import RetractRun
from domain.facts import RunIngested
from domain.principals import LOCAL
from service.app import Index
from tests.service.api.asking import ask
from tests.service.sources import reading
from tests.service.sources.importing import fixture, imported, written

CASES = reading.FIXTURES / "cases"
RUNS = """{ runs(first: 100) { nodes {
  digest externalId observedAt status evidence { level } ranking { rank }
  primary { value formatted unit statistic } measurements { statistic value unit }
  implementation { digest authors sourceDigest } environment { hardware { product } } workload { label } } } }"""


async def runs(index: Index) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await ask(index, RUNS))["runs"]["nodes"]
    return found


async def scores(index: Index) -> dict[str, dict[str, Any]]:
    """The runs that are a leaderboard's score, by external id."""
    return {run["externalId"]: run for run in await runs(index) if run["primary"]["unit"] == "s"}


class TestAFakedScoreOfZeroLeads:
    """05: one benchmark's time was driven to nothing, and 0.000 stood at rank 1."""

    async def test_no_time_at_all_is_quarantined_and_the_rest_is_imported(self, index: Index) -> None:
        report = await imported(index, CASES / "05-zero-score.json")

        (rejected,) = report.refused
        assert (rejected.row, rejected.source) == ("submission/910001", "gpumode-kernelbot")
        assert rejected.problems[0].path == "rows[0].row.run_score"
        assert "not positive" in rejected.problems[0].message
        assert set(await scores(index)) == {"submission/910002", "submission/910003"}

    async def test_a_benchmark_of_no_time_quarantines_its_whole_row(self, index: Index, tmp_path: Path) -> None:
        """Also where the score itself looks honest."""
        document = json.loads((CASES / "05-zero-score.json").read_text())
        document["rows"][0]["row"]["run_score"] = 0.01

        report = await imported(index, written(tmp_path / "rows.json", document))

        assert [problem.path for problem in report.refused[0].problems] == ["rows[0].row.run_result.benchmark.1.mean"]
        assert "submission/910001" not in await scores(index)

    async def test_values_are_kept_exactly_and_benchmarks_in_whole_nanoseconds(self, index: Index) -> None:
        await imported(index, CASES / "05-zero-score.json")

        found = [run for run in await runs(index) if run["externalId"] == "submission/910002"]
        assert {run["primary"]["value"] for run in found} == {
            "0.03767713920651058",
            "33955121",
            "41020044",
            "38400100",
        }

    async def test_an_impossible_score_is_shown_as_reported_and_can_be_retracted(self, index: Index) -> None:
        await imported(index, CASES / "05-zero-score.json")
        faked = (await scores(index))["submission/910003"]
        assert Decimal(faked["primary"]["value"]) == Decimal("3.2e-24")
        assert not faked["primary"]["formatted"].startswith("0")
        assert faked["ranking"]["rank"] == 1
        assert (await scores(index))["submission/910002"]["ranking"]["rank"] == 2

        index.ledger.record([RetractRun(run=faked["digest"], reason="no kernel takes 3e-24 s")], LOCAL)
        await index.follower.catch_up()

        assert {name: run["ranking"]["rank"] for name, run in (await scores(index)).items()} == {
            "submission/910002": 1,
            "submission/910003": None,
        }


class TestOneFileUnderManyNames:
    """13: thirty people submitted the same file."""

    async def test_each_has_a_run_and_a_rank_and_the_same_source_is_shown_as_the_same(self, index: Index) -> None:
        report = await imported(index, CASES / "13-same-file-many-names.json")

        assert report.refused == []
        found = [(await scores(index))[f"submission/92000{number}"] for number in (1, 2, 3, 4)]
        assert [run["ranking"]["rank"] for run in found] == [1, 2, 3, 4]
        assert len({run["implementation"]["digest"] for run in found}) == 4
        assert [run["implementation"]["sourceDigest"] for run in found] == [
            *["sha256:787a8acf9fea6b4c4ccd67e986703fe270a28d9466f21f64f5981ec7150f6431"] * 3,
            "sha256:00f4b2670f229bd448ff83f643bb36faa5b891be1ad96575fc8adaee30a62a48",
        ]

    async def test_nobody_gains_evidence_by_it(self, index: Index, tmp_path: Path) -> None:
        """The level of one alone is that of one among four."""
        document = json.loads((CASES / "13-same-file-many-names.json").read_text())
        alone = {**document, "rows": document["rows"][:1]}
        await imported(index, written(tmp_path / "alone.json", alone))
        before = (await scores(index))["submission/920001"]["evidence"]["level"]

        await imported(index, CASES / "13-same-file-many-names.json")

        assert {run["evidence"]["level"] for run in (await scores(index)).values()} == {before} == {"REPORTED"}


class TestATableOfMilliseconds:
    """29: a byte order mark, memory among the times, and a decimal comma that shifts all columns."""

    async def test_times_become_nanoseconds_memory_is_skipped_and_a_shifted_row_is_quarantined(
        self, index: Index
    ) -> None:
        report = await imported(index, CASES / "29-liger.csv")

        assert report.skipped == {"measurements of memory": 1}
        (rejected,) = report.refused
        assert rejected.problems[0].document == f"{CASES / '29-liger.csv'}:7"
        assert "16 columns where the heading has 15" in rejected.problems[0].message
        assert sorted(tuple(int(line["value"]) for line in run["measurements"]) for run in await runs(index)) == sorted(
            [(532416, 529101, 534765), (42624, 42144, 44288), (276992, 271424, 292390), (13600, 12864, 16032)]
        )
        assert {line["statistic"] for run in await runs(index) for line in run["measurements"]} == {
            "median",
            "p20",
            "p80",
        }
        assert "2024-09-03T15:31:39.000Z" in {run["observedAt"] for run in await runs(index)}


@pytest.fixture(params=["UTC", "America/New_York"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    assert os.environ["TZ"] == request.param
    yield
    monkeypatch.undo()
    time.tzset()


class TestTimesWithoutAZoneAndTimesToCome:
    """31: nobody knew which zone was meant, and a result of the year 2031 stayed the newest for ever."""

    @pytest.mark.usefixtures("zone")
    async def test_naive_times_are_utc_and_a_time_to_come_heads_no_list(self, index: Index, tmp_path: Path) -> None:
        """The index's clock stands at 2026-09-01, as in the case."""
        stated = json.loads((CASES / "31-naive-and-future.json").read_text())
        page = fixture("sol-leaderboard", "submissions.json")
        whole = page["data"]["submissions"][0]
        page["data"]["submissions"] = [{**whole, **one} for one in stated["submissions"]]
        kernel = reading.SOURCES / "sol-leaderboard" / "kernel-4.json"

        report = await imported(index, written(tmp_path / "page.json", page), kernel)

        assert {run["externalId"]: run["observedAt"] for run in await runs(index)} == {
            "submission/1": "2026-08-14T05:38:25.741Z",
            "submission/2": "2022-12-07T16:47:00.000Z",
        }
        assert [(one.row, one.problems[0].path) for one in report.refused] == [
            ("3", "data.submissions[2].submitted_at")
        ]
        (source,) = (await ask(index, "{ sources { nodes { newestObservationAt } } }"))["sources"]["nodes"]
        assert source["newestObservationAt"] == "2026-08-14T05:38:25.741Z"

    @pytest.mark.usefixtures("zone")
    async def test_times_of_that_kind_in_manifests_are_refused(self, index: Index, tmp_path: Path) -> None:
        stated = json.loads((CASES / "31-naive-and-future.json").read_text())
        run = json.loads((reading.FIXTURES / "manifests" / "run.json").read_text())
        paths = []
        for number, observed_at in enumerate(stated["manifest_observedAt"]):
            run["spec"]["observedAt"] = observed_at
            paths.append(written(tmp_path / f"{number}.json", run))

        report = await imported(index, *paths)

        assert [one.problems[0].path for one in report.refused] == ["spec.observedAt"] * 3
        assert not [one for one in index.log.read(0, 100) if isinstance(one.recorded.fact, RunIngested)]


class TestOneCardUnderManyNamesAndManyCardsUnderOne:
    """41: exact look-ups missed a card, loose ones mixed different cards."""

    async def test_spellings_of_one_card_meet_and_different_cards_stay_apart(
        self, index: Index, tmp_path: Path
    ) -> None:
        trace = reading.documents(reading.SOURCES / "sol-traces" / "trace.jsonl")[0]
        lines = []
        for row in json.loads((CASES / "41-h100-names.json").read_text())["rows"]:
            line = json.loads(json.dumps(trace, default=float))
            line["solution"] = f"solution-{row['id']}"
            line["evaluation"]["environment"]["hardware"] = row["hardware"]
            line["evaluation"]["performance"]["latency_ms"] = row["mean_ms"]
            lines.append(line)
        definition = reading.SOURCES / "sol-traces" / "definition.json"

        report = await imported(index, written(tmp_path / "trace.jsonl", *lines), definition)

        assert report.refused == []
        assert report.notes == {}
        query = "{ runs(first: 100) { nodes { comparisonKey implementation { name } } } }"
        groups: dict[str, set[int]] = {}
        for run in (await ask(index, query))["runs"]["nodes"]:
            number = int(run["implementation"]["name"].rpartition("-")[2])
            groups.setdefault(run["comparisonKey"], set()).add(number)
        assert sorted(map(sorted, groups.values())) == [[1, 6, 9], [2], [3, 4, 5], [7], [8]]

    async def test_the_published_spelling_stays_visible(self, index: Index, tmp_path: Path) -> None:
        trace = json.loads((reading.SOURCES / "sol-traces" / "trace.jsonl").read_text().splitlines()[0])
        definition = reading.SOURCES / "sol-traces" / "definition.json"

        await imported(index, written(tmp_path / "trace.jsonl", trace), definition)

        (run,) = (await ask(index, "{ runs { nodes { manifest environment { hardware { product } } } } }"))["runs"][
            "nodes"
        ]
        assert run["environment"]["hardware"]["product"] == "NVIDIA H100"
        assert json.loads(run["manifest"])["metadata"]["labels"] == {"hardware": "NVIDIA_H100"}

    async def test_a_card_that_no_table_knows_is_kept_as_published_and_reported(
        self, index: Index, tmp_path: Path
    ) -> None:
        trace = json.loads((reading.SOURCES / "sol-traces" / "trace.jsonl").read_text().splitlines()[0])
        trace["evaluation"]["environment"]["hardware"] = "Quux 9000"
        definition = reading.SOURCES / "sol-traces" / "definition.json"

        report = await imported(index, written(tmp_path / "trace.jsonl", trace), definition)

        assert report.notes == {"hardware 'Quux 9000' is in no table of names: kept as published": 1}
        assert [run["environment"]["hardware"]["product"] for run in await runs(index)] == ["Quux 9000"]
