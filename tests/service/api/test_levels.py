"""How far a record is trusted, from its claim on: what moves the level, what takes it back, and that replay agrees.

OWLET's run is measured again by runners of other operators. Every step is looked at as a reader sees it then; at the end
the same positions are read again, from the views that lived through it and from views made anew from the log.
"""

from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest

from domain.bundles import Bundle, bundle_of
from domain.manifests import Manifest
from domain.principals import Principal, Scope
from projections.model import document_texts
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
    manifest,
    run,
)
from tests.service.api.asking import ask, text_of
from tests.service.api.people import ADMIN, MARTEN, MODERATOR, OWLET, SABLE, Machine, done, sent_in, write
from tests.service.clocks import Hands

EVIDENCE = """query ($id: ID!) {
  run(id: $id) { digest evidence { level contested reasons { fact position } missing policyVersion } ranking { rank reasons } }
  stamp { position }
}"""
Level = tuple[str, bool, list[str]]
Seen = dict[tuple[str, int], Any]

MINUTES = count()


class Story:
    """An index in which things happen to one claim; ``seen`` is what a reader saw, by claim and position."""

    def __init__(self, index: Index, claim: Manifest, seen: Seen | None = None) -> None:
        self.index = index
        self.claim = claim
        self.seen = {} if seen is None else seen

    async def about(self, one: Bundle) -> "Story":
        """The story of another claim of OWLET's in the same index."""
        return Story(self.index, await sent_in(self.index, one), self.seen)

    async def level(self) -> Level:
        """The level, whether it is contested, and the facts that led to it; noted."""
        found = await ask(self.index, EVIDENCE, id=self.claim.digest)
        evidence = found["run"]["evidence"]
        self.seen[self.claim.digest, found["stamp"]["position"]] = evidence
        for reason in evidence["reasons"]:
            assert 1 <= reason["position"] <= found["stamp"]["position"]
        return evidence["level"], evidence["contested"], [reason["fact"] for reason in evidence["reasons"]]

    async def rank(self) -> tuple[int | None, list[str]]:
        ranking = (await ask(self.index, EVIDENCE, id=self.claim.digest))["run"]["ranking"]
        return ranking["rank"], ranking["reasons"]

    async def rerun(self, machine: Machine, median_ns: int | None = 8300, **spec: Any) -> dict[str, Any]:
        """The recorded rerun, as a reader sees it."""
        # Each is a measurement of its own: one that is recorded twice counts once.
        moment = f"2026-08-02T12:{next(MINUTES) % 60:02}:00Z"
        answer = await machine.rerun(self.index, self.claim, run(median_ns, observedAt=moment, **spec))
        assert answer["__typename"] == "RecordRerunSuccess", answer
        query = "query ($id: ID!) { rerun(id: $id) { id rerunId state result { outcome reason ratio position } } }"
        rerun: dict[str, Any] = (await ask(self.index, query, id=answer["rerun"]["id"]))["rerun"]
        assert rerun["state"] == "RECORDED"
        return rerun

    async def dispute(self) -> dict[str, Any]:
        """The dispute that is open."""
        query = """query ($id: ID!) { run(id: $id) { lifecycle {
          dispute { id cause blocking reason actor rerun { id } resolution { outcome } } } } }"""
        found = await ask(self.index, query, id=self.claim.digest)
        dispute: dict[str, Any] = found["run"]["lifecycle"]["dispute"]
        return dispute

    async def resolve(self, outcome: str, **given: Any) -> None:
        dispute = await self.dispute()
        given = {"run": self.claim.digest, "dispute": dispute["id"], "reason": "looked into", **given}
        await done(self.index, "resolveDispute", by=MODERATOR, outcome=outcome, **given)


@pytest.fixture
async def story(tmp_path: Path) -> AsyncIterator[Story]:
    async with open_index(Settings(data_dir=tmp_path), now=Hands(), new_id=Ids()) as index:
        told = Story(index, await sent_in(index, bundle()))
        yield told
        await told_the_same_later(told, tmp_path)


async def told_the_same_later(story: Story, folder: Path) -> None:
    """The levels that were shown are those of their positions still, and those of a replay of the log."""
    assert story.seen
    assert as_of(story.index, story) == story.seen
    await story.index.follower.stop()
    async with open_index(Settings(data_dir=copied(folder)), now=Hands(), new_id=Ids()) as replayed:
        assert as_of(replayed, story) == story.seen


