"""``search``: what is found, why, in which order, and that no text breaks it."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.bundles import Bundle, bundle_of
from domain.commands import Ingest, RegisterSource
from domain.manifests import read_manifest
from domain.principals import LOCAL
from service.app import Index, open_index
from service.settings import Settings
from tests.examples import ENVIRONMENT, OPERATION, PROJECT, WORKLOAD, Clock, Ids, bundle, implementation, manifest
from tests.service.api.asking import ask, error_of, ingest_all, run_of
from tests.service.api.test_cases import case

SEARCH = """query($text: String!, $first: Int, $after: String) { search(text: $text, first: $first, after: $after) {
  totalCount position hints hits { cursor matched snippet node { __typename id } }
  pageInfo { hasNextPage endCursor }
} }"""


async def search(index: Index, text: str, **window: Any) -> Any:
    return (await ask(index, SEARCH, text=text, **window))["search"]


async def found(index: Index, text: str) -> list[str]:
    """The ids of the hits, best first."""
    return [hit["node"]["id"] for hit in (await search(index, text, first=100))["hits"]]


async def test_case_15_all_four_searches_find_the_composed_name(index: Index) -> None:
    """Composed and decomposed, in upper and lower case: the name on the record is one."""
    composed = read_manifest(case("15")["projects"][0])
    await ingest_all(index, bundle_of(composed))
    searches = case("15")["search"]
    assert len(searches) == 4

    for text in searches:
        (hit,) = (await search(index, text))["hits"]
        assert hit["node"] == {"__typename": "Project", "id": composed.digest}
        assert hit["matched"] == ["name"]


class TestFields:
    RUN = bundle(100, by="heron", evidence={"logs": {"digest": f"sha256:{'2' * 64}", "uri": "https://tern.example/l"}})

    @pytest.fixture(autouse=True)
    async def _world(self, index: Index) -> None:
        await ingest_all(index, self.RUN, bundle(90, by="stork", sourceNative={"source": "tern-board"}))

    @pytest.mark.parametrize(
        ("text", "kinds"),
        [
            ("op:rmsnorm", {"Operation", "WorkloadCase", "Implementation", "Run"}),
            (f"family:{OPERATION.spec['family']}", {"Operation", "WorkloadCase", "Implementation", "Run"}),
            ("gpu:b200", {"Hardware", "Run"}),
            ('gpu:"nvidia b200"', {"Hardware", "Run"}),
            ("arch:sm_100", {"Hardware", "Implementation", "Run"}),
            ("arch:sm_90", set[str]()),
            ("dtype:bf16", {"Operation", "WorkloadCase", "Implementation", "Run"}),
            ("dtype:fp8", set[str]()),
            ("language:triton", {"Implementation", "Run"}),
            ("language:trit", set[str]()),
            ("source:tern-board", {"Run"}),
            ("evidence:reported", {"Run"}),
            ("evidence:replicated", set[str]()),
        ],
    )
    async def test_a_field_is_searched_in_what_things_say_themselves(
        self, index: Index, text: str, kinds: set[str]
    ) -> None:
        hits = (await search(index, text))["hits"]

        assert {hit["node"]["__typename"] for hit in hits} == kinds
        assert all(text.partition(":")[0] in hit["matched"] for hit in hits)
        assert all("**" in hit["snippet"] for hit in hits)

    async def test_an_axis_is_found_by_its_size_and_no_other(self, index: Index) -> None:
        (name, size), *_ = WORKLOAD.spec["axes"].items()

        hits = (await search(index, f"{name}={size}"))["hits"]

        assert {hit["node"]["__typename"] for hit in hits} == {"WorkloadCase", "Run"}
        assert all(hit["matched"] == ["axis"] for hit in hits)
        assert await found(index, f"{name}={size}0") == []
        assert await found(index, f"{name[1:]}={size}") == []

    async def test_all_of_it_must_hold_and_words_may_stand_in_different_places(self, index: Index) -> None:
        heron, stork = self.RUN.run, bundle(90, by="stork", sourceNative={"source": "tern-board"}).run
        assert heron
        assert stork
        assert set(await found(index, "rmsnorm b200 bf16")) == {heron.digest, stork.digest}
        assert await found(index, "stork gpu:b200 rmsnorm") == [stork.digest]
        assert await found(index, "gpu:b200 source:tern-board") == [stork.digest]
        assert await found(index, "stork source:local") == []


async def test_names_that_begin_with_the_words_come_first_and_operations_before_runs(index: Index) -> None:
    await ingest_all(index, bundle(100, by="gemm"), bundle(90, by="fast-gemm"))
    operation = manifest("OperationSpec", OPERATION.spec | {"family": "gemm"}, name="a-gemm", title="grouped gemm")
    named = manifest("OperationSpec", OPERATION.spec | {"family": "x"}, name="gemm", title="gemm")
    await ingest_all(index, bundle_of(operation), bundle_of(named))

    ids = await found(index, "gemm")

    assert ids[0] == named.digest
    assert ids[1:3] == [implementation("gemm").digest, run_of(100, by="gemm").digest]
    assert set(ids[3:]) == {operation.digest, implementation("fast-gemm").digest, run_of(90, by="fast-gemm").digest}
    assert ids[3] == operation.digest


async def test_an_id_leads_to_its_record_first(index: Index) -> None:
    run = bundle(100, by="heron")
    await ingest_all(index, bundle_of(*run.manifests, run.run or PROJECT, record={"aliases": ["board-7"]}))
    digest = run_of(100, by="heron").digest

    for text in (digest, digest[7:], digest[7:15], "board-7"):
        first = (await search(index, text))["hits"][0]
        assert first["node"] == {"__typename": "Run", "id": digest}, text


async def test_what_a_thing_is_called_later_finds_it_and_what_shows_it(index: Index) -> None:
    """An alias of an operation, a source's name: their runs say them too from then on, and not before."""
    await ingest_all(index, bundle(100, by="heron", sourceNative={"source": "tern-board"}))
    run = run_of(100, by="heron", sourceNative={"source": "tern-board"}).digest
    assert await found(index, "layernormish") == await found(index, "Arctic") == []
    before = await search(index, "heron", first=1)

    await ingest_all(index, bundle_of(OPERATION, record={"aliases": ["layernormish"]}))
    await index.ledger.handle([RegisterSource(slug="tern-board", name="Arctic Terns", kind="board")], LOCAL)

    assert set(await found(index, "layernormish")) == {
        OPERATION.digest,
        WORKLOAD.digest,
        implementation("heron").digest,
        run,
    }
    assert set(await found(index, "arctic")) == {"source/tern-board", run}
    assert (await search(index, "arctic heron"))["totalCount"] == 1
    rest = await search(index, "heron", first=100, after=before["pageInfo"]["endCursor"])
    assert rest["position"] == before["position"]


