"""Writing through the API: each item its own result, located errors, safe retries, and the change seen at once."""

import json
from typing import Any

import msgspec
import pytest
from graphql import GraphQLInterfaceType, GraphQLObjectType, GraphQLUnionType

from domain.bundles import bundle_of
from domain.commands import Ingest, RegisterSource
from domain.errors import FAMILY, KernelIndexError
from domain.facts import ArtifactRecorded
from domain.principals import LOCAL
from service.api.execute import execute
from service.api.mutations.failures import failure
from service.api.schema import built_schema
from service.app import Index
from tests.examples import OPERATION, PROJECT, PROTOCOL, WORKLOAD, bundle, implementation, manifest
from tests.service.api.asking import ask, error_of, run_of, text_of, texts_of

schema = built_schema()

FAILURE = "... on UserError { __typename message code path remedy problems { message code path document remedy } }"
INGESTED = f"""... on IngestRunSuccess {{
  digest created metadataDiffers position registered {{ kind digest }} unchanged {{ kind digest }}
  run {{ digest title aliases publishedAt producer source {{ slug }} externalId ranking {{ rank }} }} }} {FAILURE}"""
INGEST = f"mutation($input: IngestRunInput!) {{ ingestRun(input: $input) {{ __typename {INGESTED} }} }}"
INGEST_RUNS = f"""mutation($input: IngestRunsInput!) {{ ingestRuns(input: $input) {{ __typename
  ... on IngestRunsSuccess {{ position results {{ __typename {INGESTED} }} }} {FAILURE} }} }}"""
REGISTER = f"""mutation($input: RegisterManifestsInput!) {{ registerManifests(input: $input) {{ __typename
  ... on RegisterManifestsSuccess {{ position results {{ __typename
    ... on RegisterManifestSuccess {{ digest kind created metadataDiffers position node {{ __typename id }} }} {FAILURE}
  }} }} {FAILURE} }} }}"""
REGISTER_SOURCE = f"""mutation($input: RegisterSourceInput!) {{ registerSource(input: $input) {{ __typename
  ... on RegisterSourceSuccess {{ created position source {{ id slug name kind homepage registered policy {{ licence text }} }} }}
  {FAILURE} }} }}"""


async def ingest(index: Index, key: str = "k", **given: Any) -> dict[str, Any]:
    data: dict[str, Any] = (await ask(index, INGEST, input={"idempotencyKey": key, **given}))["ingestRun"]
    return data


async def ingest_runs(index: Index, *bundles: dict[str, Any], key: str = "k", dry_run: bool = False) -> dict[str, Any]:
    given = {"bundles": list(bundles), "idempotencyKey": key, "dryRun": dry_run}
    data: dict[str, Any] = (await ask(index, INGEST_RUNS, input=given))["ingestRuns"]
    return data


async def register(index: Index, *manifests: dict[str, Any], key: str = "k", **given: Any) -> dict[str, Any]:
    given = {"manifests": list(manifests), "idempotencyKey": key, **given}
    data: dict[str, Any] = (await ask(index, REGISTER, input=given))["registerManifests"]
    return data


async def register_source(index: Index, key: str = "k", **given: Any) -> dict[str, Any]:
    given = {"slug": "tern-board", "name": "Tern Board", "kind": "leaderboard", "idempotencyKey": key, **given}
    data: dict[str, Any] = (await ask(index, REGISTER_SOURCE, input=given))["registerSource"]
    return data


async def position(index: Index) -> int:
    return int((await ask(index, "{ stamp { position } }"))["stamp"]["position"])


