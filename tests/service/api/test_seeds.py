"""Every fact of the two seed records comes out of one query that anybody may ask."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from graphql import parse

from domain.bundles import Bundle, read_bundle
from domain.commands import RegisterSource
from domain.identity import digest_of
from domain.principals import LOCAL
from service.api.schema import built_schema
from service.app import Index
from service.limits import Limits
from service.query_cost import query_cost
from tests.service.api.asking import ask, ingest_all

schema = built_schema()

SEEDS = Path(__file__).parents[2] / "fixtures" / "seeds"
EXPECTED: list[dict[str, Any]] = json.loads((SEEDS / "expected.json").read_text(encoding="utf-8"))
QUERY = (Path(__file__).parent / "record.graphql").read_text(encoding="utf-8")


class Seed(NamedTuple):
    bundle: dict[str, Any]
    expected: dict[str, Any]

    @property
    def page(self) -> dict[str, Any]:
        page: dict[str, Any] = self.expected["page"]
        return page

    def parts(self, *names: str) -> Bundle:
        """The bundle, or only some of its parts."""
        return read_bundle({name: self.bundle[name] for name in names or self.bundle})

    async def shown(self, index: Index) -> dict[str, Any]:
        """The record as the query shows it."""
        run: dict[str, Any] = (await ask(index, QUERY, id=self.expected["runDigest"]))["run"]
        return run


@pytest.fixture(params=EXPECTED, ids=[one["file"] for one in EXPECTED])
def seed(request: pytest.FixtureRequest) -> Seed:
    return Seed(json.loads((SEEDS / request.param["file"]).read_text(encoding="utf-8")), request.param)


@pytest.fixture
async def index(index: Index) -> Index:
    """An index that knows the seeds' source."""
    source = RegisterSource(slug="sol-execbench", name="NVIDIA SOL-ExecBench", kind="leaderboard")
    await index.ledger.handle([source], LOCAL)
    return index


def pairs(lines: list[dict[str, str]]) -> list[list[str]]:
    return [[line["key"], line["value"]] for line in lines]


def test_the_query_is_one_that_anybody_may_ask() -> None:
    """It stays within the limit on cost for readers without a key."""
    assert query_cost(schema._schema, parse(QUERY), None, {}) <= Limits().cost


class TestTheWholeBundle:
    @pytest.fixture
    async def run(self, index: Index, seed: Seed) -> dict[str, Any]:
        await ingest_all(index, seed.parts())
        return await seed.shown(index)

    async def test_digests_and_keys(self, run: dict[str, Any], seed: Seed) -> None:
        expected = seed.expected
        assert run["digest"] == run["id"] == expected["runDigest"]
        for part in ("implementation", "workload", "operation", "protocol", "environment", "project"):
            assert run[part]["digest"] == expected[f"{part}Digest"]
        assert run["comparisonKey"] == expected["comparisonKey"]
        assert run["comparison"] == {
            "operation": expected["operationDigest"],
            "workload": expected["workloadDigest"],
            "protocol": expected["protocolDigest"],
            "environment": expected["environmentDigest"],
            "correctness": expected["correctnessKey"],
            "metric": expected["metricKey"],
        }
        assert run["unresolved"] == []

    async def test_the_bytes_behind_each_digest(self, run: dict[str, Any], seed: Seed) -> None:
        for part in (run, *(run[name] for name in ("implementation", "workload", "operation", "project"))):
            assert digest_of(part["canonical"].encode()) == part["digest"]
        for part in ("run", "protocol", "environment"):
            shown = run if part == "run" else run[part]
            assert json.loads(shown["manifest"])["metadata"] == seed.bundle[part]["metadata"]

    async def test_measurements_and_evidence(self, run: dict[str, Any], seed: Seed) -> None:
        expected, page = seed.expected, seed.page
        primary = run["primary"]
        named = {name: primary[name] for name in ("metric", "statistic", "unit")}
        assert named == {name: expected["primary"][name] for name in named}
        assert primary["value"] == str(expected["primary"]["value"])
        assert primary["number"] == expected["primary"]["value"]
        assert primary["formatted"] == page["primary"]["value"]
        assert primary["statistic"] == page["primary"]["statistic"]
        shown = [[f"{one['metric']} · {one['statistic']}", one["formatted"]] for one in run["measurements"]]
        assert shown == page["measurements"]
        assert run["evidence"]["level"] == expected["evidenceLevel"]
        assert not run["evidence"]["contested"]

    async def test_every_line_of_the_page(self, run: dict[str, Any], seed: Seed) -> None:
        page = seed.page
        assert f"Run {run['shortId']} · KernelIndex" == page["title"]
        assert run["shortId"] == page["shortId"]
        assert run["profile"] == page["comparison"]["profile"]
        assert run["comparisonText"] == page["comparison"]["text"]
        assert run["observedAt"].startswith(page["comparison"]["observedOn"])
        assert run["sourceMetricsText"] == page["sourceMetricsText"]
        for section in ("identity", "workload", "protocol", "environment"):
            assert pairs(run[f"{section}Facts"]) == page[section]
        assert run["correctnessText"] == page["correctness"].removesuffix(" (own wording)")
        assert run["artifacts"] == []

    async def test_the_footer_and_what_a_citation_needs(self, run: dict[str, Any], seed: Seed) -> None:
        footer = seed.page["footer"]
        assert run["publishedAt"] == f"{footer['publishedOn']}T00:00:00Z"
        assert run["source"]["name"] == footer["source"]
        assert f"All results for {run['operation']['name']}" == footer["allResults"]
        assert run["permalink"].endswith(f"/runs/{seed.expected['runDigest'].removeprefix('sha256:')}")
        assert run["pinnedPermalink"] == f"{run['permalink']}/at/{run['stamp']['position']}"
        assert run["stamp"]["accessedOn"] == "2026-09-01"

    async def test_it_leads_its_group_of_one(self, run: dict[str, Any], seed: Seed) -> None:
        ranking = run["ranking"]
        assert (ranking["rank"], ranking["groupSize"], ranking["tied"]) == (1, 1, False)
        assert ranking["leader"]["digest"] == seed.expected["runDigest"]
        assert (ranking["eligible"], ranking["reasons"]) == (True, [])