def as_of(index: Index, story: Story) -> Seen:
    def evidence(digest: str, position: int) -> Any:
        text = index.views.peek(lambda db: document_texts(db, "runs", "digest", [digest], position))[digest].text
        return msgspec.json.decode(text)["evidence"]

    return {(digest, position): evidence(digest, position) for digest, position in story.seen}


def copied(folder: Path) -> Path:
    """A folder with the same log and no views."""
    copy = folder / "copy"
    copy.mkdir()
    for file in folder.glob("log.db*"):
        (copy / file.name).write_bytes(file.read_bytes())
    return copy


CLAIMED: Level = ("REPORTED", False, ["SOURCE_CLAIM"])
VERIFIED: Level = ("VERIFIED", False, ["SOURCE_CLAIM", "REFERENCES_RESOLVED", "RERUN_CONFIRMED"])
REPLICATED: Level = ("REPLICATED", False, [*VERIFIED[2], "RERUN_CONFIRMED"])


async def test_two_operators_replicate_it_and_a_suspension_takes_that_back(story: Story) -> None:
    one = await Machine("finch-b200", "finch").approved(story.index)
    other = await Machine("crane-b200", "crane").approved(story.index)
    assert await story.level() == CLAIMED

    first = await story.rerun(one)
    assert first["result"] | {"position": 0} == {
        "outcome": "CONFIRMED",
        "reason": None,
        "ratio": "1.02216748768",
        "position": 0,
    }
    assert await story.level() == VERIFIED
    second = await story.rerun(other, 8400)
    assert await story.level() == REPLICATED
    reasons = list(story.seen.values())[-1]["reasons"]
    assert [one["position"] for one in reasons[-2:]] == [first["result"]["position"], second["result"]["position"]]

    await done(story.index, "suspendRunner", by=ADMIN, runner="crane-b200", reason="its clocks were not locked")
    assert await story.level() == VERIFIED
    await done(story.index, "suspendRunner", by=ADMIN, runner="finch-b200", reason="its clocks were not locked")
    assert await story.level() == CLAIMED
    # For ever: what measures again is another runner.
    again = await write(story.index, "approveRunner", by=ADMIN, **approval(one))
    assert (again["__typename"], again["code"]) == ("Conflict", "RUNNER_SUSPENDED")


def approval(machine: Machine) -> dict[str, Any]:
    key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    return {
        "runner": machine.name,
        "operator": machine.operator.id,
        "host": machine.host,
        "hardware": "NVIDIA B200",
        "publicKey": key,
    }


@pytest.mark.parametrize(
    "same",
    [
        Machine("finch-2", "finch"),
        Machine("crane-b200", "crane", host="host-of-finch-b200"),
        Machine("crane-b200", "crane", secret="finch-b200"),
    ],
    ids=["operator", "host", "key"],
)
async def test_two_runners_with_something_in_common_are_not_independent(story: Story, same: Machine) -> None:
    one = await Machine("finch-b200", "finch").approved(story.index)
    await same.approved(story.index)

    await story.rerun(one)
    await story.rerun(same, 8310)

    assert await story.level() == VERIFIED
    # A third that shares nothing with either of them makes it so.
    await story.rerun(await Machine("ibis-b200", "ibis").approved(story.index), 8320)
    assert await story.level() == REPLICATED


async def test_an_operator_never_verifies_its_own_submission(story: Story) -> None:
    own = await Machine("owlet-b200", OWLET.id).approved(story.index)

    assert (await story.rerun(own))["result"]["outcome"] == "CONFIRMED"

    assert await story.level() == CLAIMED


async def test_nor_one_that_it_produced(story: Story) -> None:
    told = await story.about(msgspec.structs.replace(bundle(7000), producer="finch"))
    machine = await Machine("finch-b200", "finch").approved(story.index)

    await told.rerun(machine, 7100)

    assert await told.level() == CLAIMED


