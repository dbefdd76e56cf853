"""The pages of operations, workloads, implementations and projects."""

from typing import Any

import httpx
import pytest

from domain.bundles import bundle_of
from domain.commands import Ingest
from domain.identity import hex_of
from domain.manifests import Manifest
from service.pages.parameters import ROWS
from tests.examples import OPERATION, PROJECT, PROTOCOL, WORKLOAD, implementation, ingest, manifest
from tests.service.pages.reading import Element, Page
from tests.service.pages.test_run_page import opened, record
from tests.service.site import Site

SUITE = manifest(
    "WorkloadSuite",
    {
        "operationSpecDigest": OPERATION.digest,
        "cases": [{"externalId": "small", "axes": {"tokens": 1}}, {"externalId": "large", "axes": {"tokens": 9}}],
        "aggregation": {"metric": "latency", "statistic": "mean"},
        "correctness": {"comparator": "exact"},
    },
)


def rows(section: Element) -> list[str]:
    return [row.text for row in section.one("tbody").all("tr")]


def counts(page: Page) -> dict[str, str]:
    (shown,) = page.root.all("dl", cls="counts")
    return {line[0]: line[1] for line in shown.facts}


def operation(number: int, family: str = "gemm") -> Manifest:
    return manifest("OperationSpec", OPERATION.spec | {"family": family}, name=f"op-{number}", title=f"op {number:03}")


@pytest.fixture
async def filled(here: Site) -> Site:
    """Two runs in one group, one in another under another protocol, and a suite without runs."""
    other = manifest("BenchmarkProtocol", PROTOCOL.spec | {"harness": {"name": "owl-eval"}})
    apart = ingest(4000, protocolDigest=other.digest).bundle
    kept = [part for part in apart.manifests if part.digest != PROTOCOL.digest]
    assert apart.run
    await record(
        here,
        ingest(8000),
        ingest(16000, by="tern"),
        Ingest(bundle=bundle_of(*kept, other, apart.run)),
        Ingest(bundle=bundle_of(SUITE, OPERATION)),
    )
    return here


async def test_operations_are_listed_with_how_much_was_measured(filled: Site, visitor: httpx.AsyncClient) -> None:
    await record(filled, Ingest(bundle=bundle_of(operation(1))))

    page = await opened(visitor, "/operations")

    assert rows(page.section("content")) == ["Op 001 gemm 0 0 0 0 0", "RMSNorm h4096 rmsnorm 3 2 1 2 1"]
    assert page.links["RMSNorm h4096"] == "/operations/rmsnorm-h4096"
    of_one = await opened(visitor, page.links["gemm"])
    assert rows(of_one.section("content")) == ["Op 001 gemm 0 0 0 0 0"]


async def test_a_long_list_goes_on_within_its_family(here: Site, visitor: httpx.AsyncClient) -> None:
    whole = [
        manifest("OperationSpec", OPERATION.spec | {"axes": {"n": {"role": "variable", "type": "integer", "minimum": n + 1}}},
                 name=f"op-{n}", title=f"op {n:03}")
        for n in range(ROWS + 5)
    ]  # fmt: skip
    await record(here, *(Ingest(bundle=bundle_of(one)) for one in whole), Ingest(bundle=bundle_of(operation(999))))

    page = await opened(visitor, "/operations?family=rmsnorm")
    seen = rows(page.section("content"))
    page = await opened(visitor, page.links["More operations"])
    seen += rows(page.section("content"))

    assert [row.split()[1] for row in seen] == [f"{number:03}" for number in range(ROWS + 5)]


async def test_groups_of_an_operation_stand_beside_one_another_never_in_one_order(
    filled: Site, visitor: httpx.AsyncClient
) -> None:
    page = await opened(visitor, "/operations/rmsnorm-h4096")

    assert counts(page) == {
        "runs": "3",
        "ranked runs": "3",
        "groups": "2",
        "workload": "1",
        "implementations": "2",
        "hardware product": "1",
        "source": "1",
    }
    groups = rows(page.section("content").all("table", cls="cards")[0])
    workload = "tokens = 2048 · bf16 NVIDIA B200"
    assert groups == [
        f"{workload} tern-eval median latency 2 run-heron 8.00 µs",
        f"{workload} owl-eval median latency 1 run-heron 4.00 µs",
    ]
    assert "runs of different groups were measured in different ways and don't compare" in page.root.text
    assert page.root.one("input", name="q").attributes["value"] == "op:rmsnorm-h4096 "
    assert "tokens variable any" in page.root.text


