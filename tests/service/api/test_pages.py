"""What the pages of operations, workloads, implementations, projects, hardware and sources need."""

from typing import Any

import pytest

from domain.bundles import Bundle, bundle_of
from domain.commands import RegisterSource
from domain.manifests import Manifest
from domain.principals import LOCAL
from service.app import Index
from tests.examples import OPERATION, PROJECT, PROTOCOL, WORKLOAD, bundle, implementation, manifest
from tests.service.api.asking import ask, ingest_all

COVERAGE = "coverage { runCount rankedRunCount groupCount workloadCount implementationCount hardwareCount sourceCount }"


def protocol(version: str) -> Manifest:
    return manifest("BenchmarkProtocol", PROTOCOL.spec | {"harness": {"name": "tern-eval", "version": version}})


def measured(version: str, value: int | None, by: str, **spec: Any) -> Bundle:
    """A run under a harness version: each has a group of its own."""
    used = protocol(version)
    one = bundle(value, by=by, protocolDigest=used.digest, **spec)
    assert one.run
    return bundle_of(*(part for part in one.manifests if part.kind != used.kind), used, one.run)


def digest_of(one: Bundle) -> str:
    assert one.run
    return one.run.digest


FAST, SLOW = measured("1", 10, "heron"), measured("1", 30, "heron", observedAt="2026-08-02T12:00:00Z")
STORK = measured("1", 20, "stork")
OTHER_GROUP = measured("2", 5, "stork")
FAILED = measured("2", 1, "heron", status="timeout", sourceNative={"source": "tern-board"})


@pytest.fixture(autouse=True)
async def _world(index: Index) -> None:
    await ingest_all(index, FAST, SLOW, STORK, OTHER_GROUP, FAILED)
    await index.ledger.handle([RegisterSource(slug="tern-board", name="Tern", kind="board")], LOCAL)


def counts(*numbers: int) -> dict[str, int]:
    names = ("run", "rankedRun", "group", "workload", "implementation", "hardware", "source")
    return {f"{name}Count": number for name, number in zip(names, numbers, strict=True)}


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (OPERATION.digest, counts(5, 4, 2, 1, 2, 1, 2)),
        (WORKLOAD.digest, counts(5, 4, 2, 1, 2, 1, 2)),
        (PROJECT.digest, counts(5, 4, 2, 1, 2, 1, 2)),
        (implementation("heron").digest, counts(3, 2, 1, 1, 1, 1, 2)),
        (implementation("stork").digest, counts(2, 2, 2, 1, 1, 1, 1)),
        ("hardware/nvidia-b200", counts(5, 4, 2, 1, 2, 1, 2)),
        ("source/tern-board", counts(1, 0, 0, 1, 1, 1, 1)),
    ],
    ids=["operation", "workload", "project", "heron", "stork", "hardware", "source"],
)
async def test_coverage_counts_what_was_measured(index: Index, node: str, expected: dict[str, int]) -> None:
    kinds = ("Operation", "WorkloadCase", "Project", "Implementation", "Hardware", "Source")
    query = f"query($id: ID!) {{ node(id: $id) {{ {' '.join(f'... on {kind} {{ {COVERAGE} }}' for kind in kinds)} }} }}"

    assert (await ask(index, query, id=node))["node"]["coverage"] == expected


async def test_what_nobody_has_measured_is_covered_by_nothing(index: Index) -> None:
    lonely = manifest("OperationSpec", OPERATION.spec | {"family": "x"}, name="lonely")
    await ingest_all(index, bundle_of(lonely))

    query = f'{{ operation(slug: "lonely") {{ {COVERAGE} rankings {{ totalCount nodes {{ id }} }} }} }}'

    assert (await ask(index, query))["operation"] == {
        "coverage": counts(0, 0, 0, 0, 0, 0, 0),
        "rankings": {"totalCount": 0, "nodes": []},
    }


async def test_an_operation_s_groups_each_have_an_order_of_their_own(index: Index) -> None:
    """The fastest run of all is in the smaller group, and is ranked there only."""
    data = await ask(
        index,
        """query($id: ID!) { operation(id: $id) { rankings { totalCount nodes { size protocol { harnessVersion }
          leader { digest } entries { nodes { rank run { digest } } } } } } }""",
        id=OPERATION.digest,
    )

    rankings = data["operation"]["rankings"]
    assert rankings["totalCount"] == 2
    first, second = rankings["nodes"]
    assert (first["size"], first["protocol"]["harnessVersion"]) == (3, "1")
    assert [(entry["rank"], entry["run"]["digest"]) for entry in first["entries"]["nodes"]] == [
        (1, digest_of(FAST)),
        (2, digest_of(STORK)),
        (3, digest_of(SLOW)),
    ]
    assert first["leader"]["digest"] == digest_of(FAST)
    assert [entry["run"]["digest"] for entry in second["entries"]["nodes"]] == [digest_of(OTHER_GROUP)]


STANDINGS = """query($id: ID!) { node(id: $id) {
  ... on Implementation { standings { totalCount nodes { ...standing } } }
  ... on Project { standings { totalCount nodes { ...standing } } }
} }
fragment standing on Standing { rank runCount ratioToLeader run { digest } ranking { size protocol { harnessVersion } } }"""


