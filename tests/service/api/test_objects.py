"""What the nodes around a run show, and which runs a filter chooses."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from domain.bundles import bundle_of
from domain.commands import Ingest, RegisterSource
from domain.principals import LOCAL
from service.app import Index, open_index
from service.settings import Settings
from tests.examples import (
    ENVIRONMENT,
    OPERATION,
    PROJECT,
    PROTOCOL,
    WORKLOAD,
    Ids,
    bundle,
    implementation,
    ingest,
    manifest,
    run,
)
from tests.service.api.asking import ask, ingest_all, run_of

SUITE = manifest(
    "WorkloadSuite",
    {
        "operationSpecDigest": OPERATION.digest,
        "cases": [
            {"externalId": "a", "axes": {"tokens": 1}},
            {"externalId": "b", "axes": {"tokens": 2}},
        ],
        "aggregation": {"metric": "latency", "statistic": "mean"},
        "correctness": {"comparator": "exact"},
    },
)


def environment(product: str, architecture: str) -> Any:
    hardware = {"vendor": "nvidia", "product": product, "architecture": architecture}
    return manifest("ExecutionEnvironment", {"hardware": hardware, "software": {}})


async def test_hardware_gathers_what_environments_say_of_it(index: Index) -> None:
    """One product under every spelling of its slug, with all architectures that it was named with."""
    await ingest_all(
        index,
        bundle_of(environment("NVIDIA B200", "sm_100")),
        bundle_of(environment("NVIDIA B200", "sm_100a")),
        bundle_of(environment("Nvidia B200", "sm_100")),
        bundle_of(environment("NVIDIA H100 PCIe", "sm_90")),
    )
    query = "query($slug: String!) { hardware(slug: $slug) { id slug product vendor architectures } }"

    assert (await ask(index, query, slug="nvidia-b200"))["hardware"] == {
        "id": "hardware/nvidia-b200",
        "slug": "nvidia-b200",
        "product": "NVIDIA B200",
        "vendor": "nvidia",
        "architectures": ["sm_100", "sm_100a"],
    }
    assert (await ask(index, query, slug="nvidia-h100-pcie"))["hardware"]["architectures"] == ["sm_90"]
    assert (await ask(index, query, slug="nvidia-h100"))["hardware"] is None


@pytest.mark.parametrize("named_by", ["manifest", "alias"])
async def test_an_implementation_s_name_leaves_out_the_operation_once_it_is_known(index: Index, named_by: str) -> None:
    """Everywhere: on the node, and on the page of the runs that were measured before."""
    titled = manifest("ImplementationRevision", implementation().spec, name="x", title="rmsnorm_h4096 · Heron")
    other = manifest("OperationSpec", OPERATION.spec, title="Other")
    operation = (
        bundle_of(OPERATION) if named_by == "manifest" else bundle_of(other, record={"aliases": ["rmsnorm_h4096"]})
    )
    one = run_of()
    query = """query($id: ID!) { run(id: $id) { implementation { name } identityFacts { key value } } }"""

    async def names() -> set[str]:
        shown = (await ask(index, query, id=one.digest))["run"]
        lines = {line["key"]: line["value"] for line in shown["identityFacts"]}
        return {shown["implementation"]["name"], lines["implementation"]}

    await ingest_all(index, bundle_of(titled), bundle_of(one))
    assert await names() == {"rmsnorm_h4096"}
    await ingest_all(index, operation)

    assert await names() == {"Heron"}


async def test_workloads_show_their_sizes_and_lines(index: Index) -> None:
    await ingest_all(index, bundle_of(OPERATION), bundle_of(WORKLOAD), bundle_of(SUITE))
    query = """query($id: ID!) { workload(id: $id) {
      __typename label facts { key value } dtypes operation { name }
      ... on WorkloadCase { axes { name value } }
      ... on WorkloadSuite { caseCount cases { externalId axes { name value } } aggregation { metric statistic } } } }"""

    case = (await ask(index, query, id=WORKLOAD.digest))["workload"]
    suite = (await ask(index, query, id=SUITE.digest))["workload"]

    assert case == {
        "__typename": "WorkloadCase",
        "label": "tokens = 2048 · bf16",
        "facts": [
            {"key": "axes", "value": "tokens = 2048"},
            {"key": "tensor x", "value": "bf16 [2048]"},
            {"key": "comparator", "value": "elementwise_close"},
            {"key": "maxAbsoluteError", "value": "0.01"},
        ],
        "dtypes": ["bf16"],
        "operation": {"name": "RMSNorm h4096"},
        "axes": [{"name": "tokens", "value": "2048"}],
    }
    assert suite == {
        "__typename": "WorkloadSuite",
        "label": "suite of 2 cases · mean latency",
        "facts": [{"key": "comparator", "value": "exact"}],
        "dtypes": [],
        "operation": {"name": "RMSNorm h4096"},
        "caseCount": 2,
        "cases": [
            {"externalId": "a", "axes": [{"name": "tokens", "value": "1"}]},
            {"externalId": "b", "axes": [{"name": "tokens", "value": "2"}]},
        ],
        "aggregation": {"metric": "latency", "statistic": "mean"},
    }


@pytest.mark.parametrize("count", [100, 101])
async def test_of_a_list_the_first_100_entries_are_shown_and_how_many_it_has(index: Index, count: int) -> None:
    """Intake takes what the published schemas take; the manifest is kept whole."""
    names = [f"axis{number:03}" for number in range(count)]
    case = manifest("WorkloadCase", {**WORKLOAD.spec, "axes": dict.fromkeys(names, 7)})
    suite = manifest("WorkloadSuite", {**SUITE.spec, "cases": [{"externalId": "a", "axes": dict.fromkeys(names, 7)}]})
    await ingest_all(index, bundle_of(OPERATION), bundle_of(case), bundle_of(suite))
    query = """query ($id: ID!) { workload(id: $id) {
      manifest cutLists { path count }
      ... on WorkloadCase { axes { name } }
      ... on WorkloadSuite { cases { axes { name } } }
    } }"""
    one = (await ask(index, query, id=case.digest))["workload"]
    two = (await ask(index, query, id=suite.digest))["workload"]
    assert [axis["name"] for axis in one["axes"]] == names[:100]
    assert [axis["name"] for axis in two["cases"][0]["axes"]] == names[:100]
    assert one["cutLists"] == ([] if count == 100 else [{"path": "axes", "count": 101}])
    assert two["cutLists"] == ([] if count == 100 else [{"path": "cases[0].axes", "count": 101}])
    assert (one["manifest"], two["manifest"]) == (case.canonical.decode(), suite.canonical.decode())


async def test_a_line_made_of_a_manifest_of_a_mebibyte_is_cut(index: Index) -> None:
    """A page of 100 runs would repeat it in each."""
    case = manifest("WorkloadCase", {**WORKLOAD.spec, "axes": {f"axis{number:05}": number for number in range(20_000)}})
    await ingest_all(index, bundle_of(OPERATION), bundle_of(case))
    shown = await ask(index, "query($id: ID!) { workload(id: $id) { label facts { value } } }", id=case.digest)
    for text in (shown["workload"]["label"], shown["workload"]["facts"][0]["value"]):
        assert len(text) == 4_001
        assert text.endswith("…")


async def test_implementations_with_the_same_source_say_so(index: Index) -> None:
    """Case 13: byte-equal code under other names has the same source digest."""
    source = {"contentDigest": f"sha256:{'7' * 64}"}
    same = [implementation(name, source=source) for name in ("heron", "stork")]
    await ingest_all(index, *(bundle_of(one) for one in (*same, implementation("crane"))))
    query = (
        "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Implementation { sourceDigest sourceAvailable revision } } }"
    )

    nodes = (await ask(index, query, ids=[*(one.digest for one in same), implementation("crane").digest]))["nodes"]

    assert nodes == [
        {"sourceDigest": source["contentDigest"], "sourceAvailable": True, "revision": "heron"},
        {"sourceDigest": source["contentDigest"], "sourceAvailable": True, "revision": "stork"},
        {"sourceDigest": None, "sourceAvailable": False, "revision": "crane"},
    ]


async def test_the_time_that_is_shown_never_runs_backwards(tmp_path: Path) -> None:
    """A host whose clock is late appends too: ``asOf`` is then the latest time known, ``recordedAt`` what was written."""
    hours = iter([9, 11, 10, 12, 8])
    clock = [datetime(2026, 9, 1, 9, tzinfo=UTC)]

    async with open_index(Settings(data_dir=tmp_path), now=lambda: clock[0], new_id=Ids()) as index:
        shown = []
        for number, hour in enumerate(hours):
            clock[0] = datetime(2026, 9, 1, hour, tzinfo=UTC)
            await index.ledger.handle([ingest(100 + number)], LOCAL)
            data = await ask(index, "{ stamp { asOf } runs(first: 1) { nodes { recordedAt } } }")
            shown.append((data["stamp"]["asOf"][11:13], data["runs"]["nodes"][0]["recordedAt"][11:13]))

    assert shown == [("09", "09"), ("11", "11"), ("11", "10"), ("12", "12"), ("12", "08")]


NOWHERE = "sha256:" + "9" * 64
ALL = frozenset({"plain", "elsewhere", "fp8", "evident", "failed", "early", "late", "board", "old", "unresolved"})
CRITERIA: tuple[tuple[dict[str, Any], frozenset[str] | set[str]], ...] = (
    ({}, ALL),
    ({"operation": OPERATION.digest}, ALL - {"unresolved"}),
    ({"implementation": implementation("plain").digest}, {"plain"}),
    ({"project": PROJECT.digest}, ALL - {"unresolved"}),
    ({"workload": WORKLOAD.digest}, ALL - {"unresolved", "fp8"}),
    ({"workload": NOWHERE}, {"unresolved"}),
    ({"source": "tern-board"}, {"board"}),
    ({"source": "nobody"}, set()),
    ({"hardware": "NVIDIA H100"}, {"elsewhere"}),
    ({"hardware": "nvidia-h100"}, {"elsewhere"}),
    ({"architecture": "sm_90"}, {"elsewhere"}),
    ({"dtype": "fp8_e4m3"}, {"fp8"}),
    ({"status": "TIMEOUT"}, {"failed"}),
    ({"evidenceAtLeast": "REPORTED"}, ALL),
    ({"evidenceAtLeast": "REPRODUCIBLE"}, {"evident"}),
    ({"evidenceAtLeast": "VERIFIED"}, set()),
    ({"eligible": False}, {"failed", "unresolved"}),
    ({"eligible": True, "observedTo": "2026-07-01T00:00:00Z"}, set()),
    ({"observedTo": "2026-07-01T00:00:00.000000001Z"}, {"early"}),
    ({"observedFrom": "2026-08-02T00:00:00.5Z"}, {"late"}),
    ({"observedFrom": "2026-08-02T00:00Z", "observedTo": "2026-08-02T00:00:00.500Z"}, set()),
    ({"publishedTo": "2020-01-01T00:00:01Z"}, {"old"}),
    ({"publishedFrom": "2020-01-01T00:00:01Z", "hardware": "nvidia-h100"}, {"elsewhere"}),
)


class TestFilters:
    """Each criterion chooses exactly the runs that meet it."""

    @pytest.fixture(autouse=True)
    async def _world(self, index: Index) -> None:
        other = environment("NVIDIA H100", "sm_90")
        fp8 = manifest(
            "WorkloadCase", WORKLOAD.spec | {"tensors": {"x": {"shape": [1], "dtype": "fp8_e4m3"}}}, name="fp8"
        )
        elsewhere = run(2, by="elsewhere", environmentDigest=other.digest)
        on_fp8 = run(3, by="fp8", workloadDigest=fp8.digest)
        evident = {"source": {"contentDigest": f"sha256:{'7' * 64}"}}
        log = {"digest": f"sha256:{'8' * 64}", "uri": "https://tern.example/log"}
        reproducible = run(
            4, by="evident", implementationDigest=implementation("evident", **evident).digest, evidence={"logs": log}
        )
        shared_parts = (PROJECT, OPERATION, PROTOCOL)
        bundles = [
            bundle(1, by="plain"),
            bundle_of(*shared_parts, WORKLOAD, implementation("elsewhere"), other, elsewhere),
            bundle_of(*shared_parts, fp8, implementation("fp8"), ENVIRONMENT, on_fp8),
            bundle_of(*shared_parts, WORKLOAD, implementation("evident", **evident), ENVIRONMENT, reproducible),
            bundle(5, by="failed", status="timeout"),
            bundle(6, by="early", observedAt="2026-07-01T00:00:00Z"),
            bundle(7, by="late", observedAt="2026-08-02T00:00:00.5Z"),
            bundle(8, by="board", sourceNative={"source": "tern-board"}),
            msgspec.structs.replace(bundle(9, by="old"), published_at="2020-01-01T00:00:00Z"),
        ]
        await index.ledger.handle([Ingest(bundle=one) for one in bundles], LOCAL)
        await index.ledger.handle([RegisterSource(slug="tern-board", name="Tern", kind="board")], LOCAL)
        await index.ledger.handle([Ingest(bundle=bundle_of(run(10, by="unresolved", workloadDigest=NOWHERE)))], LOCAL)

    async def chosen(self, index: Index, criteria: dict[str, Any]) -> set[str]:
        query = "query($f: RunFilter) { runs(filter: $f) { totalCount nodes { title } } }"
        page = (await ask(index, query, f=criteria))["runs"]
        assert page["totalCount"] == len(page["nodes"])
        return {node["title"].removeprefix("run-") for node in page["nodes"]}

    async def test_each_criterion(self, index: Index) -> None:
        for criteria, names in CRITERIA:
            assert await self.chosen(index, criteria) == names, criteria

    async def test_a_comparison_key_chooses_its_group_ranked_or_not(self, index: Index) -> None:
        group = ALL - {"elsewhere", "fp8", "unresolved"}
        query = "query($id: ID!) { run(id: $id) { comparisonKey } }"
        key = (await ask(index, query, id=run_of(1, by="plain").digest))["run"]["comparisonKey"]

        assert await self.chosen(index, {"comparisonKey": key}) == group

    async def test_groups_are_chosen_alike(self, index: Index) -> None:
        query = "query($f: RankingFilter) { rankings(filter: $f) { totalCount nodes { size } } }"
        for criteria, sizes in (
            ({}, [6, 1, 1]),
            ({"operation": OPERATION.digest}, [6, 1, 1]),
            ({"workload": WORKLOAD.digest}, [6, 1]),
            ({"hardware": "nvidia-h100"}, [1]),
            ({"dtype": "fp8_e4m3"}, [1]),
            ({"source": "tern-board"}, [6]),
            ({"source": "nobody"}, []),
        ):
            page = (await ask(index, query, f=criteria))["rankings"]
            assert ([node["size"] for node in page["nodes"]], page["totalCount"]) == (sizes, len(sizes)), criteria

    @pytest.mark.parametrize(
        ("order", "first", "last"),
        [
            ("RECORDED_AT", "unresolved", "plain"),
            ("OBSERVED_AT", "late", "early"),
            ("PUBLISHED_AT", "unresolved", "old"),
        ],
    )
    async def test_orders_begin_with_the_newest(self, index: Index, order: str, first: str, last: str) -> None:
        page = (await ask(index, f"{{ runs(orderBy: {order}) {{ nodes {{ title }} }} }}"))["runs"]["nodes"]

        assert [page[0]["title"], page[-1]["title"]] == [f"run-{first}", f"run-{last}"]