class TestIngestRun:
    async def test_records_the_run_with_all_that_it_came_with(self, index: Index) -> None:
        record = {"aliases": ["other-id"], "publishedOn": "2026-08-24", "producer": "heron", "externalId": "7"}

        answer = await ingest(index, **texts_of(bundle()), record=record)

        assert answer["__typename"] == "IngestRunSuccess"
        assert (answer["created"], answer["metadataDiffers"], answer["unchanged"]) == (True, False, [])
        assert [one["kind"] for one in answer["registered"]] == [
            "SOFTWARE_PROJECT",
            "OPERATION_SPEC",
            "WORKLOAD_CASE",
            "IMPLEMENTATION_REVISION",
            "BENCHMARK_PROTOCOL",
            "EXECUTION_ENVIRONMENT",
        ]
        assert answer["run"] == {
            "digest": run_of().digest,
            "title": "run-heron",
            "aliases": ["other-id"],
            "publishedAt": "2026-08-24T00:00:00Z",
            "producer": "heron",
            "source": {"slug": "local"},
            "externalId": "7",
            "ranking": {"rank": 1},
        }
        assert answer["position"] == await position(index)

    async def test_the_next_query_shows_it(self, index: Index) -> None:
        answer = await ingest(index, **texts_of(bundle()))

        found = await ask(index, "query($id: ID!) { run(id: $id) { digest } stamp { position } }", id=answer["digest"])

        assert found == {"run": {"digest": answer["digest"]}, "stamp": {"position": answer["position"]}}

    async def test_yaml_and_json_are_the_same_manifest(self, index: Index) -> None:
        given = run_of()
        as_yaml = "\n".join(
            [
                "apiVersion: kernelindex.dev/v1alpha1",
                "kind: BenchmarkRun",
                "metadata: {name: run-heron}",
                "spec:",
                *(f"  {name}: {json.dumps(value)}" for name, value in given.spec.items()),
            ]
        )

        assert (await ingest(index, key="1", run=as_yaml))["digest"] == given.digest
        assert (await ingest(index, key="2", run=text_of(given)))["created"] is False

    async def test_the_same_run_again_is_the_record_that_stands(self, index: Index) -> None:
        first = await ingest(index, key="1", **texts_of(bundle()))
        tree = json.loads(text_of(run_of())) | {"metadata": {"name": "retitled", "title": "Retitled"}}

        again = await ingest(index, key="2", run=json.dumps(tree), project=text_of(PROJECT))

        assert (again["digest"], again["created"], again["metadataDiffers"]) == (first["digest"], False, True)
        assert [one["kind"] for one in again["unchanged"]] == ["SOFTWARE_PROJECT"]
        assert again["run"]["title"] == "run-heron"
        assert await position(index) == first["position"]

    async def test_every_problem_of_every_part_is_named_where_it_is(self, index: Index) -> None:
        run = json.loads(text_of(run_of()))
        run["spec"]["timing"]["latencyNs"]["median"] = "1:10"
        run["spec"]["statos"] = run["spec"].pop("status")

        answer = await ingest(
            index, run=json.dumps(run), workload='{"kind": "WorkloadCase", "kind": "x"}', protocol="["
        )

        assert answer["__typename"] == "InvalidInput"
        assert [(one["code"], one["path"]) for one in answer["problems"]][:2] == [
            ("DUPLICATE_KEY", "workload.kind"),
            ("MALFORMED_DOCUMENT", "protocol"),
        ]
        alone = await ingest(index, run=json.dumps(run))
        found = {(one["code"], one["path"]) for one in alone["problems"]}
        assert ("INVALID_VALUE", "run.spec.timing.latencyNs.median") in found
        assert ("UNKNOWN_FIELD", "run.spec.statos") in found
        assert ("MISSING_FIELD", "run.spec.status") in found
        assert all(one["message"] and one["remedy"] and one["document"] is None for one in alone["problems"])
        assert (alone["message"], alone["path"]) == (alone["problems"][0]["message"], alone["problems"][0]["path"])

    async def test_an_embedded_manifest_must_be_the_one_that_is_named(self, index: Index) -> None:
        other = manifest("BenchmarkProtocol", PROTOCOL.spec | {"harness": {"name": "other"}})

        answer = await ingest(index, **{**texts_of(bundle()), "protocol": text_of(other)})

        assert (answer["__typename"], answer["code"]) == ("InvalidInput", "DIGEST_MISMATCH")
        assert answer["path"] == "run.spec.protocolDigest"
        assert other.digest in answer["message"]
        assert PROTOCOL.digest in answer["message"]

    async def test_a_part_of_another_kind_is_refused(self, index: Index) -> None:
        answer = await ingest(index, run=text_of(PROJECT))

        assert (answer["code"], answer["path"]) == ("INVALID_VALUE", "run.kind")

    async def test_the_record_must_name_the_run_s_own_source(self, index: Index) -> None:
        native = run_of(sourceNative={"source": "tern-board"})

        answer = await ingest(index, run=text_of(native), record={"source": "heron-board"})

        assert (answer["__typename"], answer["path"]) == ("InvalidInput", "record.source")
        assert "tern-board" in answer["message"]
        assert (await ingest(index, run=text_of(native), record={"source": "tern-board"}))["created"]

    async def test_an_alias_belongs_to_one_object(self, index: Index) -> None:
        await ingest(index, key="1", **texts_of(bundle()), record={"aliases": ["mine"]})
        before = await position(index)

        answer = await ingest(index, key="2", run=text_of(run_of(1)), record={"aliases": ["mine"]})

        assert (answer["__typename"], answer["code"], answer["path"]) == ("Conflict", "ALIAS_TAKEN", "record.aliases")
        assert run_of().digest in answer["message"]
        assert await position(index) == before
        assert (await ingest(index, key="3", run=text_of(run_of()), record={"aliases": ["mine"]}))["created"] is False

    @pytest.mark.parametrize(
        ("record", "code", "path"),
        [
            ({"source": "No Slug"}, "INVALID_VALUE", "record.source"),
            ({"aliases": ["a"] * 101}, "INVALID_VALUE", "record.aliases"),
            ({"aliases": [" a"]}, "INVALID_VALUE", "record.aliases[0]"),
            ({"producer": "Ju\u0308rgen"}, "INVALID_TEXT", "record.producer"),
            ({"externalId": ""}, "INVALID_VALUE", "record.externalId"),
        ],
    )
    async def test_the_record_is_checked_too(self, index: Index, record: dict[str, Any], code: str, path: str) -> None:
        answer = await ingest(index, run=text_of(run_of()), record=record)

        assert (answer["__typename"], answer["code"], answer["path"]) == ("InvalidInput", code, path)
        assert answer["remedy"]

    @pytest.mark.parametrize("record", [{"publishedOn": "2026-02-30"}, {"publishedAt": "2026-13-01T00:00:00Z"}])
    async def test_days_that_do_not_exist_are_refused(self, index: Index, record: dict[str, str]) -> None:
        error = await error_of(index, INGEST, input={"run": text_of(run_of()), "idempotencyKey": "k", "record": record})

        assert error["code"] == "INVALID_ARGUMENT"


