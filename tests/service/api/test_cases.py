"""Faults that people met in systems like this one, asked through the API (``tests/fixtures/cases``)."""

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.bundles import Bundle, bundle_of
from domain.commands import Ingest, RetractRun
from domain.json_text import Json
from domain.manifests import read_manifest
from domain.principals import LOCAL
from service.app import Index, open_index
from service.settings import Settings
from tests.examples import ENVIRONMENT, OPERATION, PROJECT, WORKLOAD, Clock, Ids, bundle, implementation, run
from tests.service.api.asking import ask, ingest_all, text_of

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
INGEST = """
  mutation($input: IngestRunInput!) { ingestRun(input: $input) {
    __typename
    ... on IngestRunSuccess { digest created run { digest primary { value number } } }
    ... on UserError { code message path remedy }
  } }"""


def case(name: str) -> Any:
    (file,) = CASES.glob(f"{name}-*.json")
    return json.loads(file.read_text(encoding="utf-8"))


def scored(by: str, seconds: float, **spec: Any) -> Bundle:
    """A run with a source-native score in seconds."""
    score = {"metric": "score", "statistic": "geomean", "unit": "s", "value": seconds}
    return bundle(None, by=by, measurements=[score], sourceNative={"source": "kernelbot"}, **spec)


async def ranks(index: Index) -> dict[str, int | None]:
    """The rank of each run by the name of its implementation."""
    data = await ask(index, "{ runs(first: 100) { nodes { implementation { name } ranking { rank } } } }")
    return {run["implementation"]["name"]: run["ranking"]["rank"] for run in data["runs"]["nodes"]}


RANKING = """
  query($key: Digest!, $first: Int, $after: String, $last: Int, $before: String) { ranking(comparisonKey: $key) {
    size metric statistic unit profile lowerIsBetter leader { title }
    entries(first: $first, after: $after, last: $last, before: $before) {
      totalCount position
      nodes { rank tied value ratioToLeader run { title digest } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  } }"""


async def the_key(index: Index) -> str:
    """The comparison key of the only group."""
    (node,) = (await ask(index, "{ rankings { nodes { comparisonKey } } }"))["rankings"]["nodes"]
    return str(node["comparisonKey"])


class TestCase01TwoLeadersWithTheSameScore:
    RUNS = case("01")["runs"]
    RANKS: ClassVar = {"alder": 1, "birch": 1, "fir": 2, "cedar": 3, "dogwood": 3, "elm": 4}

    def bundles(self) -> list[Bundle]:
        return [scored(one["implementation"], one["score_s"], observedAt=one["observedAt"]) for one in self.RUNS]

    async def test_equal_scores_share_a_rank_and_the_next_float_does_not(self, index: Index) -> None:
        await ingest_all(index, *self.bundles())

        assert await ranks(index) == self.RANKS
        ranking = (await ask(index, RANKING, key=await the_key(index)))["ranking"]
        entries = ranking["entries"]["nodes"]
        assert [one["value"] for one in entries[:3]] == ["0.0023749119639396668"] * 2 + ["0.002374911963939667"]
        assert [one["tied"] for one in entries] == [True, True, False, True, True, False]
        assert [one["ratioToLeader"] for one in entries[:2]] == [1, 1]
        assert entries[2]["ratioToLeader"] >= 1
        assert entries[-1]["ratioToLeader"] > 1
        # Both lead; the newer observation is shown first.
        assert ranking["leader"]["title"] == "run-birch"

    @settings(max_examples=10, deadline=None)
    @given(st.permutations(range(6)))
    def test_no_order_of_arrival_changes_the_ranks(self, order: list[int]) -> None:
        async def ranked() -> dict[str, int | None]:
            with TemporaryDirectory() as folder:
                async with open_index(Settings(data_dir=Path(folder)), now=Clock(), new_id=Ids()) as index:
                    bundles = self.bundles()
                    await ingest_all(index, *(bundles[place] for place in order))
                    return await ranks(index)

        assert asyncio.run(ranked()) == self.RANKS


