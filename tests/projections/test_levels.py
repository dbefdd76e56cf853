"""Levels, contests and places of runs, as the views derive them from events."""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain import facts
from domain.events import Cause, Committed, Recorded
from domain.facts import AttestationType, DisputeCause, DisputeOutcome, Fact, RerunOutcome
from domain.manifests import Manifest
from domain.measurements import Measurement
from domain.policies import EVIDENCE_POLICIES, RANKING_POLICIES, EvidencePolicy, RankingPolicy
from domain.policies.evidence import Evidence, EvidenceLevel, RecordFacts, assess
from domain.policies.ranking import eligibility, rank
from projections import attestations, rankings, saves
from projections.model import AS_OF
from projections.views import apply, open_writer
from tests.examples import ENVIRONMENT, OPERATION, PROJECT, PROTOCOL, WORKLOAD, implementation, raw, run

FILE = {"uri": "https://heron.example/log", "digest": "sha256:" + "0" * 64}
CLAIM = run(8120, evidence={"logs": FILE})
SOURCE = implementation("heron", source={"contentDigest": FILE["digest"]})


def registered(one: Manifest, project: str | None = None) -> Fact:
    return facts.ManifestRegistered(digest=one.digest, kind=one.kind.value, manifest=raw(one), project=project)


def ingested(one: Manifest, producer: str | None = None) -> Fact:
    return facts.RunIngested(digest=one.digest, manifest=raw(one), source="heron", producer=producer)


def approved(who: str, host: str = "", key: str = "") -> Fact:
    return facts.RunnerApproved(
        runner=f"{who}-1",
        operator=who,
        host=host or f"host-{who}",
        hardware="NVIDIA B200",
        public_key=key or f"key-{who}",
    )


def recorded(
    rerun: str, runner: str, outcome: RerunOutcome = RerunOutcome.CONFIRMED, of: Manifest = CLAIM
) -> list[Fact]:
    # Each runner has a result of its own.
    measured = run(8200 + ord(runner[0]))
    done = facts.RerunRecorded(
        rerun=rerun,
        run=of.digest,
        runner=f"{runner}-1",
        manifest_digest=measured.digest,
        manifest=raw(measured),
        signature="",
        policy="rerun-v1",
        outcome=outcome,
    )
    return [facts.RerunRequested(rerun=rerun, run=of.digest), done]