async def test_an_implementation_stands_in_each_group_at_the_place_of_its_best_run(index: Index) -> None:
    heron = (await ask(index, STANDINGS, id=implementation("heron").digest))["node"]["standings"]
    stork = (await ask(index, STANDINGS, id=implementation("stork").digest))["node"]["standings"]

    assert heron == {
        "totalCount": 1,
        "nodes": [
            {
                "rank": 1,
                "runCount": 2,
                "ratioToLeader": 1,
                "run": {"digest": digest_of(FAST)},
                "ranking": {"size": 3, "protocol": {"harnessVersion": "1"}},
            }
        ],
    }
    assert [(one["rank"], one["ratioToLeader"], one["runCount"]) for one in stork["nodes"]] == [(2, 2, 1), (1, 1, 1)]


async def test_a_project_stands_where_its_implementations_do(index: Index) -> None:
    standings = (await ask(index, STANDINGS, id=PROJECT.digest))["node"]["standings"]

    assert [(one["rank"], one["runCount"]) for one in standings["nodes"]] == [(1, 3), (1, 1)]


async def test_standings_of_several_things_in_one_query_are_not_mixed_up(index: Index) -> None:
    """They are read together, and two of them are about one group."""
    data = await ask(
        index,
        """query($id: ID!) { project(id: $id) { implementations { nodes { name
          all: standings { nodes { rank run { digest } } } one: standings(first: 1) { nodes { rank } } } } } }""",
        id=PROJECT.digest,
    )

    ranks = {
        one["name"]: [standing["rank"] for standing in one["all"]["nodes"]]
        for one in data["project"]["implementations"]["nodes"]
    }
    assert ranks == {"heron": [1], "stork": [2, 1]}


async def test_runs_of_a_thing_come_newest_first_ranked_or_not(index: Index) -> None:
    data = await ask(
        index,
        """query($id: ID!, $operation: ID!) { implementation(id: $id) { runs { totalCount nodes { digest } } }
          hardware(slug: "nvidia-b200") { runs(first: 2) { nodes { digest } } }
          operation(id: $operation) { workloads { nodes { id } } implementations { nodes { name } } } }""",
        id=implementation("heron").digest,
        operation=OPERATION.digest,
    )

    runs = data["implementation"]["runs"]
    assert [one["digest"] for one in runs["nodes"]] == [digest_of(FAILED), digest_of(SLOW), digest_of(FAST)]
    assert [one["digest"] for one in data["hardware"]["runs"]["nodes"]] == [digest_of(FAILED), digest_of(OTHER_GROUP)]
    assert data["operation"]["workloads"]["nodes"] == [{"id": WORKLOAD.digest}]
    assert [one["name"] for one in data["operation"]["implementations"]["nodes"]] == ["heron", "stork"]


async def test_under_at_all_of_it_is_as_it_was(index: Index) -> None:
    """Coverage, standings, search, comparison and neighbours before the last writes, with pinned ids."""
    before = (await ask(index, "{ stamp { position } }"))["stamp"]["position"]
    query = f"""query($as: AsOf!, $id: ID!, $ids: [ID!]!, $workload: ID!) {{ at(asOf: $as) {{
      implementation(id: $id) {{ id {COVERAGE} runs {{ nodes {{ id }} }}
        standings {{ nodes {{ rank run {{ id }} ranking {{ id size }} }} }} }}
      search(text: "heron") {{ totalCount position hits {{ node {{ id }} matched snippet }} }}
      compare(ids: $ids) {{ runs {{ rank ratioToBest run {{ id }} }} }}
      nearestCases(workload: $workload) {{ axis size workload {{ id }} }}
    }} }}"""
    variables = {
        "as": {"position": before},
        "id": implementation("heron").digest,
        "ids": [digest_of(SLOW), digest_of(STORK)],
        "workload": WORKLOAD.digest,
    }
    then = await ask(index, query, **variables)

    await ingest_all(index, measured("1", 1, "stork"), measured("1", 2, "heron"), measured("3", 2, "heron"))

    assert await ask(index, query, **variables) == then
    implementation_then = then["at"]["implementation"]
    assert implementation_then["id"] == f"{implementation('heron').digest}@{before}"
    assert [one["id"] for one in implementation_then["runs"]["nodes"]] == [
        f"{digest}@{before}" for digest in (digest_of(FAILED), digest_of(SLOW), digest_of(FAST))
    ]
    assert implementation_then["standings"]["nodes"][0]["ranking"]["size"] == 3
    assert then["at"]["search"]["position"] == before
    assert {hit["node"]["id"].rpartition("@")[2] for hit in then["at"]["search"]["hits"]} == {str(before)}
    assert [one["rank"] for one in then["at"]["compare"]["runs"]] == [3, 2]
    now = await ask(index, "query($id: ID!) { implementation(id: $id) { runs { totalCount } } }", id=variables["id"])
    assert now["implementation"]["runs"]["totalCount"] == 5


async def test_a_pinned_id_is_found_and_compared_like_the_bare_one(index: Index) -> None:
    position = (await ask(index, "{ stamp { position } }"))["stamp"]["position"]
    pinned = [f"{digest_of(one)}@{position}" for one in (FAST, SLOW)]

    data = await ask(
        index,
        """query($ids: [ID!]!, $text: String!) { compare(ids: $ids) { comparable }
          search(text: $text) { hits { node { id } matched } } }""",
        ids=pinned,
        text=pinned[0],
    )

    assert data["compare"]["comparable"]
    assert data["search"]["hits"][0] == {"node": {"id": digest_of(FAST)}, "matched": ["id"]}
