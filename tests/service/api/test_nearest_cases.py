"""``nearestCases``: who is near a case that nobody has measured."""

from typing import Any

import pytest

from domain.bundles import Bundle, bundle_of
from domain.manifests import Manifest
from service.app import Index
from tests.examples import WORKLOAD, bundle, manifest
from tests.service.api.asking import ask, error_of, ingest_all

NEAREST = """query($workload: ID!, $hardware: String) { nearestCases(workload: $workload, hardware: $hardware) {
  axis wanted size runCount note workload { digest axes { name value } } hardware { slug }
} }"""
AXIS = next(iter(WORKLOAD.spec["axes"]))


def case_with(size: int) -> Manifest:
    return manifest("WorkloadCase", WORKLOAD.spec | {"axes": {**WORKLOAD.spec["axes"], AXIS: size}})


def measured(size: int, by: str = "heron", **spec: Any) -> Bundle:
    used = case_with(size)
    one = bundle(100, by=by, workloadDigest=used.digest, **spec)
    assert one.run
    return bundle_of(*(part for part in one.manifests if part.kind != used.kind), used, one.run)


async def nearest(index: Index, size: int, **also: Any) -> list[Any]:
    found: list[Any] = (await ask(index, NEAREST, workload=case_with(size).digest, **also))["nearestCases"]
    return found


async def test_the_next_smaller_and_the_next_larger_size_are_named_as_neighbours(index: Index) -> None:
    await ingest_all(index, measured(1), measured(2), measured(2, "stork"), measured(64), measured(128))
    await ingest_all(index, bundle_of(case_with(16)))

    smaller, larger = await nearest(index, 16)

    assert (smaller["axis"], smaller["wanted"], smaller["size"], smaller["runCount"]) == (AXIS, "16", "2", 2)
    assert (larger["size"], larger["runCount"]) == ("64", 1)
    assert smaller["workload"]["digest"] == case_with(2).digest
    assert smaller["note"] == f"a neighbour: {AXIS} is 2 where 16 was asked for, which nobody has measured"


async def test_a_case_that_is_measured_has_none(index: Index) -> None:
    await ingest_all(index, measured(1), measured(2))

    assert await nearest(index, 2) == []


async def test_what_may_not_be_ranked_measures_nothing(index: Index) -> None:
    await ingest_all(index, measured(1), measured(2, status="timeout"), measured(4))

    assert [one["size"] for one in await nearest(index, 2)] == ["1", "4"]


async def test_only_that_hardware_counts(index: Index) -> None:
    await ingest_all(index, measured(1), measured(2))

    assert await nearest(index, 2, hardware="NVIDIA B200") == []
    assert await nearest(index, 2, hardware="NVIDIA H100") == []
    await ingest_all(index, bundle_of(case_with(3)))
    (near,) = await nearest(index, 3, hardware="nvidia-b200")
    assert (near["size"], near["hardware"]["slug"]) == ("2", "nvidia-b200")


@pytest.mark.parametrize("wrong", ["", "nothing", f"sha256:{'0' * 64}"])
async def test_what_is_no_workload_is_an_error(index: Index, wrong: str) -> None:
    error = await error_of(index, NEAREST, workload=wrong)
    assert (error["code"], error["path"]) == ("NOT_FOUND", "workload")
