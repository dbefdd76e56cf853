"""``compare``: runs side by side, through the API, and as documents to take away."""

import csv
import io
import json
from typing import Any

import pytest

from domain.bundles import Bundle, bundle_of
from service.app import Index
from tests.examples import PROTOCOL, WORKLOAD, bundle, manifest
from tests.service.api.asking import ask, error_of, ingest_all, run_of

COMPARE = """query($ids: [ID!]!) { compare(ids: $ids) {
  comparable verdict comparisonKey fieldCount
  firstMismatch { section path material differs values { run text registered } }
  runs { rank tied ratioToBest run { digest shortId primary { formatted } } }
  fields { section path material differs values { text } }
  differing: fields(differing: true) { section path }
} }"""
EXPORT = "query($ids: [ID!]!, $as: ComparisonFormat!) { compare(ids: $ids) { export(format: $as) } }"


async def compare(index: Index, *ids: str) -> Any:
    return (await ask(index, COMPARE, ids=ids))["compare"]


async def export(index: Index, form: str, *ids: str) -> str:
    return str((await ask(index, EXPORT, ids=ids, **{"as": form}))["compare"]["export"])


def other_harness(value: int, by: str) -> Bundle:
    used = manifest("BenchmarkProtocol", PROTOCOL.spec | {"harness": {"name": "tern-eval", "version": "0.4.3"}})
    one = bundle(value, by=by, protocolDigest=used.digest)
    assert one.run
    return bundle_of(*(part for part in one.manifests if part.kind != used.kind), used, one.run)


async def test_runs_of_one_group_with_their_ranks_and_ratios(index: Index) -> None:
    await ingest_all(index, bundle(100, by="a"), bundle(150, by="b"), bundle(50, by="leader"))
    a, b = run_of(100, by="a").digest, run_of(150, by="b").digest

    compared = await compare(index, b, a[7:20])

    assert compared["comparable"]
    assert compared["firstMismatch"] is None
    assert compared["comparisonKey"]
    assert [(one["rank"], one["ratioToBest"]) for one in compared["runs"]] == [(3, 1.5), (2, 1)]
    assert [one["run"]["digest"] for one in compared["runs"]] == [b, a]
    differing = {f"{one['section']} {one['path']}" for one in compared["differing"]}
    assert {"IMPLEMENTATION digest", "RUN digest", "RUN timing.latencyNs.median"} <= differing
    assert not any(field["material"] and field["differs"] for field in compared["fields"])
    said = {f"{one['section']} {one['path']}": one["values"][0]["text"] for one in compared["fields"]}
    assert said["ENVIRONMENT hardware.product"] == "NVIDIA B200"
    assert said["PROTOCOL harness.version"] == "0.4.2"
    assert said["WORKLOAD digest"] == WORKLOAD.digest
    assert said["RUN source"] == "local"
    assert said["METRIC statistic"] == "median"
    assert compared["fieldCount"] == len(compared["fields"])


async def test_runs_of_different_groups_get_neither_and_the_mismatch_is_named(index: Index) -> None:
    await ingest_all(index, bundle(100, by="a"), other_harness(90, "b"))
    other = other_harness(90, "b").run
    assert other

    compared = await compare(index, run_of(100, by="a").digest, other.digest)

    assert not compared["comparable"]
    assert compared["verdict"] == "not comparable: protocol harness.version differs: 0.4.2, 0.4.3"
    mismatch = compared["firstMismatch"]
    assert (mismatch["section"], mismatch["path"], mismatch["material"]) == ("PROTOCOL", "harness.version", True)
    assert [value["text"] for value in mismatch["values"]] == ["0.4.2", "0.4.3"]
    assert {(one["rank"], one["ratioToBest"]) for one in compared["runs"]} == {(None, None)}
    assert [field["section"] for field in compared["fields"][:2]] == ["PROTOCOL", "PROTOCOL"]


async def test_a_run_whose_references_are_not_registered_is_compared_by_their_digests(index: Index) -> None:
    alone = run_of(90, by="b", protocolDigest=f"sha256:{'9' * 64}")
    await ingest_all(index, bundle(100, by="a"), Bundle(run=alone))

    compared = await compare(index, run_of(100, by="a").digest, alone.digest)

    mismatch = compared["firstMismatch"]
    assert (mismatch["section"], mismatch["path"]) == ("PROTOCOL", "digest")
    version = next(field for field in compared["fields"] if field["path"] == "harness.version")
    assert [value["text"] for value in version["values"]] == ["0.4.2", None]
    assert not version["differs"]


