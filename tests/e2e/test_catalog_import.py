"""The whole public catalog, imported as it is from a shell, then once more."""

import io
import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from domain.facts import SourceImported
from domain.manifests import Kind
from projections import identities, rankings, runs, saves
from service.event_log import EventLog

Row = dict[str, Any]

DIGESTS = {
    "operations": "semanticDigest",
    "workloads": "workloadDigest",
    "implementations": "implementationDigest",
    "benchmark_runs": "runDigest",
}
"""Tables whose rows state the digest of their manifest."""


@pytest.fixture(scope="module")
def catalog(shared: Path) -> Path:
    return shared / "data/catalog/catalog-2026-08-16.jsonl.zst"


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, Any]:
    counts: dict[str, Any] = json.loads((shared / "data/expected/expected-counts.json").read_text())
    return counts


@pytest.fixture(scope="module")
def rows(catalog: Path) -> dict[str, list[Row]]:
    """The rows of the catalog by table."""
    tables: dict[str, list[Row]] = {}
    with catalog.open("rb") as file:
        text = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), encoding="utf-8")
        for line in map(json.loads, text):
            tables.setdefault(line["table"], []).append(line["row"])
    return tables


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("catalog")


def imported(catalog: Path, data: Path) -> dict[str, Any]:
    """Import the catalog in a process of its own. Answers its report."""
    command = [sys.executable, "-c", "from service.cli import main; main()", "import", str(catalog), "--json"]
    environment = os.environ | {"KERNELINDEX_DATA_DIR": str(data)}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert (ran.returncode, ran.stderr) == (0, "")
    report: dict[str, Any] = json.loads(ran.stdout)
    return report


@pytest.fixture(scope="module")
def report(catalog: Path, data: Path) -> dict[str, Any]:
    return imported(catalog, data)


@pytest.fixture(scope="module")
def views(report: dict[str, Any], data: Path) -> Iterator[sqlite3.Connection]:
    """The views that the import left."""
    (path,) = data.glob("views-*.db")
    db = sqlite3.connect(path)
    yield db
    db.close()


@pytest.fixture(scope="module")
def position(views: sqlite3.Connection) -> int:
    return saves.head(views).position


def test_everything_is_new_and_nothing_refused(report: dict[str, Any], expected: dict[str, Any]) -> None:
    tables = expected["tables"]
    new = {kind: count["new"] for kind, count in report["counts"].items()}
    assert new == {
        "sources": tables["sources"],
        "projects": tables["projects"],
        "operations": tables["operations"],
        "operation aliases": tables["operation_aliases"],
        "workloads": tables["workloads"],
        "implementations": tables["implementations"],
        "protocols": 6,
        "environments": 15,
        "runs": tables["benchmark_runs"],
        "artifacts": tables["artifacts"],
    }
    assert report["refused"] == []
    assert report["metadataDiffers"] == 0
    assert report["derived"] == {"measurements": tables["measurements"], "record events": tables["record_events"]}


def test_the_views_reflect_the_whole_log(views: sqlite3.Connection, data: Path) -> None:
    log = EventLog(data / "log.db")
    assert saves.head(views).recorder_id == log.latest()
    log.close()


@pytest.mark.parametrize("table", DIGESTS)
def test_every_digest_is_the_stored_one(table: str, rows: dict[str, list[Row]], views: sqlite3.Connection) -> None:
    kinds = {row["manifest"].get("kind", "BenchmarkRun") for row in rows[table]}
    marks = ",".join("?" * len(kinds))
    registered = views.execute(f"SELECT digest FROM manifests WHERE kind IN ({marks})", sorted(kinds)).fetchall()
    assert sorted(digest for (digest,) in registered) == sorted(row[DIGESTS[table]] for row in rows[table])