class TestWhatThePublicPagePublishes:
    """Only the run, its protocol and its environment (``*.manifest.json`` of the shared data)."""

    PUBLISHED = ("run", "protocol", "environment")
    REST = ("implementation", "workload", "operation", "project")

    async def test_the_published_files_are_these_three_parts(self, seed: Seed, shared: Path) -> None:
        file = shared / "data" / "seeds" / seed.expected["file"].replace(".bundle.", ".manifest.")
        assert json.loads(file.read_text()) == {part: seed.bundle[part] for part in self.PUBLISHED}

    async def test_all_else_is_as_in_the_whole_record(self, index: Index, seed: Seed) -> None:
        await ingest_all(index, seed.parts(*self.PUBLISHED))
        partial = await seed.shown(index)
        await ingest_all(index, seed.parts(*self.REST))
        whole = await seed.shown(index)

        apart = {"implementation", "project", "revision", "workload", "workloadLabel", "workloadFacts", "operation"}
        apart |= {"comparisonKey", "comparison", "ranking", "unresolved", "identityFacts", "evidence"}
        apart |= {"pinnedPermalink", "stamp"}
        changed = {name for name in whole if partial[name] != whole[name]}
        assert changed <= apart
        assert partial["evidence"]["level"] == seed.expected["evidenceLevel"]
        about = {"implementation", "project", "revision", "workload", "comparison key", "external id"}
        for before, after in zip(pairs(partial["identityFacts"]), pairs(whole["identityFacts"]), strict=True):
            assert before == after or before[0] in about

    async def test_what_is_missing_says_that_it_is_unresolved(self, index: Index, seed: Seed) -> None:
        await ingest_all(index, seed.parts(*self.PUBLISHED))

        run = await seed.shown(index)

        expected = seed.expected
        for part in self.REST:
            assert run[part] is None
        assert sorted(run["unresolved"]) == sorted([expected["implementationDigest"], expected["workloadDigest"]])
        assert (run["comparisonKey"], run["comparison"], run["revision"]) == (None, None, None)
        assert run["workloadLabel"] == f"unresolved workload {expected['workloadDigest'][7:15]}"
        lines = dict(pairs(run["identityFacts"]))
        assert lines["implementation"] == f"unresolved implementation {expected['implementationDigest'][7:15]}"
        assert lines["workload"] == run["workloadLabel"]
        for line in ("project", "revision", "comparison key"):
            assert "unresolved" in lines[line]
        ranking = run["ranking"]
        assert (ranking["rank"], ranking["leader"], ranking["groupSize"]) == (None, None, 0)
        assert (ranking["eligible"], ranking["reasons"]) == (False, ["REFERENCE_UNRESOLVED"])
