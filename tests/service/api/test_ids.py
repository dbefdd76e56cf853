"""What an id means: digests, prefixes, aliases, and the ids of what is no manifest."""

import pytest

from domain.bundles import Bundle, bundle_of
from domain.commands import Ingest, RegisterSource
from domain.facts import ArtifactRecorded
from domain.manifests import Manifest
from domain.principals import LOCAL
from service.api.execute import execute
from service.app import Index
from tests.examples import ENVIRONMENT, OPERATION, PROJECT, PROTOCOL, WORKLOAD, bundle, implementation, manifest
from tests.service.api.asking import ask, error_of, run_of

RUN = run_of()
SUITE = manifest(
    "WorkloadSuite",
    {
        "operationSpecDigest": OPERATION.digest,
        "cases": [{"externalId": "a", "axes": {"tokens": 1}}],
        "aggregation": {"metric": "latency", "statistic": "mean"},
        "correctness": {"comparator": "exact"},
    },
)
ALIAS = "01a00328-723d-752f-b21f-bccbae31e07b"
GROUP = "sha256:90d8fb48eee127a75f5aaad4b87460915c69e585772d6d534fab1c099cf113a2"
ARTIFACT = ArtifactRecorded(digest=f"sha256:{'2' * 64}", kind="source", size_bytes=4575)
NODES = {
    RUN.digest: "Run",
    PROJECT.digest: "Project",
    OPERATION.digest: "Operation",
    WORKLOAD.digest: "WorkloadCase",
    SUITE.digest: "WorkloadSuite",
    implementation().digest: "Implementation",
    PROTOCOL.digest: "Protocol",
    ENVIRONMENT.digest: "Environment",
    GROUP: "Ranking",
    "source/tern-board": "Source",
    "hardware/nvidia-b200": "Hardware",
    ARTIFACT.digest: "RecordedArtifact",
}
# Found by trying: the two digests share their first eight digits.
TWINS = [manifest("SoftwareProject", {"name": f"Project {number}"}, name=f"p-{number}") for number in (38051, 43067)]

RUN_QUERY = "query($id: ID!) { run(id: $id) { digest aliases } }"
NODE_QUERY = "query($id: ID!) { node(id: $id) { __typename id } }"
NODES_QUERY = "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }"


def alone(one: Manifest, *aliases: str) -> Ingest:
    return Ingest(bundle=bundle_of(one, record={"aliases": list(aliases)}))


@pytest.fixture(autouse=True)
async def _world(index: Index) -> None:
    commands = [
        Ingest(bundle=bundle()),
        alone(SUITE),
        Ingest(bundle=Bundle(artifacts=(ARTIFACT,), aliases=(("old-artifact-id", ARTIFACT.digest),))),
        alone(RUN, ALIAS, "norm/run 1"),
        alone(OPERATION, "rmsnorm_h4096"),
        RegisterSource(slug="tern-board", name="Tern Board", kind="leaderboard", aliases=("old-source-id",)),
        *(alone(twin) for twin in TWINS),
    ]
    await index.ledger.handle(commands, LOCAL)


async def test_a_run_answers_to_its_digest_any_long_enough_prefix_and_its_aliases(index: Index) -> None:
    for text in (
        RUN.digest,
        RUN.digest[7:],
        RUN.digest[:15],
        RUN.digest[7:15],
        RUN.digest[7:70],
        ALIAS,
        "norm/run 1",
    ):
        run = (await ask(index, RUN_QUERY, id=text))["run"]
        assert run == {"digest": RUN.digest, "aliases": [ALIAS, "norm/run 1"]}, text


async def test_what_is_no_run_is_null_and_no_error(index: Index) -> None:
    """Unknown ids, prefixes of fewer than eight digits, parts of aliases, and the ids of other things."""
    for text in (
        "",
        " ",
        "sha256:",
        RUN.digest[7:14],
        RUN.digest[7:].upper(),
        RUN.digest + "0",
        "0" * 64,
        "f" * 8,
        ALIAS[:8],
        ALIAS[:-1],
        ALIAS.upper(),
        ALIAS + " ",
        "norm/run",
        "%",
        "source/tern-board",
        WORKLOAD.digest,
        WORKLOAD.digest[7:15],
        "rmsnorm_h4096",
        "old-source-id",
        GROUP,
        "x" * 10_000,
        "\x00",
    ):
        assert (await ask(index, RUN_QUERY, id=text))["run"] is None, text


async def test_an_ambiguous_prefix_lists_its_candidates(index: Index) -> None:
    query = "query($id: ID!) { project(id: $id) { id } stamp { position } }"
    prefix = TWINS[0].digest[7:15]

    response = await execute(index, query, {"id": prefix})

    (error,) = response["errors"]
    assert (error["extensions"]["code"], error["extensions"]["path"], error["path"]) == (
        "AMBIGUOUS_ID",
        "id",
        ["project"],
    )
    assert all(twin.digest in error["message"] for twin in TWINS)
    # The field alone is null: what was asked beside it is answered.
    assert response["data"]["project"] is None
    assert response["data"]["stamp"]["position"] > 0
    longer = TWINS[1].digest[7:]
    unique = next(longer[:size] for size in range(9, 64) if not TWINS[0].digest[7:].startswith(longer[:size]))
    assert (await ask(index, query, id=unique))["project"]["id"] == TWINS[1].digest