class Story:
    """A log that is told fact by fact, and its views."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self._versions: dict[str, int] = {}
        self.told = 0

    def tell(self, *listed: Fact, actor: str = "heron") -> int:
        """One save; answers its position."""
        events = []
        for index, fact in enumerate(listed, 1):
            self.told += 1
            self._versions[fact.stream] = version = self._versions.get(fact.stream, 0) + 1
            cause = Cause(f"r{self.told}", index, len(listed))
            moment = f"2026-09-01T12:00:00.{self.told:06}Z"
            events.append(Committed(self.told, Recorded(fact.stream, version, moment, actor, cause, fact)))
        return apply(self.db, saves.head(self.db), events).position

    def doc(self, of: Manifest = CLAIM, position: int | None = None) -> dict[str, Any]:
        query = f"SELECT doc FROM runs WHERE digest = :digest AND {AS_OF}"
        names = {"digest": of.digest, "position": position or self.told}
        return dict(msgspec.json.decode(self.db.execute(query, names).fetchone()[0]))

    def level(self, of: Manifest = CLAIM, position: int | None = None) -> tuple[str, bool]:
        evidence = self.doc(of, position)["evidence"]
        return evidence["level"], evidence["contested"]

    def ranks(self, of: Manifest = CLAIM, position: int | None = None) -> dict[str, int]:
        key = self.doc(of)["comparisonKey"]
        moment = position or self.told
        groups = rankings.groups(self.db, [key], moment)
        standing = rankings.rank(self.db, groups.values(), moment)
        return {placed.entry.run: placed.rank for one in standing.values() for placed in one.placed}


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    db = open_writer(tmp_path / "views.db")
    story = Story(db)
    story.tell(facts.LogOpened(log_id="l", origin="o"))
    story.tell(*(registered(one) for one in (PROJECT, OPERATION, WORKLOAD, PROTOCOL, ENVIRONMENT)))
    story.tell(registered(SOURCE, PROJECT.digest))
    yield story
    db.close()


CLAIMED = run(8120, implementationDigest=SOURCE.digest, evidence={"logs": FILE})
BARE = run(8120, implementationDigest=SOURCE.digest)


class TestReruns:
    def test_from_reported_over_verified_to_replicated_and_back(self, story: Story) -> None:
        story.tell(ingested(BARE))
        assert story.level(BARE) == ("REPORTED", False)
        story.tell(approved("finch"), approved("crane"), actor="root")
        first = story.tell(*recorded("a", "finch", of=BARE), actor="finch")
        assert story.level(BARE) == ("VERIFIED", False)
        second = story.tell(*recorded("b", "crane", of=BARE), actor="crane")
        assert story.level(BARE) == ("REPLICATED", False)
        reasons = {(one["fact"], one["position"]) for one in story.doc(BARE)["evidence"]["reasons"]}
        assert {("RERUN_CONFIRMED", first), ("RERUN_CONFIRMED", second)} <= reasons
        story.tell(facts.RunnerSuspended(runner="crane-1", reason="x"), actor="root")
        assert story.level(BARE) == ("VERIFIED", False)
        story.tell(facts.RunnerSuspended(runner="finch-1", reason="x"), actor="root")
        assert story.level(BARE) == ("REPORTED", False)

    @pytest.mark.parametrize("same", [{"host": "host-finch"}, {"key": "key-finch"}])
    def test_two_runners_with_one_host_or_key_do_not_replicate(self, story: Story, same: dict[str, str]) -> None:
        story.tell(ingested(CLAIMED))
        story.tell(approved("finch"), approved("crane", **same), actor="root")
        story.tell(*recorded("a", "finch", of=CLAIMED), *recorded("b", "crane", of=CLAIMED))
        assert story.level(CLAIMED) == ("VERIFIED", False)

    @pytest.mark.parametrize("party", ["submitter", "producer"])
    def test_an_operator_never_verifies_its_own_submission(self, story: Story, party: str) -> None:
        story.tell(approved("finch"), actor="root")
        submitter, producer = ("finch", None) if party == "submitter" else ("heron", "finch")
        story.tell(ingested(CLAIMED, producer), actor=submitter)
        story.tell(*recorded("a", "finch", of=CLAIMED), actor="finch")
        assert story.level(CLAIMED) == ("REPRODUCIBLE", False)

    def test_a_contradiction_contests_until_its_dispute_is_dismissed(self, story: Story) -> None:
        story.tell(ingested(CLAIMED))
        story.tell(approved("finch"), approved("crane"), actor="root")
        story.tell(*recorded("a", "finch", of=CLAIMED))
        opened = facts.DisputeOpened(
            digest=CLAIMED.digest,
            dispute="b",
            cause=DisputeCause.CONTRADICTING_RERUN,
            blocking=False,
            reason="x",
            rerun="b",
        )
        story.tell(*recorded("b", "crane", RerunOutcome.CONTRADICTED, of=CLAIMED), opened)
        assert story.level(CLAIMED) == ("REPRODUCIBLE", True)
        assert story.doc(CLAIMED)["ineligibleReasons"] == []
        story.tell(
            facts.DisputeResolved(digest=CLAIMED.digest, dispute="b", outcome=DisputeOutcome.DISMISSED, reason="x")
        )
        assert story.level(CLAIMED) == ("VERIFIED", False)

    def test_an_upheld_dispute_takes_confirmations_back_and_stays(self, story: Story) -> None:
        story.tell(ingested(CLAIMED))
        story.tell(approved("finch"), approved("crane"), actor="root")
        story.tell(*recorded("a", "finch", of=CLAIMED))
        story.tell(dispute("d", blocking=False))
        story.tell(facts.DisputeResolved(digest=CLAIMED.digest, dispute="d", outcome=DisputeOutcome.UPHELD, reason="x"))
        assert story.level(CLAIMED) == ("REPRODUCIBLE", True)
        story.tell(*recorded("b", "crane", of=CLAIMED))
        assert story.level(CLAIMED) == ("VERIFIED", True)


def dispute(name: str, *, blocking: bool) -> Fact:
    return facts.DisputeOpened(
        digest=CLAIMED.digest, dispute=name, cause=DisputeCause.MODERATOR, blocking=blocking, reason="x"
    )


class TestPlaces:
    A, B, C = (run(value, implementationDigest=SOURCE.digest) for value in (100, 120, 130))

    def test_case_09_who_never_led_leaves_without_a_trace_in_the_others_places(self, story: Story) -> None:
        story.tell(*(ingested(one) for one in (self.A, self.B, self.C)))
        before = story.tell(facts.SourceRegistered(slug="x", name="x", kind="x"))
        story.tell(facts.RunRetracted(digest=self.B.digest, reason="x"))
        assert story.ranks(self.A) == {self.A.digest: 1, self.C.digest: 2}
        assert story.doc(self.B)["ineligibleReasons"] == ["RETRACTED"]
        assert story.ranks(self.A, before) == {self.A.digest: 1, self.B.digest: 2, self.C.digest: 3}

    def test_a_superseded_run_gives_its_place_to_its_successor_alone(self, story: Story) -> None:
        story.tell(*(ingested(one) for one in (self.A, self.B)))
        story.tell(
            facts.RunSuperseded(digest=self.A.digest, by=self.B.digest, reason="x"),
            facts.RunSupersedes(digest=self.B.digest, predecessor=self.A.digest, reason="x"),
        )
        assert story.ranks(self.A) == {self.B.digest: 1}
        assert story.doc(self.A)["lifecycle"]["supersededBy"]["run"] == self.B.digest
        assert story.doc(self.B)["lifecycle"]["supersedes"][0]["run"] == self.A.digest
        story.tell(facts.RunRetracted(digest=self.B.digest, reason="x"))
        assert story.ranks(self.A) == {}

    def test_only_a_blocking_dispute_takes_the_place_and_only_while_it_is_open(self, story: Story) -> None:
        story.tell(ingested(CLAIMED))
        story.tell(dispute("soft", blocking=False))
        assert story.ranks(CLAIMED) == {CLAIMED.digest: 1}
        story.tell(dispute("hard", blocking=True))
        assert story.doc(CLAIMED)["ineligibleReasons"] == ["DISPUTED"]
        assert story.ranks(CLAIMED) == {}
        story.tell(
            facts.DisputeResolved(digest=CLAIMED.digest, dispute="hard", outcome=DisputeOutcome.DISMISSED, reason="x")
        )
        assert story.ranks(CLAIMED) == {CLAIMED.digest: 1}


class TestMetadata:
    def test_an_evidence_reason_keeps_its_position_when_names_change(self, story: Story) -> None:
        story.tell(ingested(CLAIMED))
        before = story.doc(CLAIMED)["evidence"]
        for one in (CLAIMED, SOURCE, OPERATION, PROJECT):
            revised = facts.MetadataRevised(
                digest=one.digest,
                kind=one.kind.value,
                metadata=facts.free_json({"name": "renamed", "title": "Renamed"}),
                reason="x",
                salt="s",
            )
            story.tell(revised)
        after = story.doc(CLAIMED)
        assert after["evidence"] == before
        assert after["title"] == "Renamed"
        assert len(after["lifecycle"]["metadataRevisions"]) == 1


people = st.sampled_from(["heron", "marten", "sable"])
filings = st.builds(
    lambda number, who, kind: (
        facts.AttestationFiled(attestation=f"a-{number}", run=CLAIMED.digest, type=kind, note="x", salt="s"),
        who,
    ),
    st.integers(0, 5),
    people,
    st.sampled_from(AttestationType),
)
hidings = st.builds(
    lambda number: (facts.AttestationHidden(attestation=f"a-{number}", reason="x"), "warden"), st.integers(0, 5)
)


class TestAttestations:
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(said=st.lists(filings | hidings, max_size=10), confirmations=st.integers(0, 2))
    def test_no_sequence_of_them_changes_a_level(
        self, tmp_path_factory: pytest.TempPathFactory, said: Sequence[tuple[Any, str]], confirmations: int
    ) -> None:
        db = open_writer(tmp_path_factory.mktemp("views") / "views.db")
        story = Story(db)
        story.tell(*(registered(one) for one in (OPERATION, WORKLOAD, PROTOCOL, ENVIRONMENT, PROJECT)))
        story.tell(registered(SOURCE, PROJECT.digest), ingested(CLAIMED))
        story.tell(approved("finch"), approved("crane"), actor="root")
        for who in ("finch", "crane")[:confirmations]:
            story.tell(*recorded(who, who, of=CLAIMED), actor=who)
        before = story.doc(CLAIMED)

        filed: dict[str, tuple[str, str]] = {}
        hidden: set[str] = set()
        for fact, who in said:
            if isinstance(fact, facts.AttestationFiled) and fact.attestation not in filed:
                filed[fact.attestation] = (who, fact.type)
            elif isinstance(fact, facts.AttestationHidden) and fact.attestation in filed:
                hidden.add(fact.attestation)
            else:
                continue
            position = story.tell(fact, actor=who)
            assert story.doc(CLAIMED) == before
            voices = {said for name, said in filed.items() if name not in hidden and said[0] != "heron"}
            counted = attestations.counts(db, [CLAIMED.digest], position)[CLAIMED.digest]
            expected: dict[str, int] = {}
            for _, kind in voices:
                expected[kind] = expected.get(kind, 0) + 1
            assert {one["type"]: one["count"] for one in counted} == expected
        db.close()


class TestPolicies:
    def test_a_version_adopted_later_changes_no_answer_at_earlier_positions(
        self, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def stern(facts: RecordFacts) -> Evidence:
            return msgspec.structs.replace(assess(facts), level=EvidenceLevel.REPORTED)

        def nobody(status: str, *, primary: Measurement | None, **facts: bool) -> tuple[str, ...]:
            return (*eligibility(status, primary=primary, **facts), "UNDER_REVIEW")

        monkeypatch.setitem(EVIDENCE_POLICIES, "evidence-v2", EvidencePolicy("evidence-v2", stern))
        monkeypatch.setitem(RANKING_POLICIES, "ranking-v2", RankingPolicy("ranking-v2", nobody, rank))
        before = story.tell(ingested(CLAIMED))
        shown, ranks = story.doc(CLAIMED), story.ranks(CLAIMED)
        after = story.tell(
            facts.PolicyAdopted(name="evidence", version="evidence-v2"),
            facts.PolicyAdopted(name="ranking", version="ranking-v2"),
        )

        assert story.level(CLAIMED) == ("REPORTED", False)
        assert story.doc(CLAIMED)["evidence"]["policyVersion"] == "evidence-v2"
        assert story.ranks(CLAIMED) == {}
        assert story.doc(CLAIMED, before) == shown
        assert story.ranks(CLAIMED, before) == ranks == {CLAIMED.digest: 1}
        assert after > before