def test_every_key_is_the_stored_one(rows: dict[str, list[Row]], views: sqlite3.Connection) -> None:
    query = (
        "SELECT digest, comparison_key, protocol, environment, json_extract(doc, '$.comparison.correctness') FROM runs"
    )
    keys = {digest: tuple(keys) for digest, *keys in views.execute(query)}
    assert keys == {
        row["runDigest"]: (row["comparisonKey"], row["protocolKey"], row["environmentKey"], row["correctnessKey"])
        for row in rows["benchmark_runs"]
    }


def test_every_old_id_resolves(rows: dict[str, list[Row]], views: sqlite3.Connection, position: int) -> None:
    targets = {row["id"]: f"source/{row['slug']}" for row in rows["sources"]}
    for table, field in DIGESTS.items():
        targets |= {row["id"]: row[field] for row in rows[table]}

    found = identities.matches(views, [*targets, *(row["id"] for row in rows["projects"])], position, list(Kind))

    assert {id_: [match.id for match in found[id_]] for id_ in targets} == {
        id_: [target] for id_, target in targets.items()
    }
    projects = {match.id for row in rows["projects"] for match in found[row["id"]]}
    assert len(projects) == len(rows["projects"])


def test_every_old_id_of_an_artifact_names_it(rows: dict[str, list[Row]], views: sqlite3.Connection) -> None:
    query = "SELECT alias, target FROM aliases JOIN artifacts ON artifacts.digest = target"
    assert dict(views.execute(query)) == {row["id"]: row["contentDigest"] for row in rows["artifacts"]}


def test_every_other_name_of_an_operation_resolves(
    rows: dict[str, list[Row]], views: sqlite3.Connection, position: int
) -> None:
    digests = {row["id"]: row["semanticDigest"] for row in rows["operations"]}
    wanted = {row["alias"]: digests[row["operationId"]] for row in rows["operation_aliases"]}
    found = identities.matches(views, wanted, position, [Kind.OPERATION_SPEC])
    assert {alias: found[alias][0].id for alias in wanted} == wanted


def test_the_groups_are_ranked_as_they_were(views: sqlite3.Connection, position: int, expected: dict[str, Any]) -> None:
    keys = [key for (key,) in views.execute("SELECT comparison_key FROM rankings WHERE to_position IS NULL")]
    standings = rankings.rank(views, rankings.groups(views, keys, position).values(), position)
    ranks = [Counter(placed.rank for placed in standing.placed) for standing in standings.values()]
    assert len(standings) == expected["ranked_groups"] == 1828
    assert sum(standing.group.size for standing in standings.values()) == expected["ranked_runs"] == 7771
    assert sum(len(standing.placed) for standing in standings.values()) == 7771
    tied = sum(count - 1 for group in ranks for count in group.values())
    assert tied == expected["runs_sharing_a_rank_with_an_earlier_run"]
    assert sum(group[1] > 1 for group in ranks) == expected["groups_with_a_tie_for_rank_1"]


def test_the_evidence_is_what_the_records_hold(views: sqlite3.Connection) -> None:
    query = "SELECT json_extract(doc, '$.evidence.level'), count(*) FROM runs WHERE to_position IS NULL GROUP BY 1"
    assert dict(views.execute(query)) == {"REPRODUCIBLE": 175, "REPORTED": 7682}


def test_no_run_is_flagged_as_a_duplicate(rows: dict[str, list[Row]], views: sqlite3.Connection, position: int) -> None:
    assert runs.duplicates(views, [row["runDigest"] for row in rows["benchmark_runs"]], position) == []


def test_a_second_import_appends_nothing_but_that_it_took_place(
    report: dict[str, Any], catalog: Path, data: Path, views: sqlite3.Connection
) -> None:
    log = EventLog(data / "log.db")
    before = log.latest()

    again = imported(catalog, data)

    events = [committed.recorded.fact for committed in log.read(before, 1000)]
    log.close()
    assert [type(fact) for fact in events] == [SourceImported] * 3
    assert {kind: count["unchanged"] for kind, count in again["counts"].items()} == {
        kind: count["new"] for kind, count in report["counts"].items()
    }
    assert {kind: count["new"] for kind, count in again["counts"].items()} == dict.fromkeys(report["counts"], 0)