async def test_a_workload_shows_its_groups(filled: Site, visitor: httpx.AsyncClient) -> None:
    page = await opened(visitor, f"/workloads/{hex_of(WORKLOAD.digest)}")

    assert page.root.one("h1").text == "tokens = 2048 · bf16"
    assert page.links["RMSNorm h4096"] == "/operations/rmsnorm-h4096"
    assert counts(page)["groups"] == "2"
    assert ["axes", "tokens = 2048"] in page.root.facts
    assert not page.root.all(id="nearest")


async def test_a_suite_shows_its_cases(filled: Site, visitor: httpx.AsyncClient) -> None:
    page = await opened(visitor, f"/workloads/{hex_of(SUITE.digest)}")

    assert [one.text for one in page.root.one("ol").all("li")] == ["small tokens = 1", "large tokens = 9"]
    assert "No group with ranked runs." in page.root.text


async def test_what_nobody_measured_leads_to_its_measured_neighbours(filled: Site, visitor: httpx.AsyncClient) -> None:
    unmeasured = manifest(
        "WorkloadCase", WORKLOAD.spec | {"axes": {"tokens": 4096}, "tensors": WORKLOAD.spec["tensors"]}
    )
    await record(filled, Ingest(bundle=bundle_of(OPERATION, unmeasured)))

    page = await opened(visitor, f"/workloads/{hex_of(unmeasured.digest)}")

    (row,) = rows(page.root.one("table", cls="cards"))
    assert row.startswith("tokens = 2048 · bf16")
    assert row.endswith("tokens 4096 2048 3")
    assert page.links["tokens = 2048 · bf16"] == f"/workloads/{hex_of(WORKLOAD.digest)}"


async def test_an_implementation_shows_where_it_stands(filled: Site, visitor: httpx.AsyncClient) -> None:
    page = await opened(visitor, f"/implementations/{hex_of(implementation('tern').digest)}")

    assert page.root.one("h1").text == "tern"
    assert page.links["Heron Kernels"] == f"/projects/{hex_of(PROJECT.digest)}"
    (row,) = rows(page.root.one("table", cls="cards"))
    assert row.startswith("RMSNorm h4096, tokens = 2048 · bf16 NVIDIA B200")
    assert row.endswith("16.0 µs 2 of 2 2.00× 1")
    assert ["language", "triton"] in page.root.facts


async def test_a_project_shows_its_best_in_each_group(filled: Site, visitor: httpx.AsyncClient) -> None:
    page = await opened(visitor, f"/projects/{hex_of(PROJECT.digest)}")

    assert page.root.one("h1").text == "Heron Kernels"
    standings = rows(page.root.one("table", cls="cards"))
    assert sorted(row.split("B200 ")[1][9:] for row in standings) == [
        "4.00 µs 1 of 1 1.00× 1",
        "8.00 µs 1 of 2 1.00× 2",
    ]
    assert {"heron", "tern"} <= set(page.links)


@pytest.mark.parametrize("path", ["operations/nope", "workloads/{}", "implementations/{}", "projects/{}"])
@pytest.mark.parametrize("id_", ["0" * 64, "nonsense"])
async def test_what_there_is_none_of_is_not_found(visitor: httpx.AsyncClient, path: str, id_: str) -> None:
    response = await visitor.get(f"/{path.format(id_)}", headers={"Accept": "text/html"})

    assert response.status_code == 404
    assert Page(response.text).root.one("article").lines[0] == "404 · NOT_FOUND"


@pytest.mark.parametrize("kind", ["workloads", "implementations", "projects"])
async def test_a_prefix_opens_it_and_one_of_another_kind_does_not(
    filled: Site, visitor: httpx.AsyncClient, kind: str
) -> None:
    ids: dict[str, Any] = {
        "workloads": WORKLOAD.digest,
        "implementations": implementation("tern").digest,
        "projects": PROJECT.digest,
    }
    for name, digest in ids.items():
        response = await visitor.get(f"/{kind}/{hex_of(digest)[:12]}", headers={"Accept": "text/html"})

        assert response.status_code == (200 if name == kind else 404)