class TestIdempotency:
    async def test_a_retry_gets_its_first_answer_and_appends_nothing(self, index: Index) -> None:
        first = await ingest(index, **texts_of(bundle()))
        await ingest(index, key="between", **texts_of(bundle(90, by="stork")))
        between = await position(index)

        again = await ingest(index, **texts_of(bundle()))

        assert again["created"] is True
        assert {**again, "position": None, "run": None} == {**first, "position": None, "run": None}
        # The record is shown as it stands by now.
        assert (first["run"]["ranking"]["rank"], again["run"]["ranking"]["rank"]) == (1, 2)
        assert await position(index) == between

    async def test_another_body_under_the_same_key_is_refused(self, index: Index) -> None:
        await ingest(index, **texts_of(bundle()))
        before = await position(index)

        answer = await ingest(index, **texts_of(bundle(1)))

        assert (answer["__typename"], answer["code"]) == ("Conflict", "IDEMPOTENCY_KEY_REUSED")
        assert answer["remedy"]
        assert await position(index) == before

    async def test_a_key_belongs_to_one_mutation(self, index: Index) -> None:
        await ingest(index, **texts_of(bundle()))

        assert (await register(index, {"manifest": text_of(PROJECT)}))["__typename"] == "RegisterManifestsSuccess"
        assert (await register_source(index))["__typename"] == "RegisterSourceSuccess"

    async def test_what_was_refused_may_be_sent_again_corrected(self, index: Index) -> None:
        """Nothing was done under the key, so it is still free."""
        assert (await ingest(index, run="{}"))["__typename"] == "InvalidInput"

        assert (await ingest(index, **texts_of(bundle())))["created"] is True

    @pytest.mark.parametrize("key", ["", "x" * 129])
    async def test_a_key_has_1_to_128_characters(self, index: Index, key: str) -> None:
        for answer in (
            await ingest(index, key=key, run=text_of(run_of())),
            await ingest_runs(index, {"run": text_of(run_of())}, key=key),
            await register(index, {"manifest": text_of(PROJECT)}, key=key),
            await register_source(index, key=key),
        ):
            assert (answer["__typename"], answer["path"]) == ("InvalidInput", "input.idempotencyKey")
        assert (await ingest(index, key="x" * 128, run=text_of(run_of())))["created"]

    async def test_a_replayed_batch_repeats_each_result(self, index: Index) -> None:
        batch: list[dict[str, Any]] = [
            texts_of(bundle()),
            {"run": "{}"},
            {"run": text_of(run_of(5)), "record": {"source": "not-mine"}},
        ]
        first = await ingest_runs(index, *batch)

        again = await ingest_runs(index, *batch)

        assert [one["__typename"] for one in first["results"]] == ["IngestRunSuccess", "InvalidInput", "InvalidInput"]
        assert again == first


