"""Citations over GraphQL: of one run, and of many as a file."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from domain.bundles import Bundle, bundle_of
from domain.commands import Ingest, RegisterSource
from domain.identity import hex_of
from domain.principals import LOCAL
from service.api.execute import execute
from service.app import Index, open_index
from service.auth import Caller
from service.settings import Settings
from tests.examples import OPERATION, Ids, bundle, implementation, manifest
from tests.service.api.asking import ask, error_of, ingest_all, run_of
from tests.service.citations.cited_examples import csl_item, tex_fields
from tests.service.clocks import Hands

SCHEMA = json.loads((Path(__file__).parents[2] / "fixtures" / "citation" / "csl-data.schema.json").read_text("utf-8"))
CITATION = """query($id: ID!, $format: CitationFormat! = TEXT, $style: String, $on: Date) { run(id: $id) { citation(
  format: $format, style: $style, accessedOn: $on) {
  content mediaType key permalink digest position evidenceLevel accessedOn warnings { code message } } } }"""
EXPORT = """query($ids: [ID!]!, $format: CitationFormat!, $style: String, $on: Date) { citations(
  ids: $ids, format: $format, style: $style, accessedOn: $on) {
  content mediaType keys problems { id code message remedy } warnings { code } } }"""
DIGEST = run_of().digest


async def cited(index: Index, id_: str = DIGEST, **variables: Any) -> Any:
    return (await ask(index, CITATION, id=id_, **variables))["run"]["citation"]


async def exported(index: Index, *ids: str, format_: str = "BIBTEX", **variables: Any) -> Any:
    return (await ask(index, EXPORT, ids=ids, format=format_, **variables))["citations"]


@pytest.fixture
async def index(tmp_path: Path) -> Any:
    """An index that others can reach, with a clock that stands still."""
    settings = Settings(data_dir=tmp_path, base_url="https://kernels.example/")
    async with open_index(settings, now=Hands(), new_id=Ids()) as opened:
        yield opened


class TestOneRun:
    @pytest.fixture(autouse=True)
    async def position(self, index: Index) -> int:
        return await ingest_all(index, bundle())

    async def test_it_is_pinned_to_the_position_at_which_it_was_read(self, index: Index, position: int) -> None:
        citation = await cited(index)

        permalink = f"https://kernels.example/runs/{hex_of(DIGEST)}/at/{position}"
        assert citation == {
            "content": (
                "local. heron: RMSNorm h4096, tokens = 2048 · bf16, NVIDIA B200. Latency, median: 8.12 µs (exactly 8120"
                f" ns); reported by local; evidence level REPORTED. KernelIndex record {hex_of(DIGEST)[:8]}, {DIGEST}, at"
                f" log position {position}, last changed 2026-09-01 (UTC). Published 2026-09-01. {permalink}"
                " (accessed 2026-09-01)\n"
            ),
            "mediaType": "text/plain",
            "key": f"ki-{hex_of(DIGEST)[:12]}-p{position}",
            "permalink": permalink,
            "digest": DIGEST,
            "position": position,
            "evidenceLevel": "REPORTED",
            "accessedOn": "2026-09-01",
            "warnings": [],
        }

    async def test_two_clocks_are_kept_apart(self, index: Index, position: int) -> None:
        """When the record last changed, and when it was read."""
        index.now.forward(days=3)  # type: ignore[attr-defined]
        head = await ingest_all(index, bundle(9000, by="tern"))
        index.now.forward(days=2)  # type: ignore[attr-defined]

        citation = await cited(index)

        assert citation["position"] == head > position
        assert f"at log position {head}, last changed 2026-09-01 (UTC)" in citation["content"]
        assert citation["accessedOn"] == "2026-09-06"

    async def test_a_record_that_changed_says_when(self, index: Index) -> None:
        index.now.forward(days=3)  # type: ignore[attr-defined]
        await index.ledger.handle([RegisterSource(slug="local", name="A Person", kind="person")], LOCAL)

        citation = await cited(index)

        assert "last changed 2026-09-04 (UTC)" in citation["content"]
        assert citation["content"].startswith("A Person. ")

    async def test_the_day_of_access_is_the_utc_day_of_the_clock_or_as_given(self, index: Index) -> None:
        index.now.forward(hours=11, minutes=59)  # type: ignore[attr-defined]
        assert (await cited(index))["accessedOn"] == "2026-09-01"
        index.now.forward(minutes=2)  # type: ignore[attr-defined]
        assert (await cited(index))["accessedOn"] == "2026-09-02"

        given = await cited(index, format="BIBLATEX", on="2026-09-01")

        assert given["accessedOn"] == tex_fields(given["content"])["urldate"] == "2026-09-01"

    async def test_a_day_that_has_not_come_is_refused(self, index: Index) -> None:
        error = await error_of(index, CITATION, id=DIGEST, on="2026-09-02")

        assert (error["code"], error["path"]) == ("INVALID_ARGUMENT", "accessedOn")

    async def test_a_day_before_the_position_is_warned_of(self, index: Index) -> None:
        (warned,) = (await cited(index, on="2026-08-31"))["warnings"]

        assert warned["code"] == "ACCESSED_BEFORE_POSITION"

    async def test_at_an_earlier_moment_it_is_pinned_to_that(self, index: Index, position: int) -> None:
        await ingest_all(index, bundle(9000, by="tern"))
        query = "query($at: Position!, $id: ID!) { at(asOf: {position: $at}) { run(id: $id) { citation { key permalink } } } }"

        answer = (await ask(index, query, at=position, id=DIGEST))["at"]["run"]["citation"]

        assert answer["key"].endswith(f"-p{position}")
        assert answer["permalink"].endswith(f"/at/{position}")

    @pytest.mark.parametrize("style", ["apa", "chicago", "ieee"])
    async def test_a_style(self, index: Index, style: str) -> None:
        citation = await cited(index, style=style)

        assert citation["permalink"] in citation["content"]
        assert [warned["code"] for warned in citation["warnings"]] == ["LEFT_OUT"]

    async def test_a_style_is_for_text_and_must_exist(self, index: Index) -> None:
        assert (await error_of(index, CITATION, id=DIGEST, style="apa", format="RIS"))["path"] == "style"
        assert (await error_of(index, CITATION, id=DIGEST, style="no-such"))["code"] == "NOT_FOUND"

    async def test_csl_is_valid(self, index: Index) -> None:
        item = csl_item((await cited(index, format="CSL_JSON"))["content"])

        jsonschema.validate([item], SCHEMA)


class TestWhoAndWhat:
    async def test_the_authors_of_the_run_come_before_those_of_its_implementation(self, index: Index) -> None:
        spec = bundle()
        written = {"authors": [{"name": "Kestrel Lab"}, {"github": "tern-bot"}]}
        authored = with_metadata(spec, "ImplementationRevision", authors=[{"name": "Sun and Moon Labs, Nord"}])
        await ingest_all(index, authored)
        assert tex_fields((await cited(index, format="BIBTEX"))["content"])["author"] == "{Sun and Moon Labs, Nord}"

        other = with_metadata(bundle(9000), "BenchmarkRun", **written)
        await ingest_all(index, other)

        fields = tex_fields((await cited(index, run_of(9000).digest, format="BIBTEX"))["content"])
        assert fields["author"] == "{Kestrel Lab} and {tern-bot}"

    async def test_what_is_not_registered_is_named_as_such(self, index: Index) -> None:
        run = bundle().run
        assert run
        await index.ledger.handle([Ingest(bundle=bundle_of(run))], LOCAL)

        content = (await cited(index))["content"]

        assert (
            f"unresolved implementation {hex_of(implementation('heron').digest)[:8]}: unresolved operation" in content
        )
        assert "unresolved environment" in content

    async def test_a_run_without_a_result_can_be_cited(self, index: Index) -> None:
        await ingest_all(index, bundle(None, status="timeout"))

        content = (await cited(index, run_of(None, status="timeout").digest))["content"]

        assert "No primary measurement, status TIMEOUT; reported by" in content

    @pytest.mark.parametrize(
        "base_url", ["", "http://localhost:8000", "http://127.8.0.1", "http://[::1]:80", "http://a.localhost"]
    )
    async def test_an_index_that_nobody_else_reaches_is_warned_of(self, tmp_path: Path, base_url: str) -> None:
        settings = Settings(data_dir=tmp_path, base_url=base_url)
        async with open_index(settings, now=Hands(), new_id=Ids()) as index:
            await ingest_all(index, bundle())

            assert [warned["code"] for warned in (await cited(index))["warnings"]] == ["NOT_PUBLIC"]


class TestExport:
    @pytest.fixture(autouse=True)
    async def position(self, index: Index) -> int:
        return await ingest_all(index, bundle(), bundle(9000, by="tern"))

    async def test_every_run_has_its_entry_in_the_order_asked_for(self, index: Index, position: int) -> None:
        tern = run_of(9000, by="tern").digest

        answer = await exported(index, tern, hex_of(DIGEST)[:10])

        assert answer["keys"] == [f"ki-{hex_of(one)[:12]}-p{position}" for one in (tern, DIGEST)]
        assert [line for line in answer["content"].splitlines() if line.startswith("@")] == [
            f"@misc{{{key}," for key in answer["keys"]
        ]
        assert (answer["mediaType"], answer["problems"]) == ("application/x-bibtex", [])

    async def test_ids_of_one_run_are_one_entry_and_its_revisions_are_several(
        self, index: Index, position: int
    ) -> None:
        await ingest_all(index, bundle(9100, by="wren"))

        answer = await exported(index, DIGEST, hex_of(DIGEST)[:8], f"{DIGEST}@{position}")

        assert len(answer["keys"]) == len(set(answer["keys"])) == 2
        assert answer["keys"][1].endswith(f"-p{position}")

    async def test_what_is_not_found_is_reported_and_the_rest_is_there(self, index: Index) -> None:
        answer = await exported(index, "nothing", DIGEST, OPERATION.digest, f"{DIGEST}@999999")

        assert len(answer["keys"]) == 1
        assert [(one["id"], one["code"]) for one in answer["problems"]] == [
            ("nothing", "NOT_FOUND"),
            (OPERATION.digest, "NOT_FOUND"),
            (f"{DIGEST}@999999", "POSITION_IN_FUTURE"),
        ]
        assert all(one["message"] and one["remedy"] for one in answer["problems"])

    async def test_nothing_found_is_an_empty_file(self, index: Index) -> None:
        assert (await exported(index, "nothing", format_="CSL_JSON"))["content"].strip() == "[]"

    async def test_one_warning_of_each_kind_is_enough(self, index: Index) -> None:
        answer = await exported(index, DIGEST, run_of(9000, by="tern").digest, on="2026-08-01")

        assert [warned["code"] for warned in answer["warnings"]] == ["ACCESSED_BEFORE_POSITION"]

    async def test_a_style_applies_to_all(self, index: Index) -> None:
        answer = await exported(index, DIGEST, run_of(9000, by="tern").digest, format_="TEXT", style="apa")

        assert answer["content"].count("(2026).") == 2

    async def test_a_style_is_for_few_at_a_time_without_a_key(self, index: Index) -> None:
        """Each takes tens of milliseconds; the limit counts for the whole operation."""
        runs = [9200 + number for number in range(20)]
        await ingest_all(index, *(bundle(number, by=f"n{number}") for number in runs))
        ids = [run_of(number, by=f"n{number}").digest for number in runs]
        several = """query($ids: [ID!]!) { citations(ids: $ids, format: TEXT, style: "ieee") { keys }
          runs(first: 1) { nodes { citation { key } } } }"""
        too_many = several.replace("citation {", 'citation(style: "ieee") {')
        anybody = Caller(address="192.0.2.1")

        assert "errors" not in await execute(index, several, {"ids": ids}, caller=anybody)
        (error,) = (await execute(index, too_many, {"ids": ids}, caller=anybody))["errors"]
        assert error["extensions"]["code"] == "QUERY_TOO_COMPLEX"
        assert "errors" not in await execute(index, too_many, {"ids": ids})

    async def test_more_than_a_hundred_are_too_many(self, index: Index) -> None:
        error = await error_of(index, EXPORT, ids=["x"] * 101, format="RIS")

        assert (error["code"], error["path"]) == ("INVALID_ARGUMENT", "ids")

    async def test_its_statements_do_not_grow_with_it(self, index: Index) -> None:
        runs = [9200 + number for number in range(40)]
        await ingest_all(index, *(bundle(number, by=f"n{number}") for number in runs))
        ids = [run_of(number, by=f"n{number}").digest for number in runs]

        few, many = (await statements(index, ids[:10]), await statements(index, ids))

        assert many == few <= 12


async def statements(index: Index, ids: list[str]) -> int:
    """How many SQL statements an export takes."""
    seen: list[str] = []
    await index.views.read(lambda db: db.set_trace_callback(seen.append))
    index.views.peek(lambda db: db.set_trace_callback(seen.append))
    await execute(index, EXPORT, {"ids": ids, "format": "BIBTEX"})
    await index.views.read(lambda db: db.set_trace_callback(None))
    index.views.peek(lambda db: db.set_trace_callback(None))
    return len(seen)


def with_metadata(one: Bundle, kind: str, **metadata: Any) -> Bundle:
    """The bundle with other metadata of one of its manifests, which changes no digest."""
    assert one.run
    parts = [*one.manifests, one.run]
    return bundle_of(*(manifest(part.kind, part.spec, **metadata) if part.kind == kind else part for part in parts))
