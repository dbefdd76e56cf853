"""The API over the shipped sample, and over the whole real catalog where its data is at hand."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from domain.identity import hex_of
from domain.neighbours import case_of, nearest
from service.app import Index, open_index
from service.importing.jobs import import_into
from service.sample import FILES
from service.settings import Settings
from tests.service.api.asking import ask
from tests.service.api.test_seeds import QUERY, SEEDS, pairs
from tests.service.api.test_statements import counted, settle
from tests.service.site import site

EXPECTED: list[dict[str, Any]] = json.loads((SEEDS / "expected.json").read_text(encoding="utf-8"))


def imported(folder: Path, *files: Path) -> Path:
    """The data folder of an index into which these files were imported."""

    async def run() -> None:
        async with open_index(Settings(data_dir=folder), follow=False) as index:
            report = await import_into(index, files)
            assert report.refused == []

    asyncio.run(run())
    return folder


@pytest.fixture(scope="module")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return imported(tmp_path_factory.mktemp("sample"), *FILES)


@pytest.fixture(scope="module")
def catalog_file(shared: Path) -> Path:
    return shared / "data" / "catalog" / "catalog-2026-08-16.jsonl.zst"


@pytest.fixture(scope="module")
def catalog_folder(catalog_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Imported once: that takes some seconds."""
    seeds = sorted(SEEDS.glob("*.bundle.json"))
    return imported(tmp_path_factory.mktemp("catalog"), catalog_file, *seeds)


@pytest.fixture
async def sample(sample_folder: Path) -> AsyncIterator[Index]:
    async with open_index(Settings(data_dir=sample_folder)) as index:
        yield index


@pytest.fixture
async def catalog(catalog_folder: Path) -> AsyncIterator[Index]:
    async with open_index(Settings(data_dir=catalog_folder)) as index:
        yield index


@pytest.fixture(params=EXPECTED, ids=[one["file"] for one in EXPECTED])
def expected(request: pytest.FixtureRequest) -> dict[str, Any]:
    seed: dict[str, Any] = request.param
    return seed


async def record(index: Index, expected: dict[str, Any]) -> dict[str, Any]:
    """A seed's record, every line of its page checked on the way: neighbours change none of them."""
    run: dict[str, Any] = (await ask(index, QUERY, id=expected["runDigest"]))["run"]
    page = expected["page"]
    for section in ("identity", "workload", "protocol", "environment"):
        assert pairs(run[f"{section}Facts"]) == page[section]
    assert run["comparisonKey"] == expected["comparisonKey"]
    assert run["primary"]["formatted"] == page["primary"]["value"]
    assert run["sourceMetricsText"] == page["sourceMetricsText"]
    assert run["source"]["name"] == page["footer"]["source"]
    assert run["evidence"]["level"] == expected["evidenceLevel"]
    assert f"All results for {run['operation']['name']}" == page["footer"]["allResults"]
    return run


async def test_the_seeds_have_their_ranks_in_the_sample(sample: Index, expected: dict[str, Any]) -> None:
    ranking = (await record(sample, expected))["ranking"]

    assert ranking["rank"] == expected["ranks"]["withSample"]
    assert ranking["groupSize"] >= ranking["rank"]
    assert ranking["leader"]["digest"] != expected["runDigest"]
    assert ranking["ratioToLeader"] > 1


async def test_the_seeds_have_their_ranks_in_the_catalog(catalog: Index, expected: dict[str, Any]) -> None:
    ranking = (await record(catalog, expected))["ranking"]

    assert ranking["rank"] == expected["ranks"]["withWholeCatalog"]
    assert ranking["ratioToLeader"] > 1


async def test_counts(catalog: Index, shared: Path) -> None:
    """The seeds are not in the catalog: they are two runs more, in groups that it has."""
    counts = json.loads((shared / "data" / "expected" / "expected-counts.json").read_text())
    query = """{
      runs { totalCount } operations { totalCount } sources { totalCount } rankings { totalCount }
      ranked: runs(filter: { eligible: true }) { totalCount }
      unranked: runs(filter: { eligible: false }, first: 100) { totalCount nodes { status ranking { reasons rank } } }
      reproducible: runs(filter: { evidenceAtLeast: REPRODUCIBLE }) { totalCount }
      failed: runs(filter: { status: RUNTIME_ERROR }) { totalCount }
    }"""

    data = await ask(catalog, query)

    totals = {name: page["totalCount"] for name, page in data.items()}
    assert totals == {
        "runs": counts["tables"]["benchmark_runs"] + len(EXPECTED),
        "operations": counts["tables"]["operations"],
        "sources": counts["tables"]["sources"],
        "rankings": counts["ranked_groups"],
        "ranked": counts["ranked_runs"] + len(EXPECTED),
        "unranked": counts["tables"]["benchmark_runs"] - counts["ranked_runs"],
        "reproducible": 175,
        "failed": counts["statuses"]["runtime_error"],
    }
    for run in data["unranked"]["nodes"]:
        assert run["ranking"] == {"reasons": [f"STATUS_{run['status']}", "MISSING_PRIMARY_METRIC"], "rank": None}