class TestIngestRuns:
    async def test_results_come_in_order_each_its_own(self, index: Index) -> None:
        """One that can't be read and one that is refused lose none of the others, and all is one save."""
        before = await position(index)
        mismatched = {
            **texts_of(bundle(5)),
            "protocol": text_of(manifest("BenchmarkProtocol", {**PROTOCOL.spec, "harness": {"name": "x"}})),
        }

        answer = await ingest_runs(
            index,
            texts_of(bundle(100)),
            {"run": "{}"},
            texts_of(bundle(90, by="stork")),
            mismatched,
            texts_of(bundle(100)),
        )

        kinds = [one["__typename"] for one in answer["results"]]
        assert kinds == ["IngestRunSuccess", "InvalidInput", "IngestRunSuccess", "InvalidInput", "IngestRunSuccess"]
        first, unread, second, refused, again = answer["results"]
        assert (first["created"], second["created"], again["created"]) == (True, True, False)
        assert [one["run"]["ranking"]["rank"] for one in (first, second)] == [2, 1]
        assert {one["position"] for one in (answer, first, second, again)} == {await position(index)}
        assert unread["path"].startswith("bundles[1].run")
        assert (refused["code"], refused["path"]) == ("DIGEST_MISMATCH", "bundles[3].run.spec.protocolDigest")
        saves = index.views.peek(lambda db: db.execute("SELECT count(*) FROM saves WHERE position > ?", (before,)))
        assert saves.fetchone() == (1,)

    async def test_500_at_once_and_not_one_more(self, index: Index) -> None:
        texts = [{"run": text_of(run_of(1000 + number))} for number in range(501)]

        assert (
            len(
                (await execute(index, COUNTED, {"input": {"bundles": texts[:500], "idempotencyKey": "k"}}))["data"][
                    "ingestRuns"
                ]["results"]
            )
            == 500
        )
        assert (await ask(index, "{ runs { totalCount } }"))["runs"]["totalCount"] == 500
        for wrong in (texts, []):
            answer = await ingest_runs(index, *wrong, key="other")
            assert (answer["__typename"], answer["path"]) == ("InvalidInput", "input.bundles")
            assert "500" in answer["remedy"]

    async def test_a_dry_run_says_what_would_happen_and_appends_nothing(self, index: Index) -> None:
        await ingest(index, key="1", **texts_of(bundle(100)))
        before = await position(index)
        batch = [texts_of(bundle(100)), texts_of(bundle(90, by="stork")), {"run": "{}"}]

        answer = await ingest_runs(index, *batch, dry_run=True)

        known, new, refused = answer["results"]
        assert (known["created"], new["created"], refused["__typename"]) == (False, True, "InvalidInput")
        assert [one["kind"] for one in new["registered"]] == ["IMPLEMENTATION_REVISION"]
        assert (new["run"], known["run"]["digest"]) == (None, run_of(100).digest)
        assert (answer["position"], new["position"]) == (None, None)
        assert await position(index) == before
        # The key is still free, and what was foretold comes true.
        real = await ingest_runs(index, *batch)
        assert [one.get("created") for one in real["results"]] == [False, True, None]