async def test_case_03_a_run_without_a_value_is_not_ranked(index: Index) -> None:
    """And it does not keep the later good run of the same implementation from its rank."""
    steps = [step["publish"] for step in case("03")["steps"] if "publish" in step]
    names = {}
    for step in steps:
        one = bundle(step.get("primary_ns"), by=step["implementation"], status=step["status"])
        await ingest_all(index, one)
        assert one.run
        names[one.run.digest] = step["id"]

    async def rankings() -> dict[str, Any]:
        data = await ask(index, "{ runs { nodes { digest primary { value } ranking { rank eligible reasons } } } }")
        return {names[run["digest"]]: run["ranking"] for run in data["runs"]["nodes"]}

    before = await rankings()
    [unmeasured] = [digest for digest, name in names.items() if name == "n1"]
    await index.ledger.handle([RetractRun(run=unmeasured, reason="it has no value")], LOCAL)
    after = await rankings()

    assert before["n1"] == {"rank": None, "eligible": False, "reasons": ["MISSING_PRIMARY_METRIC"]}
    assert after["n1"] == {"rank": None, "eligible": False, "reasons": ["RETRACTED", "MISSING_PRIMARY_METRIC"]}
    for shown in (before, after):
        assert [shown[name]["rank"] for name in ("n2", "n3")] == [1, 2]


async def test_case_11_the_same_run_posted_again_and_not_quite_the_same(index: Index) -> None:
    """A retry gets its answer again, another body under the same key is refused, the same content is the same run."""
    answers, positions = [], []
    for post in case("11")["posts"]:
        # Not as canonical text: the last post has its fields in another order.
        given = {"run": json.dumps(post["body"]), "idempotencyKey": post["key"]}
        data = await ask(index, INGEST, input=given)
        answers.append(data["ingestRun"])
        positions.append((await ask(index, "{ stamp { position } }"))["stamp"]["position"])

    digest = "sha256:9a9df16217183ed6cc868f6f3d63f3976676dfa29b58c3d966cd36f596fc5383"
    first, retry, changed, reordered = answers
    assert (first["digest"], first["created"]) == (digest, True)
    assert retry == first
    assert (changed["__typename"], changed["code"]) == ("Conflict", "IDEMPOTENCY_KEY_REUSED")
    assert (reordered["digest"], reordered["created"]) == (digest, False)
    assert len(set(positions)) == 1
    runs = (await ask(index, "{ runs { totalCount nodes { digest } } }"))["runs"]
    assert runs == {"totalCount": 1, "nodes": [{"digest": digest}]}


async def test_case_15_the_same_name_in_another_unicode_form_is_refused(index: Index) -> None:
    """The message says what is wrong and where; the composed name is one project."""
    manifests = [{"manifest": json.dumps(tree, ensure_ascii=False)} for tree in case("15")["projects"]]
    data = await ask(
        index,
        """mutation($input: RegisterManifestsInput!) { registerManifests(input: $input) {
          ... on RegisterManifestsSuccess { results {
            ... on RegisterManifestSuccess { digest created node { ... on Project { name } } }
            ... on InvalidInput { code path message remedy problems { code path } }
          } } } }""",
        input={"manifests": manifests, "idempotencyKey": "nfc"},
    )

    composed, decomposed = data["registerManifests"]["results"]
    assert composed["digest"] == "sha256:c629d365849d81f8d4c320dc92b8af6d8948c54a1d4bffb485cdf4fb6ba3480a"
    assert composed["node"]["name"] == "J\u00fcrgen K\u00e4rnel"
    assert decomposed["code"] == "INVALID_TEXT"
    assert decomposed["path"] == "manifests[1].manifest.spec.name"
    assert "NFC" in decomposed["message"] + decomposed["remedy"]
    other = "sha256:83e2c18d9036bf85bbef1379380dac7e86ff59bd7df49eb877f402edea044a50"
    assert (await ask(index, "query($id: ID!) { project(id: $id) { name } }", id=other))["project"] is None