async def test_the_tie_vectors(catalog: Index, shared: Path) -> None:
    vectors = json.loads((shared / "data" / "expected" / "tie-vectors.json").read_text())
    query = """query($key: Digest!) { ranking(comparisonKey: $key) { size profile
      entries(first: 100) { nodes { rank tied value run { ranking { rank } } } } } }"""
    for vector in vectors:
        ranking = (await ask(catalog, query, key=vector["comparisonKey"]))["ranking"]
        entries = ranking["entries"]["nodes"]
        assert (ranking["size"], ranking["profile"]) == (vector["n"], vector["profile"].upper())
        assert [one["rank"] for one in entries] == [one["run"]["ranking"]["rank"] for one in entries] == vector["ranks"]
        assert [float(one["value"]) for one in entries] == vector["values"]
        assert [one["tied"] for one in entries] == [vector["ranks"].count(rank) > 1 for rank in vector["ranks"]]


def rows(file: Path, *tables: str) -> Iterator[tuple[str, dict[str, Any]]]:
    with file.open("rb") as packed:
        stream = zstandard.ZstdDecompressor().stream_reader(packed)
        for line in io.TextIOWrapper(stream, encoding="utf-8"):
            if any(f'"{table}"' in line[:40] for table in tables):
                item = json.loads(line)
                yield item["table"], item["row"]


async def test_every_id_of_the_catalog_leads_to_its_record(catalog: Index, catalog_file: Path) -> None:
    """Digests and comparison keys are the stored ones."""
    query = """query($ids: [ID!]!) { nodes(ids: $ids) {
      __typename id ... on Registered { digest } ... on RecordedArtifact { digest } ... on Run { comparisonKey } } }"""
    kinds = {
        "benchmark_runs": ("Run", "runDigest"),
        "implementations": ("Implementation", "implementationDigest"),
        "operations": ("Operation", "semanticDigest"),
        "workloads": ("Workload", "workloadDigest"),
        "projects": ("Project", None),
        "artifacts": ("RecordedArtifact", "contentDigest"),
        "sources": ("Source", None),
    }
    stored = list(rows(catalog_file, *kinds))
    assert len(stored) == 7857 + 4250 + 449 + 5627 + 588 + 3074 + 3
    for start in range(0, len(stored), 100):
        part = stored[start : start + 100]
        nodes = (await ask(catalog, query, ids=[row["id"] for _, row in part]))["nodes"]
        for (table, row), node in zip(part, nodes, strict=True):
            kind, digest = kinds[table]
            assert node["__typename"].startswith(kind)
            if digest:
                assert node["digest"] == row[digest]
            if table == "benchmark_runs":
                assert node["comparisonKey"] == row["comparisonKey"]


@pytest.mark.parametrize("order", ["RECORDED_AT", "OBSERVED_AT", "PUBLISHED_AT"])
async def test_all_runs_can_be_paged_through_in_every_order(catalog: Index, order: str) -> None:
    """Many of them were observed, and published, at the same instant."""
    query = f"""query($first: Int, $after: String, $last: Int, $before: String) {{
      runs(orderBy: {order}, first: $first, after: $after, last: $last, before: $before) {{
        nodes {{ digest }} pageInfo {{ startCursor endCursor hasNextPage hasPreviousPage }} }} }}"""
    forwards, backwards, after, before = list[str](), list[str](), None, None
    while True:
        page = (await ask(catalog, query, first=100, after=after))["runs"]
        forwards += [node["digest"] for node in page["nodes"]]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
    while True:
        page = (await ask(catalog, query, last=100, before=before))["runs"]
        backwards = [node["digest"] for node in page["nodes"]] + backwards
        before = page["pageInfo"]["startCursor"]
        if not page["pageInfo"]["hasPreviousPage"]:
            break

    assert len(forwards) == len(set(forwards)) == 7857 + len(EXPECTED)
    assert backwards == forwards


async def test_the_nearest_cases_of_the_catalog_are_those_of_brute_force(catalog: Index) -> None:
    """Of every tenth measured case, as if nobody had measured it, held against all others."""
    specs: dict[str, dict[str, Any]] = {
        digest: json.loads(manifest)["spec"]
        for digest, manifest in catalog.views.peek(
            lambda db: db.execute("SELECT digest, manifest FROM manifests WHERE kind = 'WorkloadCase'").fetchall()
        )
    }
    query = "SELECT DISTINCT workload FROM runs WHERE eligible AND to_position IS NULL ORDER BY workload"
    measured = [digest for (digest,) in catalog.views.peek(lambda db: db.execute(query).fetchall()) if digest in specs]
    cases = {digest: case_of(digest, specs[digest]) for digest in measured}
    found = 0
    for asked in measured[::10]:
        near = nearest(cases[asked], (case for digest, case in cases.items() if digest != asked))
        expected = by_brute_force(asked, set(measured) - {asked}, specs)
        assert {(one.axis, one.size, one.digest) for one in near} == expected
        found += len(near)
    assert found > 20