COUNTED = "mutation($input: IngestRunsInput!) { ingestRuns(input: $input) { ... on IngestRunsSuccess { results { __typename } } } }"


class TestRegisterManifests:
    async def test_each_kind_becomes_a_node(self, index: Index) -> None:
        manifests = [one for one in bundle().manifests if one.kind != "SoftwareProject"]
        given = [{"manifest": text_of(one)} for one in manifests]

        answer = await register(index, {"manifest": text_of(PROJECT)}, *given)

        assert [one["digest"] for one in answer["results"]] == [PROJECT.digest, *(one.digest for one in manifests)]
        assert all(one["created"] and one["node"]["id"] == one["digest"] for one in answer["results"])
        kinds = {one["node"]["__typename"] for one in answer["results"]}
        assert kinds == {"Project", "Operation", "WorkloadCase", "Implementation", "Protocol", "Environment"}
        assert answer["position"] == await position(index)

    async def test_an_implementation_may_name_its_project(self, index: Index) -> None:
        """Whether either of them was known before, the result is about the implementation."""
        both = {"manifest": text_of(implementation()), "project": text_of(PROJECT)}
        await register(index, {"manifest": text_of(PROJECT)}, key="1")
        for key, created in (("2", True), ("3", False)):
            (result,) = (await register(index, both, key=key))["results"]
            assert (result["digest"], result["kind"]) == (implementation().digest, "IMPLEMENTATION_REVISION")
            assert result["node"] == {"__typename": "Implementation", "id": implementation().digest}
            assert result["created"] is created
        query = "query($id: ID!) { implementation(id: $id) { project { name } } }"
        found = await ask(index, query, id=implementation().digest)
        assert found["implementation"]["project"]["name"] == "Heron Kernels"

    async def test_a_bad_one_is_located_and_loses_no_other(self, index: Index) -> None:
        answer = await register(
            index,
            {"manifest": text_of(run_of())},
            {"manifest": text_of(OPERATION)},
            {"manifest": text_of(WORKLOAD), "project": text_of(PROJECT)},
            {"manifest": text_of(implementation()), "project": text_of(WORKLOAD)},
            {"manifest": "kind: ["},
            {"manifest": text_of(WORKLOAD)},
        )

        results = answer["results"]
        assert [(one["__typename"], one.get("path")) for one in results] == [
            ("InvalidInput", "manifests[0].manifest.kind"),
            ("RegisterManifestSuccess", None),
            ("InvalidInput", "manifests[2].project"),
            ("InvalidInput", "manifests[3].project.kind"),
            ("InvalidInput", "manifests[4].manifest"),
            ("RegisterManifestSuccess", None),
        ]
        assert "ingestRun" in results[0]["remedy"]

    async def test_the_first_editorial_part_stands(self, index: Index) -> None:
        await register(index, {"manifest": text_of(PROJECT)}, key="1")
        renamed = manifest("SoftwareProject", PROJECT.spec, name="renamed", title="Renamed")

        (result,) = (await register(index, {"manifest": text_of(renamed)}, key="2"))["results"]

        assert (result["created"], result["metadataDiffers"]) == (False, True)

    async def test_a_dry_run_registers_nothing(self, index: Index) -> None:
        before = await position(index)

        (result,) = (await register(index, {"manifest": text_of(PROJECT)}, dryRun=True))["results"]

        assert (result["created"], result["node"], result["position"]) == (True, None, None)
        assert await position(index) == before

    async def test_1_to_500_at_once(self, index: Index) -> None:
        for number in (0, 501):
            answer = await register(index, *[{"manifest": text_of(PROJECT)}] * number)
            assert (answer["__typename"], answer["path"]) == ("InvalidInput", "input.manifests")