class TestExports:
    OTHER = bundle(150, by="b", sourceNative={"source": "local", "externalId": "b|*x"})
    IDS = (run_of(100, by="a").digest, OTHER.run.digest if OTHER.run else "")

    @pytest.fixture(autouse=True)
    async def _world(self, index: Index) -> None:
        await ingest_all(index, bundle(100, by="a"), self.OTHER)

    async def test_json_holds_what_the_fields_say(self, index: Index) -> None:
        document = json.loads(await export(index, "JSON", *self.IDS))

        compared = await compare(index, *self.IDS)
        assert [one["digest"] for one in document["runs"]] == list(self.IDS)
        assert [one["ratioToBest"] for one in document["runs"]] == [1, 1.5]
        assert [one["value"] for one in document["runs"]] == ["100", "150"]
        assert [(one["section"], one["path"]) for one in document["fields"]] == [
            (one["section"], one["path"]) for one in compared["fields"]
        ]
        assert (document["comparable"], document["firstMismatch"]) == (True, None)
        assert document["position"] == str((await ask(index, "{ stamp { position } }"))["stamp"]["position"])

    async def test_csv_has_a_row_for_each_field_and_a_column_for_each_run(self, index: Index) -> None:
        rows = list(csv.reader(io.StringIO(await export(index, "CSV", *self.IDS))))

        assert rows[0] == ["section", "field", "material", "differs", *self.IDS]
        assert {len(row) for row in rows} == {6}
        assert ["RESULT", "value", "", "", "100 ns", "150 ns"] in rows
        assert ["RESULT", "ratio to best", "", "", "1", "1.5"] in rows
        assert ["PROTOCOL", "harness.version", "yes", "no", "0.4.2", "0.4.2"] in rows
        assert ["RUN", "timing.latencyNs.median", "no", "yes", "100", "150"] in rows

    async def test_markdown_is_a_table_that_no_name_breaks(self, index: Index) -> None:
        text = await export(index, "MARKDOWN", *self.IDS)

        assert text.startswith("**comparable")
        table = [line for line in text.splitlines() if line.startswith("|")]
        cells = [line.replace(r"\|", "").count("|") for line in table]
        assert set(cells) == {5}
        assert any(r"b\|\*x" in line for line in table)
        assert any(line.startswith("| ratio to best | 1 | 1.5 |") for line in table)

    async def test_no_cell_of_a_csv_is_a_formula(self, index: Index) -> None:
        hostile = bundle(120, by="c", sourceNative={"source": "local", "externalId": "=cmd()", "benchmark": "@x"})
        await ingest_all(index, hostile)
        assert hostile.run

        text = await export(index, "CSV", self.IDS[0], hostile.run.digest)

        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        assert "'=cmd()" in cells
        assert not [cell for cell in cells if cell.startswith(("=", "@"))]


class TestWhatIsRefused:
    @pytest.fixture(autouse=True)
    async def _world(self, index: Index) -> None:
        await ingest_all(index, *(bundle(100 + number, by=f"n{number}") for number in range(9)))

    @pytest.mark.parametrize("count", [0, 1, 9])
    async def test_fewer_than_two_and_more_than_eight(self, index: Index, count: int) -> None:
        ids = [run_of(100 + number, by=f"n{number}").digest for number in range(count)]

        error = await error_of(index, COMPARE, ids=ids)

        assert (error["code"], error["path"]) == ("INVALID_ARGUMENT", "ids")

    async def test_eight_are_not(self, index: Index) -> None:
        ids = [run_of(100 + number, by=f"n{number}").digest for number in range(8)]

        assert [one["rank"] for one in (await compare(index, *ids))["runs"]] == list(range(1, 9))

    async def test_one_run_twice_whatever_it_is_called(self, index: Index) -> None:
        digest = run_of(100, by="n0").digest

        error = await error_of(index, COMPARE, ids=[digest, digest[7:20]])

        assert (error["code"], error["path"]) == ("INVALID_ARGUMENT", "ids")

    @pytest.mark.parametrize("wrong", ["", "x", f"sha256:{'0' * 64}", WORKLOAD.digest])
    async def test_what_is_no_run(self, index: Index, wrong: str) -> None:
        error = await error_of(index, COMPARE, ids=[run_of(100, by="n0").digest, wrong])

        assert (error["code"], error["path"]) == ("NOT_FOUND", "ids[1]")