@pytest.mark.parametrize(
    ("measured_ns", "outcome", "reason"),
    [
        (8444, "CONFIRMED", None),  # 1.04 times slower
        (8608, "CONTRADICTED", "SLOWER_THAN_CLAIM"),  # 1.06
        (9095, "CONTRADICTED", "SLOWER_THAN_CLAIM"),  # 1.12
        (5684, "INCONCLUSIVE", "FASTER_THAN_CLAIM"),  # 0.7
    ],
)
async def test_the_outcome_follows_from_the_measurement(
    story: Story, measured_ns: int, outcome: str, reason: str | None
) -> None:
    result = (await story.rerun(await Machine("finch-b200", "finch").approved(story.index), measured_ns))["result"]

    assert (result["outcome"], result["reason"]) == (outcome, reason)
    level, contested, _ = await story.level()
    assert (level == "VERIFIED", contested) == (outcome == "CONFIRMED", outcome == "CONTRADICTED")


@pytest.mark.parametrize(("measured_ns", "outcome"), [(8608, "CONFIRMED"), (9095, "CONTRADICTED")])
async def test_overlapping_intervals_excuse_a_little_and_not_more(story: Story, measured_ns: int, outcome: str) -> None:
    def with_interval(median_ns: int) -> dict[str, Any]:
        latency = {"median": median_ns, "confidence95": [median_ns - 900, median_ns + 900]}
        return {"timing": {"primaryStatistic": "median", "latencyNs": latency}}

    told = await story.about(bundle(None, **with_interval(8120)))
    machine = await Machine("finch-b200", "finch").approved(story.index)

    rerun = await told.rerun(machine, None, **with_interval(measured_ns))

    assert rerun["result"]["outcome"] == outcome
    assert (await told.level())[0] == ("VERIFIED" if outcome == "CONFIRMED" else "REPORTED")


class TestARerunThatContradicts:
    @pytest.fixture(autouse=True)
    async def _contradicted(self, story: Story) -> None:
        """Two operators have confirmed it; a third measures it half as fast."""
        for name in ("finch", "crane"):
            await story.rerun(await Machine(f"{name}-b200", name).approved(story.index))
        assert await story.level() == REPLICATED
        self.third = await Machine("ibis-b200", "ibis").approved(story.index)
        self.rerun = await story.rerun(self.third, 16240)

    async def test_opens_a_dispute_that_says_so(self, story: Story) -> None:
        assert self.rerun["result"] | {"position": 0} == {
            "outcome": "CONTRADICTED",
            "reason": "SLOWER_THAN_CLAIM",
            "ratio": "2",
            "position": 0,
        }
        assert await story.dispute() == {
            "id": self.rerun["rerunId"],
            "cause": "CONTRADICTING_RERUN",
            "blocking": False,
            "reason": f"rerun {self.rerun['rerunId']} contradicts it: SLOWER_THAN_CLAIM",
            "actor": "ibis",
            "rerun": {"id": self.rerun["id"]},
            "resolution": None,
        }
        assert await story.level() == ("REPORTED", True, ["SOURCE_CLAIM", "DISPUTE_OPEN"])
        # Its result is in doubt, and in the rankings it stays until somebody decides that.
        assert await story.rank() == (1, [])

    async def test_stops_counting_where_it_is_dismissed(self, story: Story) -> None:
        await story.resolve("DISMISSED")

        assert await story.dispute() is None
        assert await story.level() == REPLICATED

    async def test_takes_the_confirmations_before_it_where_it_is_upheld(self, story: Story) -> None:
        await story.resolve("UPHELD")

        assert await story.level() == ("REPORTED", True, ["SOURCE_CLAIM", "DISPUTE_UPHELD"])
        await story.rerun(await Machine("stork-b200", "stork").approved(story.index))
        level, contested, facts = await story.level()
        assert (level, contested, facts[-2:]) == ("VERIFIED", True, ["RERUN_CONFIRMED", "DISPUTE_UPHELD"])

    async def test_ends_with_the_correction(self, story: Story) -> None:
        successor = await sent_in(story.index, bundle(16240))

        await story.resolve("CORRECTED", successor=successor.digest)

        query = """query ($id: ID!) { run(id: $id) { lifecycle {
          dispute { id } disputes { resolution { outcome reason actor position } }
          supersededBy { run { digest lifecycle { supersedes { run { digest } } } } reason actor position } } } }"""
        lifecycle = (await ask(story.index, query, id=story.claim.digest))["run"]["lifecycle"]
        assert lifecycle["dispute"] is None
        (ended,) = (one["resolution"] for one in lifecycle["disputes"])
        by = lifecycle["supersededBy"]
        assert (ended["outcome"], ended["reason"], ended["actor"]) == ("CORRECTED", "looked into", MODERATOR.id)
        assert by["run"] == {
            "digest": successor.digest,
            "lifecycle": {"supersedes": [{"run": {"digest": story.claim.digest}}]},
        }
        assert (by["reason"], by["actor"]) == ("looked into", MODERATOR.id)
        assert await story.rank() == (None, ["SUPERSEDED"])
        assert await story.level() == REPLICATED

    async def test_a_moderator_s_dispute_can_block(self, story: Story) -> None:
        given = {"run": story.claim.digest, "blocking": True, "reason": "it reads a cache"}
        await done(story.index, "openDispute", by=MODERATOR, **given)
        assert await story.rank() == (None, ["DISPUTED"])

        # The one that a rerun opened is the older one, so it is the one that is shown first.
        await story.resolve("DISMISSED")
        await story.resolve("DISMISSED")

        assert await story.rank() == (1, [])
        assert await story.level() == REPLICATED