class TestCase21BeyondThirtyTwoBits:
    VALUES = (2147483647, 2147483648, 4891380208, 5400000000000)

    @pytest.fixture(autouse=True)
    async def _ingested(self, index: Index) -> None:
        """Ingested through variables, in the spelling of the case."""
        for number, one in enumerate(case("21")["runs"]):
            timing = {"primaryStatistic": "median", "samples": 2**40, "latencyNs": {"median": one["latency"]}}
            manifest = run(None, by=one["id"], timing=timing)
            manifests = {"workload": text_of(WORKLOAD), "operation": text_of(OPERATION), "run": text_of(manifest)}
            manifests |= {"implementation": text_of(implementation(one["id"]))}
            answer = (await ask(index, INGEST, input={**manifests, "idempotencyKey": str(number)}))["ingestRun"]
            assert answer["run"]["primary"] == {"value": str(self.VALUES[number]), "number": self.VALUES[number]}

    async def test_values_are_exact_as_text_and_as_numbers(self, index: Index) -> None:
        query = "{ runs { nodes { primary { value number formatted sampleCount } measurements { value } } } }"
        found = [node["primary"] for node in (await ask(index, query))["runs"]["nodes"]][::-1]

        assert [one["value"] for one in found] == [str(value) for value in self.VALUES]
        assert [one["number"] for one in found] == list(self.VALUES)
        assert [one["formatted"] for one in found] == ["2.15 s", "2.15 s", "4.89 s", "5400.0 s"]
        assert {one["sampleCount"] for one in found} == {str(2**40)}

    async def test_filters_and_variables_and_rankings_hold_them_too(self, index: Index) -> None:
        await ingest_all(index, bundle_of(PROJECT), bundle_of(ENVIRONMENT), bundle_of(bundle().manifests[-2]))
        query = """query($key: Digest!, $from: DateTime) { runs(
          filter: { comparisonKey: $key, observedFrom: $from, eligible: true }) { nodes { primary { value } } } }"""
        key = await the_key(index)

        found = (await ask(index, query, key=key, **{"from": "2026-08-01T12:00:00Z"}))["runs"]["nodes"]
        ranking = (await ask(index, RANKING, key=key))["ranking"]

        assert [one["primary"]["value"] for one in found[::-1]] == [str(value) for value in self.VALUES]
        assert [one["value"] for one in ranking["entries"]["nodes"]] == [str(value) for value in self.VALUES]


class TestCase39PagingThroughEqualValues:
    RANKS: ClassVar = {"t5": 1, "t1": 2, "t2": 2, "t3": 2, "t4": 2, "t7": 2, "t6": 3}

    @pytest.fixture(autouse=True)
    async def _ingested(self, index: Index) -> None:
        await ingest_all(index, *(bundle(value, by=name) for name, value in case("39")["runs"]))

    async def pages(self, index: Index, *, backward: bool = False, insert_after: int | None = None) -> list[Any]:
        key, cursor, pages = await the_key(index), None, list[Any]()
        while True:
            window = {"last": 2, "before": cursor} if backward else {"first": 2, "after": cursor}
            page = (await ask(index, RANKING, key=key, **window))["ranking"]["entries"]
            pages.append(page)
            if len(pages) == insert_after:
                await ingest_all(index, bundle(80, by="t8"))
            info = page["pageInfo"]
            if not info["hasPreviousPage" if backward else "hasNextPage"]:
                return pages
            cursor = info["startCursor" if backward else "endCursor"]

    async def test_forwards_each_run_comes_once_with_its_rank(self, index: Index) -> None:
        pages = await self.pages(index)

        assert [len(page["nodes"]) for page in pages] == [2, 2, 2, 1]
        rows = [(one["run"]["title"].removeprefix("run-"), one["rank"]) for page in pages for one in page["nodes"]]
        assert dict(rows) == self.RANKS
        assert len(rows) == len(self.RANKS)
        assert [rank for _, rank in rows] == [1, 2, 2, 2, 2, 2, 3]

    async def test_backwards_is_the_mirror(self, index: Index) -> None:
        forwards = [one for page in await self.pages(index) for one in page["nodes"]]

        pages = await self.pages(index, backward=True)

        assert [len(page["nodes"]) for page in pages] == [2, 2, 2, 1]
        assert [one for page in reversed(pages) for one in page["nodes"]] == forwards

    @pytest.mark.parametrize("backward", [False, True])
    async def test_an_insert_between_pages_loses_and_repeats_none(self, index: Index, backward: bool) -> None:
        """The pages go on showing the snapshot that the paging began with, and say so."""
        before = await self.pages(index, backward=backward)

        pages = await self.pages(index, backward=backward, insert_after=2)

        assert pages == before
        assert {page["totalCount"] for page in pages} == {7}
        assert {page["position"] for page in pages} == {before[0]["position"]}
        fresh = (await ask(index, RANKING, key=await the_key(index)))["ranking"]["entries"]
        assert fresh["totalCount"] == 8
        assert [one["rank"] for one in fresh["nodes"]] == [1, 2, 3, 3, 3, 3, 3, 4]

    async def test_runs_that_tie_in_every_order_page_the_same(self, index: Index) -> None:
        """All seven were observed at the same instant."""
        query = """query($after: String) { runs(first: 2, after: $after, orderBy: OBSERVED_AT) {
          nodes { digest } pageInfo { endCursor hasNextPage } } }"""
        seen, after = list[str](), None
        while True:
            page = (await ask(index, query, after=after))["runs"]
            seen += [node["digest"] for node in page["nodes"]]
            if len(seen) == 4:
                await ingest_all(index, bundle(80, by="t8"))
            if not page["pageInfo"]["hasNextPage"]:
                break
            after = page["pageInfo"]["endCursor"]

        assert len(seen) == len(set(seen)) == 7