def by_brute_force(asked: str, measured: set[str], specs: dict[str, dict[str, Any]]) -> set[tuple[str, int, str]]:
    """The catalog's cases have no data or alignment: beside axes and shapes their data types tell them apart."""

    def rest(spec: dict[str, Any]) -> Any:
        dtypes = {name: tensor["dtype"] for name, tensor in spec["tensors"].items()}
        return spec["operationSpecDigest"], dtypes, spec.get("scalars"), spec["correctness"], sorted(spec["axes"])

    wanted = specs[asked]["axes"]
    sides: dict[tuple[str, bool], dict[int, set[str]]] = {}
    for digest in measured:
        axes = specs[digest]["axes"]
        if rest(specs[digest]) == rest(specs[asked]):
            differing = [axis for axis in wanted if axes[axis] != wanted[axis]]
            if len(differing) == 1:
                (axis,) = differing
                sides.setdefault((axis, axes[axis] > wanted[axis]), {}).setdefault(axes[axis], set()).add(digest)
    return {
        (axis, size, digest)
        for (axis, larger), sizes in sides.items()
        for size in [min(sizes) if larger else max(sizes)]
        for digest in sizes[size]
    }


async def test_every_operation_of_the_catalog_is_found_by_its_name_and_its_alias(catalog: Index) -> None:
    """By its name among the first hits; by its alias first, for an alias is an id."""
    rows = catalog.views.peek(
        lambda db: db.execute(
            "SELECT operations.name, alias, digest FROM operations JOIN aliases ON target = digest"
            " WHERE alias NOT GLOB '????????-????-????-????-????????????' ORDER BY alias LIMIT 60"
        ).fetchall()
    )
    for name, alias, digest in rows:
        query = "query($text: String!) { search(text: $text, first: 20) { hits { node { id } } } }"
        by_alias = (await ask(catalog, query, text=alias))["search"]["hits"]
        by_name = (await ask(catalog, query, text=name))["search"]["hits"]
        assert by_alias[0]["node"]["id"] == digest
        assert digest in {hit["node"]["id"] for hit in by_name}
    assert len(rows) == 60


async def test_the_record_history_is_the_published_one(catalog: Index, catalog_file: Path) -> None:
    """All 2,948 changes, each with the run that it fell to and the one that held it before.

    The seeds are not in the catalog, and one of them was observed before all others of its group: such groups are left
    out here.
    """
    seeded = {seed["comparisonKey"] for seed in EXPECTED}
    targets = {row["id"]: row["runDigest"] for _, row in rows(catalog_file, "benchmark_runs")}
    published = {
        (row["comparisonKey"], targets[row["runId"]], targets.get(row["previousRunId"]))
        for _, row in rows(catalog_file, "record_events")
    }
    query = """query($after: String) { records(basis: BY_OBSERVATION, first: 100, after: $after) {
      nodes { comparisonKey run { digest } previousRun { digest } } pageInfo { endCursor hasNextPage } } }"""
    shown, after, more = set(), None, True
    while more:
        page = (await ask(catalog, query, after=after))["records"]
        for node in page["nodes"]:
            previous = node["previousRun"]
            shown.add((node["comparisonKey"], node["run"]["digest"], previous and previous["digest"]))
        after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]

    assert len(published) == 2948
    assert {one for one in shown if one[0] not in seeded} == {one for one in published if one[0] not in seeded}
    assert len(shown) - len(published) in range(len(EXPECTED) + 1)


async def test_a_page_of_the_largest_group_is_small_and_takes_few_statements(catalog_folder: Path) -> None:
    """Given the whole catalog: the page of its largest group, now and as of an earlier position."""
    async with site(catalog_folder) as (here, visitor):
        index = here.app.state.web._index
        await settle(index)
        groups = (await ask(index, "{ rankings(first: 100) { nodes { comparisonKey size } } }"))["rankings"]["nodes"]
        largest = max(groups, key=lambda group: int(group["size"]))
        assert largest["size"] == 260
        path = f"/rankings/{hex_of(largest['comparisonKey'])}"
        for shown in (path, f"{path}?at={index.follower.head.position - 1}"):
            with counted(index) as statements:
                response = await visitor.get(shown, headers={"Accept": "text/html"})

            assert response.status_code == 200
            assert len(response.content) < 200_000, shown
            assert len(statements) < 20, (shown, len(statements))