async def test_nothing_that_people_attest_moves_it(story: Story) -> None:
    for by in (MARTEN, SABLE):
        for kind in ("REPRODUCED", "COULD_NOT_REPRODUCE", "REGRESSION_OBSERVED"):
            await done(story.index, "attestRun", by=by, run=story.claim.digest, type=kind, note="Tried it.")
            assert await story.level() == CLAIMED


async def test_what_is_not_resolved_is_not_verified_until_it_is(story: Story) -> None:
    """The rerun counts from the moment at which the last reference is there, and says so."""
    other = manifest("BenchmarkProtocol", {**PROTOCOL.spec, "harness": {"name": "other"}})
    claim = run(8120, protocolDigest=other.digest)
    given = bundle_of(PROJECT, OPERATION, WORKLOAD, implementation(), ENVIRONMENT, claim)
    told = await story.about(given)
    await told.rerun(await Machine("finch-b200", "finch").approved(story.index))
    assert await told.level() == CLAIMED

    by = Principal("crane", frozenset({Scope.INGEST}))
    await done(story.index, "registerManifests", by=by, manifests=[{"manifest": text_of(other)}])

    assert await told.level() == VERIFIED


class TestWhatIsRefused:
    @pytest.fixture(autouse=True)
    async def _started(self, story: Story) -> None:
        self.machine = await Machine("finch-b200", "finch").approved(story.index)
        asked = await done(story.index, "requestRerun", by=MARTEN, run=story.claim.digest)
        self.rerun = asked["rerun"]["id"]
        await self.machine.start(story.index, self.rerun)
        self.given = await self.machine.result(story.index, self.rerun, run(8300), of=story.claim)
        self.events = story.index.log.latest()

    async def refused(self, story: Story, **given: Any) -> tuple[str, str, str]:
        answer = await write(story.index, "recordRerun", by=self.machine.operator, **{**self.given, **given})
        assert story.index.log.latest() == self.events
        assert await story.level() == CLAIMED
        return answer["__typename"], answer["code"], answer["path"]

    BAD = ("Forbidden", "BAD_SIGNATURE", "input.signature")

    async def test_a_signature_of_another_key(self, story: Story) -> None:
        other = await Machine("crane-b200", "finch").result(story.index, self.rerun, run(8300), of=story.claim)

        assert await self.refused(story, signature=other["signature"]) == self.BAD

    async def test_a_signature_under_another_manifest(self, story: Story) -> None:
        assert await self.refused(story, manifest=text_of(run(8301))) == self.BAD

    async def test_a_signature_for_another_request(self, story: Story) -> None:
        """What was measured once can't be sent in again for the next request."""
        asked = await done(story.index, "requestRerun", by=MARTEN, run=story.claim.digest)
        await self.machine.start(story.index, asked["rerun"]["id"])
        self.events = story.index.log.latest()

        assert await self.refused(story, rerun=asked["rerun"]["id"]) == self.BAD

    async def test_a_signature_for_another_log(self, story: Story, tmp_path: Path) -> None:
        async with open_index(Settings(data_dir=tmp_path / "other"), now=Hands(), new_id=lambda: "other") as other:
            elsewhere = await self.machine.result(other, self.rerun, run(8300), of=story.claim)

        assert await self.refused(story, signature=elsewhere["signature"]) == self.BAD

    async def test_what_is_no_signature(self, story: Story) -> None:
        for text in ("", "x", "=" * 88, "é"):
            assert await self.refused(story, signature=text) == self.BAD

    async def test_another_workload(self, story: Story) -> None:
        elsewhere = manifest("WorkloadCase", {**WORKLOAD.spec, "axes": {"tokens": 4096}})
        measured = text_of(run(8300, workloadDigest=elsewhere.digest))

        refusal = ("InvalidInput", "DIGEST_MISMATCH", "input.manifest.spec.workloadDigest")
        assert await self.refused(story, manifest=measured) == refusal

    async def test_what_is_no_run(self, story: Story) -> None:
        assert await self.refused(story, manifest=text_of(PROTOCOL)) == (
            "InvalidInput",
            "INVALID_VALUE",
            "input.manifest.kind",
        )
        assert (await self.refused(story, environment=text_of(PROTOCOL)))[2] == "input.environment.kind"

    async def test_a_second_result(self, story: Story) -> None:
        await done(story.index, "recordRerun", by=self.machine.operator, **self.given)
        self.events = story.index.log.latest()
        second = await self.machine.result(story.index, self.rerun, run(8310), of=story.claim)

        answer = await write(story.index, "recordRerun", by=self.machine.operator, **second)

        assert (answer["__typename"], answer["code"]) == ("Conflict", "RERUN_CLOSED")
        assert story.index.log.latest() == self.events
        assert await story.level() == VERIFIED