async def test_case_47_another_harness_version_is_another_group(index: Index) -> None:
    """A title is editorial: it makes no other protocol, and no other group."""
    protocols = [read_manifest(tree) for tree in case("47")["protocols"]]
    for name, protocol, value in case("47")["runs"]:
        used = protocols[protocol]
        one = run(value, by=name, protocolDigest=used.digest)
        await ingest_all(index, bundle_of(PROJECT, OPERATION, WORKLOAD, implementation(name), used, ENVIRONMENT, one))

    data = await ask(
        index,
        """{ runs { nodes { title digest comparisonKey protocol { digest title } ranking { rank groupSize } } }
          rankings { totalCount nodes { size protocol { harnessVersion } entries { nodes { run { title } } } } } }""",
    )

    runs = {run["title"].removeprefix("run-"): run for run in data["runs"]["nodes"]}
    assert [runs[name]["protocol"]["digest"][:19] for name in ("e1", "e2", "e3")] == [
        "sha256:ebaddce9a204",
        "sha256:220283e8c890",
        "sha256:ebaddce9a204",
    ]
    assert {name: run["ranking"]["rank"] for name, run in runs.items()} == {"e1": 1, "e3": 2, "e2": 1}
    assert runs["e1"]["comparisonKey"] == runs["e3"]["comparisonKey"] != runs["e2"]["comparisonKey"]
    assert runs["e3"]["protocol"]["title"] == "Tern protocol"
    assert data["rankings"]["totalCount"] == 2
    assert [group["size"] for group in data["rankings"]["nodes"]] == [2, 1]

    compared = await ask(
        index,
        """query($ids: [ID!]!) { compare(ids: $ids) { comparable verdict firstMismatch { section path }
          runs { rank ratioToBest } } }""",
        ids=[run["digest"] for run in (runs["e1"], runs["e2"])],
    )
    assert compared["compare"] == {
        "comparable": False,
        "verdict": "not comparable: protocol harness.version differs: 0.4.2, 0.4.3",
        "firstMismatch": {"section": "PROTOCOL", "path": "harness.version"},
        "runs": [{"rank": None, "ratioToBest": None}] * 2,
    }


async def test_the_thirteen_tie_vectors(index: Index, shared: Path) -> None:
    """Groups of the real catalog with ties, each as a group of its own here, one environment apart."""
    vectors = json.loads((shared / "data" / "expected" / "tie-vectors.json").read_text())
    assert len(vectors) == 13
    for number, vector in enumerate(vectors):
        spec: Json = {
            "hardware": {"vendor": "nvidia", "product": f"Card {number}", "architecture": "sm_90"},
            "software": {},
        }
        environment = read_manifest(
            {
                "apiVersion": "kernelindex.dev/v1alpha1",
                "kind": "ExecutionEnvironment",
                "metadata": {"name": f"card-{number}"},
                "spec": spec,
            }
        )
        commands = [
            Ingest(bundle=bundle_of(*one.manifests[:-1], environment, one.run))
            for place, value in enumerate(vector["values"])
            if (one := scored(f"kernel-{place}", value, environmentDigest=environment.digest)).run
        ]
        await index.ledger.handle(commands, LOCAL)

    groups = (await ask(index, "{ rankings(first: 20) { nodes { id hardware { product } } } }"))["rankings"]["nodes"]

    assert len(groups) == 13
    for group in groups:
        vector = vectors[int(group["hardware"]["product"].removeprefix("Card "))]
        ranking = (await ask(index, RANKING, key=group["id"], first=100))["ranking"]
        assert (ranking["size"], ranking["profile"]) == (vector["n"], vector["profile"].upper())
        assert [one["rank"] for one in ranking["entries"]["nodes"]] == vector["ranks"]
        assert [float(one["value"]) for one in ranking["entries"]["nodes"]] == vector["values"]