class TestRegisterSource:
    async def test_it_is_registered_and_shown(self, index: Index) -> None:
        answer = await register_source(
            index, homepage="https://tern.example", policy='{"license": "CC-BY-4.0", "freshnessDays": 10}'
        )

        assert answer["created"] is True
        assert answer["source"] == {
            "id": "source/tern-board",
            "slug": "tern-board",
            "name": "Tern Board",
            "kind": "leaderboard",
            "homepage": "https://tern.example",
            "registered": True,
            "policy": {"licence": "CC-BY-4.0", "text": '{"freshnessDays":10,"license":"CC-BY-4.0"}'},
        }
        nodes = (await ask(index, "{ sources { nodes { slug } } }"))["sources"]["nodes"]
        assert nodes == [{"slug": "tern-board"}]

    async def test_again_it_revises_the_terms_alone(self, index: Index) -> None:
        await register_source(index, key="1", policy='{"license": "CC-BY-4.0"}')
        before = await position(index)

        same = await register_source(index, key="2", policy='{"license": "CC-BY-4.0"}')
        revised = await register_source(index, key="3", policy='{"license": "CC0-1.0"}')

        assert (same["created"], same["position"]) == (False, before)
        assert (revised["created"], revised["source"]["policy"]["licence"]) == (False, "CC0-1.0")
        assert revised["position"] == before + 1

    async def test_terms_that_are_no_texts_do_no_harm(self, index: Index) -> None:
        answer = await register_source(index, policy='{"licence": {"id": 1}, "url": ["x"]}')

        assert answer["source"]["policy"] == {"licence": None, "text": '{"licence":{"id":1},"url":["x"]}'}

    @pytest.mark.parametrize(
        ("given", "path"),
        [
            ({"policy": "[]"}, "input.policy"),
            ({"policy": "{"}, "input.policy"),
            ({"policy": '{"a": 1, "a": 2}'}, "input.policy.a"),
            ({"name": "Ju\u0308rgen"}, "input.name"),
            ({"name": ""}, "input.name"),
            ({"name": "left \u202eright"}, "input.name"),
            ({"kind": "two\nlines"}, "input.kind"),
            ({"slug": "No Slug"}, "input.slug"),
            ({"slug": "../x"}, "input.slug"),
        ],
    )
    async def test_what_is_wrong_is_named(self, index: Index, given: dict[str, str], path: str) -> None:
        answer = await register_source(index, **given)

        assert (answer["__typename"], answer["path"]) == ("InvalidInput", path)
        assert (await ask(index, "{ sources { totalCount } }"))["sources"]["totalCount"] == 0

    @pytest.mark.parametrize("homepage", ["javascript:alert(1)", "tern.example", "", "https://", "https://a b"])
    async def test_a_home_page_is_an_absolute_url(self, index: Index, homepage: str) -> None:
        given = {"slug": "s", "name": "n", "kind": "k", "homepage": homepage, "idempotencyKey": "k"}

        assert (await error_of(index, REGISTER_SOURCE, input=given))["code"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize("family", FAMILY.values(), ids=FAMILY)
def test_every_error_of_the_family_is_in_every_payload(family: type[KernelIndexError]) -> None:
    """Whatever a ledger refuses with has its own type in each union, and that type tells what to do."""
    document = failure(family.because("no", remedy="yes"))
    unions = [one for one in schema._schema.type_map.values() if isinstance(one, GraphQLUnionType)]
    payloads = [union for union in unions if union.name.endswith("Payload")]

    assert len(payloads) >= 5
    for union in payloads:
        members = {member.name: member for member in union.types}
        assert isinstance(member := members[document["@type"]], GraphQLObjectType)
        assert "UserError" in {interface.name for interface in member.interfaces}
    user_error = schema._schema.type_map["UserError"]
    assert isinstance(user_error, GraphQLInterfaceType)
    assert {"message", "code", "path", "remedy"} <= user_error.fields.keys()
    assert set(user_error.fields) <= document.keys()


def unions(end: str) -> list[GraphQLUnionType]:
    """The schema's unions with names that end so."""
    found = [one for one in schema._schema.type_map.values() if isinstance(one, GraphQLUnionType)]
    named = [one for one in found if one.name.endswith(end)]
    assert named
    return named


def test_a_union_of_messages_holds_what_happened_and_the_three_about_the_subscription_itself() -> None:
    for union in unions("Message"):
        names = {member.name for member in union.types}
        assert names > {"Progress", "CaughtUp", "Lagged"}
        assert len(names) == 4
        assert all("LogMessage" in {one.name for one in member.interfaces} for member in union.types)


def test_a_union_holds_a_success_and_the_errors_alone() -> None:
    for union in unions("Payload"):
        others = {member.name for member in union.types} - set(FAMILY)
        assert all(name.endswith("Success") for name in others)
        assert len(others) == 1


async def test_runs_of_one_source_and_external_id_are_flagged_for_each_other(index: Index) -> None:
    """Two runs in one group under the same external id: nothing is merged, both say so, and others don't."""
    native = {"source": "tern-board", "externalId": "7"}
    commands = [
        Ingest(bundle=bundle(100, sourceNative=native)),
        Ingest(bundle=bundle(110, sourceNative=native)),
        Ingest(bundle=bundle(120, sourceNative={"source": "tern-board", "externalId": "8"})),
        Ingest(bundle=bundle(130, sourceNative={"source": "other-board", "externalId": "7"})),
        RegisterSource(slug="tern-board", name="Tern Board", kind="leaderboard"),
    ]
    await index.ledger.handle(commands, LOCAL)

    runs = (await ask(index, "{ runs { nodes { primary { value } duplicates { primary { value } } } } }"))["runs"][
        "nodes"
    ]

    flagged = {run["primary"]["value"]: [one["primary"]["value"] for one in run["duplicates"]] for run in runs}
    assert flagged == {"100": ["110"], "110": ["100"], "120": [], "130": []}


async def test_artifacts_are_shown_with_what_is_recorded_of_them(index: Index) -> None:
    named = {"digest": f"sha256:{'2' * 64}", "uri": "https://tern.example/log"}
    await ingest(index, run=text_of(run_of(evidence={"logs": named})))
    query = "{ runs { nodes { artifacts { role digest uri recorded kind sizeBytes } } } }"

    (run,) = (await ask(index, query))["runs"]["nodes"]

    assert run["artifacts"] == [{"role": "LOG", **named, "recorded": False, "kind": None, "sizeBytes": None}]
    artifact = ArtifactRecorded(digest=named["digest"], kind="log", size_bytes=2**40)
    await index.ledger.handle(
        [Ingest(bundle=msgspec.structs.replace(bundle_of(PROJECT), artifacts=(artifact,)))], LOCAL
    )
    (run,) = (await ask(index, query))["runs"]["nodes"]
    assert run["artifacts"] == [{"role": "LOG", **named, "recorded": True, "kind": "log", "sizeBytes": str(2**40)}]
