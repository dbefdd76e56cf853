"""The policies over the whole real catalog; needs the shared data."""

import io
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
import zstandard

from domain.identity import comparison_key, correctness_key
from domain.instants import instant_key
from domain.measurements import decimal_of, lower_is_better, metric_key, primary_measurement
from domain.policies.evidence import EvidenceLevel, assess, record_facts
from domain.policies.ranking import Entry, Placed, Profile, eligibility, profile_of, rank

Tables = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def catalog(shared: Path) -> Tables:
    tables: Tables = defaultdict(list)
    with (shared / "data/catalog/catalog-2026-08-16.jsonl.zst").open("rb") as packed:
        stream = zstandard.ZstdDecompressor().stream_reader(packed)
        for line in io.TextIOWrapper(stream, encoding="utf-8"):
            item = json.loads(line)
            tables[item["table"]].append(item["row"])
    return tables


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, Any]:
    counts: dict[str, Any] = json.loads((shared / "data/expected/expected-counts.json").read_text())
    return counts


@pytest.fixture(scope="module")
def placed(catalog: Tables) -> dict[str, list[Placed]]:
    """The ranking of every group of the catalog, by comparison key."""
    entries: dict[str, list[Entry]] = defaultdict(list)
    rules: dict[str, tuple[Profile, bool]] = {}
    for row in catalog["benchmark_runs"]:
        spec = row["manifest"]["run"]["spec"]
        primary = primary_measurement(spec)
        if primary is None or eligibility(
            spec["status"],
            retracted=row["retractedAt"] is not None,
            superseded=False,
            disputed=False,
            primary=primary,
            unresolved=False,
        ):
            continue
        key = row["comparisonKey"]
        rules[key] = (profile_of(spec), lower_is_better(primary.metric, primary.unit))
        observed = instant_key(spec["observedAt"])
        entries[key].append(Entry(run=row["runDigest"], value=primary.value, observed_key=observed))
    return {key: rank(group, profile=rules[key][0], lower_is_better=rules[key][1]) for key, group in entries.items()}


def test_every_primary_measurement_is_the_stored_one(catalog: Tables) -> None:
    for row in catalog["benchmark_runs"]:
        primary = primary_measurement(row["manifest"]["run"]["spec"])
        stored = (row["primaryMetric"], row["primaryStatistic"], row["primaryUnit"], row["primaryValue"])
        if primary is None:
            assert stored[3] is None
        else:
            value = decimal_of(stored[3])
            assert (primary.metric, primary.statistic, primary.unit, primary.value) == (*stored[:3], value)


def test_every_metric_key_gives_the_stored_comparison_key(catalog: Tables) -> None:
    workloads = {row["id"]: row for row in catalog["workloads"]}
    for row in catalog["benchmark_runs"]:
        spec = row["manifest"]["run"]["spec"]
        workload = workloads[row["workloadId"]]["manifest"]["spec"]
        assert row["comparisonKey"] == comparison_key(
            operation=workload["operationSpecDigest"],
            workload=spec["workloadDigest"],
            protocol=spec["protocolDigest"],
            environment=spec["environmentDigest"],
            correctness=correctness_key(workload),
            metric=metric_key(primary_measurement(spec)),
        )


def test_groups_ranked_runs_and_ties_are_as_counted(placed: dict[str, list[Placed]], expected: dict[str, Any]) -> None:
    runs = [one for group in placed.values() for one in group]
    sharing = len(runs) - sum(group[-1].rank for group in placed.values())

    assert len(placed) == expected["ranked_groups"]
    assert len(runs) == expected["ranked_runs"]
    assert sharing == expected["runs_sharing_a_rank_with_an_earlier_run"]
    assert sum(group[0].tied for group in placed.values()) == expected["groups_with_a_tie_for_rank_1"]


def test_the_groups_with_ties_have_the_expected_ranks(shared: Path, placed: dict[str, list[Placed]]) -> None:
    vectors = json.loads((shared / "data/expected/tie-vectors.json").read_text())
    assert len(vectors) == 13
    for vector in vectors:
        group = placed[vector["comparisonKey"]]
        assert [one.entry.value for one in group] == [decimal_of(value) for value in vector["values"]]
        assert [one.rank for one in group] == vector["ranks"]


def test_175_records_are_reproducible_and_the_others_reported(catalog: Tables) -> None:
    implementations = {row["id"]: row["manifest"]["spec"] for row in catalog["implementations"]}
    levels = Counter(
        assess(
            record_facts(
                row["manifest"]["run"]["spec"], implementations[row["implementationId"]], claimed=1, resolved=1
            )
        ).level
        for row in catalog["benchmark_runs"]
    )

    assert levels == {EvidenceLevel.REPRODUCIBLE: 175, EvidenceLevel.REPORTED: 7_682}