async def test_a_run_is_found_before_all_of_its_references_are_registered(index: Index) -> None:
    alone = run_of(100, by="heron", sourceNative={"source": "tern-board", "externalId": "entry-77"})
    await ingest_all(index, Bundle(run=alone))
    assert await found(index, "entry-77 source:tern-board") == [alone.digest]
    assert await found(index, "gpu:b200") == []

    await ingest_all(index, bundle_of(ENVIRONMENT))

    assert await found(index, "gpu:b200 entry-77") == [alone.digest]


@pytest.mark.parametrize(("text", "path"), [("x" * 501, "text")])
async def test_too_long_a_search_is_refused(index: Index, text: str, path: str) -> None:
    error = await error_of(index, SEARCH, text=text)
    assert (error["code"], error["path"]) == ("INVALID_ARGUMENT", path)


async def test_hints_say_what_was_left_out_and_nothing_found_is_said(index: Index) -> None:
    await ingest_all(index, bundle(100))

    assert "colour: is no field" in (await search(index, "colour:red rmsnorm"))["hints"][0]
    assert (await search(index, "nothing-like-it"))["hints"] == ["nothing here matches all of it: leave something out"]
    assert (await search(index, "rmsnorm"))["hints"] == []


WORLD = (
    Ingest(bundle=bundle(100, by="alpha")),
    Ingest(bundle=bundle(90, by="beta", sourceNative={"source": "tern-board"})),
    Ingest(bundle=bundle(80, by="alpha-beta", status="timeout")),
    RegisterSource(slug="tern-board", name="Alpha Board", kind="board"),
)
texts = st.text(max_size=80) | st.lists(
    st.sampled_from(
        [
            *(
                "alpha",
                "beta",
                "a",
                '"',
                "*",
                "^",
                "(",
                ")",
                "NEAR",
                "AND",
                "OR",
                "NOT",
                "gpu:",
                "gpu:b200",
                "tokens=1",
            ),
            *(":", "x:y", "{", "}", "-", "+", "'", ";", "\0", "\u0301", "é", "evidence:reported", "op:rmsnorm", "--"),
            *("𝛼", "e_f"),
        ]
    ),
    max_size=8,
).map(" ".join)