async def test_a_prefix_is_ambiguous_only_among_what_is_asked_for(index: Index) -> None:
    """``node`` may be anything, ``operation`` only an operation."""
    prefix = TWINS[0].digest[7:15]

    assert (await ask(index, "query($id: ID!) { operation(id: $id) { id } }", id=prefix))["operation"] is None
    assert (await error_of(index, NODE_QUERY, id=prefix))["code"] == "AMBIGUOUS_ID"


async def test_a_record_s_own_digits_can_t_be_taken_by_an_alias(index: Index) -> None:
    hex64 = RUN.digest[7:]
    await index.ledger.handle([alone(PROTOCOL, hex64), alone(run_of(1, by="thief"), hex64[:63])], LOCAL)

    assert (await ask(index, NODE_QUERY, id=hex64))["node"]["id"] == RUN.digest
    assert (await ask(index, RUN_QUERY, id=hex64))["run"]["digest"] == RUN.digest


async def test_everything_with_an_id_is_a_node(index: Index) -> None:
    for id_, kind in NODES.items():
        assert (await ask(index, NODE_QUERY, id=id_))["node"] == {"__typename": kind, "id": id_}


async def test_aliases_and_prefixes_lead_to_nodes_too(index: Index) -> None:
    ids = ["rmsnorm_h4096", ALIAS, "old-source-id", "old-artifact-id", SUITE.digest[7:20], GROUP[7:], "nothing"]

    found = (await ask(index, NODES_QUERY, ids=ids))["nodes"]

    known = [None if one is None else one["id"] for one in found]
    assert known == [OPERATION.digest, RUN.digest, "source/tern-board", ARTIFACT.digest, SUITE.digest, None, None]


async def test_nodes_keep_the_order_asked_for_with_null_for_the_unknown(index: Index) -> None:
    ids = ["source/nobody", *NODES, "hardware/none", *reversed(NODES), "source/"]

    found = (await ask(index, NODES_QUERY, ids=ids))["nodes"]

    assert [None if one is None else one["id"] for one in found] == [
        None,
        *NODES,
        None,
        *reversed(NODES),
        None,
    ]


async def test_one_ambiguous_id_among_nodes_spoils_no_other(index: Index) -> None:
    response = await execute(index, NODES_QUERY, {"ids": [RUN.digest, TWINS[0].digest[7:15], PROJECT.digest]})

    assert [one and one["id"] for one in response["data"]["nodes"]] == [RUN.digest, None, PROJECT.digest]
    (error,) = response["errors"]
    assert (error["path"], error["extensions"]["code"]) == (["nodes", 1], "AMBIGUOUS_ID")


async def test_at_most_100_nodes_at_once(index: Index) -> None:
    assert len((await ask(index, NODES_QUERY, ids=[RUN.digest] * 100))["nodes"]) == 100
    assert (await error_of(index, NODES_QUERY, ids=[RUN.digest] * 101))["code"] == "INVALID_ARGUMENT"


async def test_a_source_that_runs_name_and_nobody_registered_is_shown_and_is_no_node(index: Index) -> None:
    run = (await ask(index, "query($id: ID!) { run(id: $id) { source { id registered name kind } } }", id=RUN.digest))[
        "run"
    ]

    assert run["source"] == {"id": "source/local", "registered": False, "name": "local", "kind": None}
    assert (await ask(index, NODE_QUERY, id="source/local"))["node"] is None


class TestFilters:
    QUERY = "query($filter: RunFilter) { runs(filter: $filter) { totalCount } }"

    async def test_take_ids_in_every_form(self, index: Index) -> None:
        for text in (OPERATION.digest, OPERATION.digest[7:15], "rmsnorm_h4096"):
            assert (await ask(index, self.QUERY, filter={"operation": text}))["runs"]["totalCount"] == 1

    async def test_refuse_an_id_that_names_nothing_or_another_thing(self, index: Index) -> None:
        for text in ("nothing", "0" * 8, WORKLOAD.digest):
            error = await error_of(index, self.QUERY, filter={"operation": text})
            assert (error["code"], error["path"]) == ("NOT_FOUND", "filter.operation")

    async def test_find_runs_by_the_digest_of_what_is_not_registered(self, index: Index) -> None:
        unresolved = run_of(1, workloadDigest="sha256:" + "9" * 64)
        await index.ledger.handle([alone(unresolved)], LOCAL)

        found = await ask(index, self.QUERY, filter={"workload": unresolved.spec["workloadDigest"]})

        assert found["runs"]["totalCount"] == 1


class TestOperations:
    QUERY = "query($id: ID, $slug: String) { operation(id: $id, slug: $slug) { digest } }"

    async def test_a_slug_means_the_newest_revision(self, index: Index) -> None:
        assert (await ask(index, self.QUERY, slug="rmsnorm-h4096"))["operation"]["digest"] == OPERATION.digest
        newer = manifest("OperationSpec", OPERATION.spec | {"family": "norm"}, name="rmsnorm-h4096")
        await index.ledger.handle([alone(newer)], LOCAL)

        assert (await ask(index, self.QUERY, slug="rmsnorm-h4096"))["operation"]["digest"] == newer.digest
        assert (await ask(index, self.QUERY, id=OPERATION.digest))["operation"]["digest"] == OPERATION.digest
        assert (await ask(index, self.QUERY, slug="nothing"))["operation"] is None

    async def test_exactly_one_of_id_and_slug(self, index: Index) -> None:
        for given in ({}, {"id": OPERATION.digest, "slug": "rmsnorm-h4096"}):
            assert (await error_of(index, self.QUERY, **given))["code"] == "INVALID_ARGUMENT"