async def test_the_environment_of_a_rerun_may_come_with_it(story: Story) -> None:
    """Another driver is no other product: the rerun counts, and its environment is registered with it."""
    newer = manifest("ExecutionEnvironment", {**ENVIRONMENT.spec, "software": {"driver": "600.1"}})
    machine = await Machine("finch-b200", "finch").approved(story.index)
    asked = await done(story.index, "requestRerun", by=MARTEN, run=story.claim.digest)
    await machine.start(story.index, asked["rerun"]["id"])
    measured = run(8300, environmentDigest=newer.digest)
    given = await machine.result(story.index, asked["rerun"]["id"], measured, of=story.claim)

    await done(story.index, "recordRerun", by=machine.operator, **given, environment=text_of(newer))

    assert await story.level() == VERIFIED
    found = await ask(story.index, "query ($id: ID!) { node(id: $id) { __typename } }", id=newer.digest)
    assert found["node"] == {"__typename": "Environment"}
    runs = (await ask(story.index, "{ runs { nodes { digest } } }"))["runs"]["nodes"]
    assert runs == [{"digest": story.claim.digest}]


async def test_a_lease_gives_a_request_to_one_runner_at_a_time(tmp_path: Path) -> None:
    clock = Hands()
    settings = Settings(data_dir=tmp_path, rerun_lease_s=60)
    async with open_index(settings, now=clock, new_id=Ids()) as index:
        claim = await sent_in(index, Bundle(run=bundle().run))
        one = await Machine("finch-b200", "finch").approved(index)
        other = await Machine("crane-b200", "crane").approved(index)
        rerun = (await done(index, "requestRerun", by=MARTEN, run=claim.digest))["rerun"]["id"]

        assert (await one.start(index, rerun))["__typename"] == "StartRerunSuccess"
        assert (await other.start(index, rerun))["code"] == "RERUN_TAKEN"
        clock.forward(seconds=40)
        await done(index, "renewRerunLease", by=one.operator, rerun=rerun, runner=one.name)
        query = """query ($id: ID!) { rerun(id: $id) { state leaseExpiresAt startedAt runner { id }
          abandonments { reason actor runner { id } } } }"""
        assert (await ask(index, query, id=rerun))["rerun"] == {
            "state": "STARTED",
            "startedAt": "2026-09-01T12:00:00.000000Z",
            "leaseExpiresAt": "2026-09-01T12:01:40.000000Z",
            "runner": {"id": "runner/finch-b200"},
            "abandonments": [],
        }
        clock.forward(seconds=60)
        assert (await other.start(index, rerun))["__typename"] == "StartRerunSuccess"
        await done(index, "abandonRerun", by=other.operator, rerun=rerun, runner=other.name, reason="out of memory")

        found = (await ask(index, query, id=rerun))["rerun"]
        assert (found["state"], found["leaseExpiresAt"]) == ("OPEN", None)
        assert [(one["reason"], one["actor"], one["runner"]["id"]) for one in found["abandonments"]] == [
            ("LEASE_EXPIRED", "crane", "runner/finch-b200"),
            ("out of memory", "crane", "runner/crane-b200"),
        ]