def test_no_text_breaks_it() -> None:
    """And every hit of a page is a hit of the whole, at its place."""

    async def checked() -> None:
        with TemporaryDirectory() as folder:
            async with open_index(Settings(data_dir=Path(folder)), now=Clock(), new_id=Ids()) as index:
                await index.ledger.handle(WORLD, LOCAL)
                loop = asyncio.get_running_loop()

                @settings(max_examples=150, deadline=None)
                @given(texts)
                def holds(text: str) -> None:
                    whole = asyncio.run_coroutine_threadsafe(search(index, text, first=100), loop).result()
                    assert whole["totalCount"] == len(whole["hits"])
                    assert all(hit["matched"] and hit["snippet"] for hit in whole["hits"])
                    if whole["hits"]:
                        cursor = whole["hits"][0]["cursor"]
                        rest = asyncio.run_coroutine_threadsafe(search(index, text, after=cursor), loop).result()
                        assert rest["hits"] == whole["hits"][1:26]

                await asyncio.to_thread(holds)

    asyncio.run(checked())


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["alpha", "gpu:b200", "op:rmsnorm alpha", "tern", "a b", "source:local"]),
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=10),
)
def test_paging_visits_each_hit_of_the_beginning_once(text: str, steps: list[tuple[int, int]]) -> None:
    """Whatever is written between the pages."""

    def written(kind: int, number: int) -> list[Any]:
        return [
            Ingest(bundle=bundle(50 + number, by=f"alpha-{number}")),
            Ingest(bundle=bundle_of(OPERATION, record={"aliases": [f"alpha-operation-{number}"]})),
            RegisterSource(slug=f"alpha-{number}", name="Alpha", kind="board"),
            Ingest(bundle=bundle(50 + number, by=f"a-{number}", sourceNative={"source": "tern-board"})),
        ][kind : kind + 1]

    async def paged() -> None:
        with TemporaryDirectory() as folder:
            async with open_index(Settings(data_dir=Path(folder)), now=Clock(), new_id=Ids()) as index:
                await index.ledger.handle(WORLD, LOCAL)
                beginning = await search(index, text, first=100)
                seen, cursor = list[Any](), None
                for number, (size, kind) in enumerate([*steps, *[(100, 0)]]):
                    page = await search(index, text, first=size, after=cursor)
                    assert (page["totalCount"], page["position"]) == (beginning["totalCount"], beginning["position"])
                    seen += page["hits"]
                    if not page["pageInfo"]["hasNextPage"]:
                        break
                    cursor = page["pageInfo"]["endCursor"]
                    await index.ledger.handle(written(kind, number), LOCAL)
                assert seen == beginning["hits"]

    asyncio.run(paged())


@pytest.mark.parametrize("wrong", ["", "x", "WyJ4IiwxLFtdXQ"])
async def test_cursors_of_other_searches_are_refused(index: Index, wrong: str) -> None:
    await index.ledger.handle(WORLD, LOCAL)
    other = (await search(index, "beta", first=1))["pageInfo"]["endCursor"]

    for cursor in (wrong, other):
        error = await error_of(index, SEARCH, text="alpha", after=cursor)
        assert (error["code"], error["path"]) == ("INVALID_CURSOR", "after")
