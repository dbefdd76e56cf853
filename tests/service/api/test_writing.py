"""Mutations of one command: ids as people have them, retries that do nothing twice, limits that survive midnight."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
from graphql import GraphQLInputObjectType, get_named_type

from domain.bundles import Bundle
from domain.commands import EraseEvent
from domain.identity import hex_of
from domain.principals import LOCAL, Principal, Scope
from service.api.execute import execute
from service.app import Index, open_index
from service.auth import Caller
from service.settings import Settings
from tests.examples import Ids, bundle, run
from tests.service.api.asking import ask, ingest_all, texts_of
from tests.service.api.people import (
    ADMIN,
    MARTEN,
    MODERATOR,
    OWLET,
    SABLE,
    Machine,
    done,
    sent_in,
    write,
)
from tests.service.api.test_authorisation_matrix import HERON, RULES, mutations
from tests.service.clocks import Hands
from tests.service.site import asked, site

BATCHES: Final = {"ingestRuns", "registerManifests", "ingestRun"}
ALL: Final = Principal(HERON, frozenset(Scope), frozenset({f"{HERON}-board"}))
SINGLE: Final = sorted(set(RULES) - BATCHES)
MADE: Final = {
    "openDispute": "dispute",
    "attestRun": "attestation",
    "reportIssue": "issue",
    "requestRerun": "rerun",
}
"""The mutations that give something a new id."""
ISSUE: Final = {"run": run().digest, "category": "OTHER", "text": "The page has no title."}
# Found by trying: the digests of these two runs share their first eight digits.
TWINS: Final = (14838, 33464)
ATTESTATION: Final = {"run": run().digest, "type": "REPRODUCED", "note": "Same here."}


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
async def timed(tmp_path: Path, clock: Hands) -> AsyncIterator[Index]:
    """An index with one run, whose clock the test moves."""
    async with open_index(Settings(data_dir=tmp_path), now=clock, new_id=Ids()) as opened:
        await sent_in(opened, bundle())
        yield opened


@pytest.mark.parametrize("name", SINGLE)
class TestEveryMutation:
    async def test_shows_its_change_to_the_very_next_query(self, index: Index, name: str) -> None:
        answer = await done(index, name, by=ALL, **await RULES[name].given(index, HERON))

        assert (answer["created"], answer["position"]) == (True, await position(index))

    async def test_repeats_its_first_answer_and_does_nothing_twice(self, index: Index, name: str) -> None:
        given = await RULES[name].given(index, HERON)
        first = await done(index, name, by=ALL, key="k", **given)
        events = index.log.latest()

        again = await done(index, name, by=ALL, key="k", **given)

        assert again == first
        assert index.log.latest() == events

    async def test_refuses_another_body_under_the_same_key(self, index: Index, name: str) -> None:
        given = await RULES[name].given(index, HERON)
        await done(index, name, by=ALL, key="k", **given)
        events = index.log.latest()
        field = next(field for field in ("reason", "note", "text", "host", "name", "runner", "run") if field in given)

        answer = await write(index, name, by=ALL, key="k", **{**given, field: given[field] + "x"})

        assert (answer["__typename"], answer["code"]) == ("Conflict", "IDEMPOTENCY_KEY_REUSED")
        assert answer["path"] == "input.idempotencyKey"
        assert index.log.latest() == events

    async def test_refuses_a_key_of_no_length(self, index: Index, name: str) -> None:
        answer = await write(index, name, by=ALL, key="x" * 129, **await RULES[name].given(index, HERON))

        assert (answer["__typename"], answer["path"]) == ("InvalidInput", "input.idempotencyKey")

    async def test_is_done_once_where_the_answer_was_lost(self, tmp_path: Path, name: str) -> None:
        """It dies when the save is in the log and nothing shows it yet; the client knows its key and nothing else."""
        async with open_index(Settings(data_dir=tmp_path), now=Hands(), new_id=Ids()) as index:
            given = await RULES[name].given(index, HERON)
        ids = Ids()
        async with open_index(
            Settings(data_dir=tmp_path), now=Hands(), new_id=lambda: f"2-{ids()}", follow=False
        ) as index:
            events = index.log.latest()
            lost = asyncio.create_task(write(index, name, by=ALL, key="k", **given))
            while index.log.latest() == events:
                await asyncio.sleep(0.001)
            lost.cancel()
            await asyncio.gather(lost, return_exceptions=True)
        async with open_index(Settings(data_dir=tmp_path), now=Hands(), new_id=lambda: f"3-{ids()}") as index:
            written = index.log.latest()

            answer = await done(index, name, by=ALL, key="k", **given)

            assert (answer["created"], index.log.latest()) == (True, written)
            if kind := MADE.get(name):
                assert answer[kind]["id"].removeprefix(f"{kind}/").startswith("2-")


async def test_a_retry_of_what_was_erased_says_that_it_is_gone(timed: Index) -> None:
    filed = await done(timed, "reportIssue", by=SABLE, key="k", **ISSUE)
    erase = EraseEvent(position=filed["position"], stream=filed["issue"]["id"], legal_basis="GDPR Art. 17")
    await timed.ledger.handle([erase], LOCAL)
    query = """mutation ($input: ReportIssueInput!) { reportIssue(input: $input) {
      ... on ReportIssueSuccess { issue { id } } } }"""

    response = await execute(timed, query, {"input": {**ISSUE, "idempotencyKey": "k"}}, caller=Caller(principal=SABLE))

    (error,) = response["errors"]
    assert error["extensions"]["code"] == "GONE"


async def test_what_is_said_of_a_run_outlives_its_erasure(timed: Index) -> None:
    """The run is gone, and a change of it answers so; who attested to it has still done so."""
    attested = (await done(timed, "attestRun", by=MARTEN, **ATTESTATION))["attestation"]["id"]
    rerun = (await done(timed, "requestRerun", by=MARTEN, run=run().digest))["rerun"]["id"]
    (position,) = timed.views.peek(lambda db: db.execute("SELECT position FROM publications").fetchone())
    erase = EraseEvent(position=position, stream=f"run/{run().digest}", legal_basis="GDPR Art. 17")
    await timed.ledger.handle([erase], LOCAL)

    refused = await write(timed, "retractRun", by=MODERATOR, run=run().digest, reason="x")
    assert (refused["__typename"], refused["code"], refused["path"]) == ("NotFound", "GONE", "input.run")
    query = """query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Attestation { run { id } } ... on Rerun { run { id } } } }"""
    nodes = (await ask(timed, query, ids=[attested, rerun]))["nodes"]
    assert nodes == [{"id": attested, "run": None}, {"id": rerun, "run": None}]


def ids_in_inputs() -> list[tuple[str, str]]:
    """Every field of an input that names something which must be there, by mutation."""
    inputs = {name: get_named_type(field.args["input"].type) for name, field in mutations().items() if name in SINGLE}
    named = [
        (name, field)
        for name, given in inputs.items()
        if isinstance(given, GraphQLInputObjectType)
        for field, of in given.fields.items()
        if get_named_type(of.type).name == "ID"
    ]
    return [one for one in named if one != ("approveRunner", "runner")]


@pytest.mark.parametrize(("name", "field"), ids_in_inputs())
async def test_what_an_input_names_must_be_there(index: Index, name: str, field: str) -> None:
    given = await RULES[name].given(index, HERON)
    more = {"outcome": "CORRECTED"} if field == "successor" and name == "resolveDispute" else {}
    events = index.log.latest()

    answer = await write(index, name, by=ALL, **{**given, **more, field: "nothing-here"})

    assert (answer["__typename"], answer["code"], answer["path"]) == ("NotFound", "NOT_FOUND", f"input.{field}")
    assert answer["remedy"]
    assert index.log.latest() == events


class TestIds:
    """Whatever ``run(id:)`` takes, a mutation takes."""

    @pytest.fixture(autouse=True)
    async def _world(self, index: Index) -> None:
        one = bundle()
        await ingest_all(index, Bundle(manifests=one.manifests, run=one.run, aliases=(("the-alias", run().digest),)))

    @pytest.mark.parametrize(
        "form",
        [run().digest, hex_of(run().digest), run().digest[:15], hex_of(run().digest)[:8], "the-alias"],
        ids=["digest", "hex", "prefix", "short id", "alias"],
    )
    async def test_of_a_run(self, index: Index, form: str) -> None:
        answer = await done(index, "retractRun", run=form, reason="withdrawn")

        assert answer["run"]["digest"] == run().digest

    @pytest.mark.parametrize("form", ["nothing-here", "0" * 64, f"sha256:{'0' * 64}", "", "x" * 5000])
    async def test_of_nothing_are_not_found(self, index: Index, form: str) -> None:
        answer = await write(index, "retractRun", run=form, reason="withdrawn")

        assert (answer["__typename"], answer["path"]) == ("NotFound", "input.run")
        assert answer["remedy"]
        assert len(answer["message"]) < 200

    async def test_of_something_else_than_a_run_are_not_found(self, index: Index) -> None:
        answer = await write(index, "retractRun", run=bundle().manifests[0].digest, reason="withdrawn")

        assert (answer["__typename"], answer["path"]) == ("NotFound", "input.run")

    async def test_that_several_runs_have_are_refused_with_the_candidates(self, index: Index) -> None:
        await ingest_all(index, *(bundle(median) for median in TWINS))
        first, second = (run(median).digest for median in TWINS)

        answer = await write(index, "retractRun", run=first[:15], reason="withdrawn")

        assert (answer["__typename"], answer["code"], answer["path"]) == ("InvalidInput", "AMBIGUOUS_ID", "input.run")
        assert first in answer["message"]
        assert second in answer["message"]

    async def test_of_all_else_go_with_and_without_their_kind(self, index: Index) -> None:
        machine = await Machine("some-b200", "heron").approved(index)
        rerun = (await done(index, "requestRerun", by=MARTEN, run=run().digest))["rerun"]["id"]
        issue = (await done(index, "reportIssue", by=None, **ISSUE))["issue"]["id"]
        attestation = (await done(index, "attestRun", by=MARTEN, **ATTESTATION))["attestation"]["id"]
        opened = await done(
            index, "openDispute", by=MODERATOR, run=run().digest, blocking=True, reason="x", issue=issue
        )

        assert (rerun[:6], issue[:6], attestation[:12]) == ("rerun/", "issue/", "attestation/")
        for form in (rerun, rerun.removeprefix("rerun/")):
            started = await done(index, "startRerun", by=machine.operator, rerun=form, runner="runner/some-b200")
            assert started["rerun"] == {"id": rerun, "state": "STARTED"}
        bare = attestation.removeprefix("attestation/")
        await done(index, "hideAttestation", by=MODERATOR, attestation=bare, reason="x")
        end = {"run": run().digest, "outcome": "DISMISSED", "reason": "x"}
        await done(index, "resolveDispute", by=MODERATOR, dispute=f"dispute/{opened['dispute']['id']}", **end)
        closed = await done(
            index, "closeIssue", by=MODERATOR, issue=issue.removeprefix("issue/"), outcome="NOTED", note="x"
        )
        assert closed["issue"] == {"id": issue, "state": "CLOSED"}
        await done(index, "suspendRunner", by=ADMIN, runner="runner/some-b200", reason="x")
        ids = [rerun, issue, attestation, "runner/some-b200"]
        nodes = (await ask(index, "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", ids=ids))["nodes"]
        assert [node["id"] for node in nodes] == ids

    @pytest.mark.parametrize("form", ["rerun/none", "none", "issue/none", "run/../x", "", "a b", "x" * 5000])
    async def test_of_a_rerun_that_nobody_asked_for(self, index: Index, form: str) -> None:
        machine = await Machine("some-b200", "heron").approved(index)

        answer = await write(index, "startRerun", by=machine.operator, rerun=form, runner="some-b200")

        assert (answer["__typename"], answer["path"]) == ("NotFound", "input.rerun")
        assert len(answer["message"]) < 200


async def test_problems_are_located_in_the_input(timed: Index) -> None:
    given = {**ATTESTATION, "note": " ", "evidenceUrl": "http://marten.example", "observedValue": "0"}

    answer = await write(timed, "attestRun", by=MARTEN, **given)

    assert answer["__typename"] == "InvalidInput"
    paths = ["note", "evidenceUrl", "observedValue", "observedUnit"]
    assert [one["path"] for one in answer["problems"]] == [f"input.{path}" for path in paths]


async def test_a_manifest_that_can_t_be_read_is_located_too(timed: Index) -> None:
    answer = await write(timed, "reviseMetadata", by=OWLET, manifest='{"kind": "x", "kind": "y"}', reason="x")

    assert (answer["__typename"], answer["path"]) == ("InvalidInput", "input.manifest.kind")


@pytest.mark.parametrize("field", ["text", "run", "key"])
async def test_half_a_surrogate_pair_is_no_text(timed: Index, field: str) -> None:
    answer = await write(timed, "reportIssue", by=SABLE, **{**ISSUE, field: "\ud800"})

    assert (answer["__typename"], answer["code"], answer["path"]) == ("InvalidInput", "INVALID_TEXT", "input")


class TestAttestationsOfADay:
    async def test_are_20_and_what_is_refused_is_none_of_them(self, timed: Index, clock: Hands) -> None:
        assert (await write(timed, "attestRun", by=MARTEN, **{**ATTESTATION, "note": ""}))["code"] == "INVALID_VALUE"
        for number in range(20):
            await done(timed, "attestRun", by=MARTEN, key=f"{number}", **ATTESTATION)
        events = timed.log.latest()

        over = await write(timed, "attestRun", by=MARTEN, **ATTESTATION)

        assert (over["__typename"], over["code"]) == ("RateLimited", "RATE_LIMITED")
        assert "2026-09-02T00:00:00Z" in over["remedy"]
        assert timed.log.latest() == events
        # A retry is no new one, another voice has its own, and so has the next day.
        assert (await write(timed, "attestRun", by=MARTEN, key="7", **ATTESTATION))["created"]
        assert (await write(timed, "attestRun", by=SABLE, **ATTESTATION))["created"]
        clock.forward(days=1)
        assert (await write(timed, "attestRun", by=MARTEN, **ATTESTATION))["created"]

    async def test_are_not_used_up_by_who_may_not(self, timed: Index) -> None:
        for _ in range(21):
            assert (await write(timed, "attestRun", by=OWLET, **ATTESTATION))["code"] == "FORBIDDEN"

    async def test_a_retry_after_midnight_files_nothing_new_and_uses_nothing(self, timed: Index, clock: Hands) -> None:
        first = await done(timed, "attestRun", by=MARTEN, key="k", **ATTESTATION)
        clock.forward(days=1)

        assert await done(timed, "attestRun", by=MARTEN, key="k", **ATTESTATION) == first
        for number in range(20):
            await done(timed, "attestRun", by=MARTEN, key=f"{number}", **ATTESTATION)


class TestIssuesWithoutAKey:
    async def test_are_5_a_day_from_an_address(self, timed: Index, clock: Hands) -> None:
        for number in range(5):
            await done(timed, "reportIssue", by=None, key=f"{number}", **ISSUE)

        over = await write(timed, "reportIssue", by=None, **ISSUE)

        assert (over["__typename"], over["code"]) == ("RateLimited", "RATE_LIMITED")
        assert (await write(timed, "reportIssue", by=None, key="3", **ISSUE))["created"]
        assert (await write(timed, "reportIssue", by=None, address="192.0.2.2", **ISSUE))["created"]
        assert (await write(timed, "reportIssue", by=SABLE, **ISSUE))["created"]
        clock.forward(days=1)
        assert (await write(timed, "reportIssue", by=None, **ISSUE))["created"]

    async def test_meet_nobody_else_s_under_the_same_idempotency_key(self, timed: Index) -> None:
        one = await done(timed, "reportIssue", by=None, key="1", address="192.0.2.1", **ISSUE)
        same = await done(timed, "reportIssue", by=None, key="1", address="192.0.2.2", **ISSUE)
        other = await done(timed, "reportIssue", by=None, key="1", address="192.0.2.3", **{**ISSUE, "text": "Other."})
        keyed = await done(timed, "reportIssue", by=SABLE, key="1", **ISSUE)

        assert len({answer["issue"]["id"] for answer in (one, same, other, keyed)}) == 4

    async def test_a_retry_after_midnight_files_nothing_new(self, timed: Index, clock: Hands) -> None:
        first = await done(timed, "reportIssue", by=None, key="k", **ISSUE)
        clock.forward(days=1)

        assert await done(timed, "reportIssue", by=None, key="k", **ISSUE) == first
        assert (await ask(timed, "{ issues { totalCount } }"))["issues"]["totalCount"] == 1

    async def test_say_who_reported_them_and_from_where_to_nobody(self, timed: Index, tmp_path: Path) -> None:
        await done(timed, "reportIssue", by=None, address="203.0.113.77", **ISSUE)

        (issue,) = (await ask(timed, "{ issues { nodes { reportedBy run { digest } } } }"))["issues"]["nodes"]
        assert issue == {"reportedBy": "anonymous", "run": {"digest": run().digest}}
        contents = contents_of(tmp_path)
        assert {"log.db", "keys.db"} <= contents.keys()
        assert not [name for name, content in contents.items() if b"203.0.113.77" in content]

    async def test_come_in_over_http(self, tmp_path: Path) -> None:
        query = """mutation ($input: ReportIssueInput!) { reportIssue(input: $input) {
          __typename ... on ReportIssueSuccess { issue { run { digest } } } } }"""
        async with site(tmp_path) as (served, client):
            _, key = served.key(Scope.INGEST)
            ingest = "mutation ($input: IngestRunInput!) { ingestRun(input: $input) { __typename } }"
            await asked(client, ingest, key, input={**texts_of(bundle()), "idempotencyKey": "k"})

            answers = [
                (await asked(client, query, input={**ISSUE, "idempotencyKey": f"{number}"})).json()["data"][
                    "reportIssue"
                ]
                for number in range(6)
            ]

        assert answers[0] == {"__typename": "ReportIssueSuccess", "issue": {"run": {"digest": run().digest}}}
        assert [one["__typename"] for one in answers] == ["ReportIssueSuccess"] * 5 + ["RateLimited"]


def contents_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


async def test_two_tries_at_once_file_one(timed: Index) -> None:
    answers = await asyncio.gather(*(done(timed, "attestRun", by=MARTEN, key="k", **ATTESTATION) for _ in range(8)))

    assert len({answer["attestation"]["id"] for answer in answers}) == 1
    counted = (await ask(timed, "{ runs { nodes { attestations { totalCount } } } }"))["runs"]["nodes"]
    assert counted == [{"attestations": {"totalCount": 1}}]


async def position(index: Index) -> int:
    return int((await ask(index, "{ stamp { position } }"))["stamp"]["position"])
