"""Correcting records: who may, what follows, and that no chain of successors closes to a ring."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.commands import OpenDispute, ResolveDispute, RetractRun, ReviseMetadata, SupersedeRun
from domain.errors import Conflict, ErrorCode, Forbidden, InvalidInput, KernelIndexError, NotFound
from domain.facts import (
    DisputeCause,
    DisputeOpened,
    DisputeOutcome,
    DisputeResolved,
    Fact,
    IssueCategory,
    IssueReported,
    ManifestRegistered,
    MetadataRevised,
    RunIngested,
    RunRetracted,
    RunSuperseded,
    RunSupersedes,
)
from domain.principals import LOCAL, Principal, Scope
from domain.streams import World
from tests.examples import implementation, manifest, raw, run, world

A, B, C = (run(value) for value in (100, 90, 80))
INGESTED = tuple(RunIngested(digest=one.digest, manifest=raw(one), source="board") for one in (A, B, C))
RETRACT = RetractRun(run=A.digest, reason="wrong stream")
SUPERSEDE = SupersedeRun(run=A.digest, successor=B.digest, reason="measured again")
OPENED = DisputeOpened(
    digest=A.digest, dispute="d-1", cause=DisputeCause.MODERATOR, blocking=True, reason="too good to be true"
)


def who(name: str, *scopes: Scope, sources: tuple[str, ...] = ()) -> Principal:
    return Principal(name, scopes=frozenset(scopes), sources=frozenset(sources))


def refused(command: Any, given: World, principal: Principal = LOCAL) -> tuple[type[KernelIndexError], ErrorCode]:
    with pytest.raises(KernelIndexError) as caught:
        command.decide(given, principal)
    return type(caught.value), caught.value.problems[0].code


@pytest.mark.parametrize("command", [RETRACT, SUPERSEDE])
class TestWhoCorrects:
    def test_who_sent_it_in_its_sources_owner_and_moderators_may(self, command: Any) -> None:
        given = world(*INGESTED, actor="heron")
        for principal in (
            who("heron", Scope.INGEST),
            who("owner", Scope.INGEST, sources=("board",)),
            who("warden", Scope.MODERATE),
        ):
            assert command.decide(given, principal).facts

    def test_nobody_else_may(self, command: Any) -> None:
        given = world(*INGESTED, actor="heron")
        for principal in (who("heron", Scope.ATTEST), who("stork", Scope.INGEST), who("root", Scope.ADMIN)):
            assert refused(command, given, principal) == (Forbidden, ErrorCode.FORBIDDEN)

    def test_a_reason_is_given(self, command: Any) -> None:
        silent = msgspec.structs.replace(command, reason="  ")
        assert refused(silent, world(*INGESTED)) == (InvalidInput, ErrorCode.INVALID_VALUE)


def test_nobody_puts_a_run_in_the_place_of_anothers() -> None:
    given = World({**world(INGESTED[0], actor="heron").streams, **world(INGESTED[1], actor="stork").streams})
    assert refused(SUPERSEDE, given, who("heron", Scope.INGEST)) == (Forbidden, ErrorCode.FORBIDDEN)
    assert SUPERSEDE.decide(given, who("warden", Scope.MODERATE)).facts


def test_both_ends_of_a_supersession_are_one_decision() -> None:
    assert SUPERSEDE.decide(world(*INGESTED), LOCAL).facts == (
        RunSuperseded(digest=A.digest, by=B.digest, reason="measured again"),
        RunSupersedes(digest=B.digest, predecessor=A.digest, reason="measured again"),
    )


def test_done_again_nothing_happens() -> None:
    given = world(*INGESTED)
    given.apply(SUPERSEDE.decide(given, LOCAL).facts, "local")
    assert SUPERSEDE.decide(given, LOCAL).facts == ()
    given.apply(RETRACT.decide(given, LOCAL).facts, "local")
    assert RETRACT.decide(given, LOCAL).facts == ()


def test_a_run_has_one_successor() -> None:
    given = world(*INGESTED, RunSuperseded(digest=A.digest, by=B.digest, reason="x"))
    other = SupersedeRun(run=A.digest, successor=C.digest, reason="x")
    assert refused(other, given) == (Conflict, ErrorCode.RUN_SUPERSEDED)


@pytest.mark.parametrize(
    ("fact", "code"),
    [
        (RunRetracted(digest=B.digest, reason="x"), ErrorCode.RUN_RETRACTED),
        (RunSuperseded(digest=B.digest, by=C.digest, reason="x"), ErrorCode.RUN_SUPERSEDED),
    ],
)
def test_a_successor_stands_itself(fact: Fact, code: ErrorCode) -> None:
    assert refused(SUPERSEDE, world(*INGESTED, fact)) == (Conflict, code)


def test_a_run_does_not_supersede_itself_nor_what_is_not_there() -> None:
    assert refused(SupersedeRun(run=A.digest, successor=A.digest, reason="x"), world(*INGESTED))[0] is InvalidInput
    assert refused(SUPERSEDE, world(INGESTED[0])) == (NotFound, ErrorCode.NOT_FOUND)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=12))
def test_following_successors_always_ends(pairs: list[tuple[int, int]]) -> None:
    runs = (A.digest, B.digest, C.digest)
    given_world = world(*INGESTED)
    for old, new in pairs:
        try:
            facts = SupersedeRun(run=runs[old], successor=runs[new], reason="x").decide(given_world, LOCAL).facts
        except KernelIndexError:
            continue
        given_world.apply(facts, "local")
    for start in runs:
        seen, current = set[str](), start
        while state := given_world.stream(f"run/{current}").state:
            assert current not in seen
            seen.add(current)
            following = getattr(state, "superseded_by", None)
            if following is None:
                break
            current = following


class TestMetadata:
    OTHER = manifest("BenchmarkRun", A.spec, name="renamed", title="Heron on B200")

    def test_it_is_revised_whole_and_the_digest_stays(self) -> None:
        [fact] = ReviseMetadata(manifest=self.OTHER, reason="title", salt="s").decide(world(*INGESTED), LOCAL).facts
        assert isinstance(fact, MetadataRevised)
        assert (fact.digest, bytes(fact.metadata)) == (A.digest, b'{"name":"renamed","title":"Heron on B200"}')

    def test_what_stands_already_is_nothing(self) -> None:
        assert ReviseMetadata(manifest=A, reason="title", salt="s").decide(world(*INGESTED), LOCAL).facts == ()

    def test_a_manifest_is_revised_by_who_registered_it(self) -> None:
        one = implementation()
        fact = ManifestRegistered(digest=one.digest, kind=one.kind.value, manifest=raw(one))
        command = ReviseMetadata(
            manifest=manifest("ImplementationRevision", one.spec, name="other"), reason="name", salt="s"
        )
        assert command.decide(world(fact, actor="heron"), who("heron", Scope.INGEST)).facts
        assert refused(command, world(fact, actor="heron"), who("stork", Scope.INGEST))[0] is Forbidden

    def test_another_spec_is_another_record(self) -> None:
        command = ReviseMetadata(manifest=run(70), reason="value", salt="s")
        assert refused(command, world(*INGESTED)) == (NotFound, ErrorCode.NOT_FOUND)


class TestDisputes:
    WARDEN = who("warden", Scope.MODERATE)

    def resolve(self, outcome: DisputeOutcome, **given: Any) -> ResolveDispute:
        return ResolveDispute(run=A.digest, dispute="d-1", outcome=outcome, reason="looked into", **given)

    def test_moderators_open_them_and_choose_whether_they_block(self) -> None:
        command = OpenDispute(dispute="d-1", run=A.digest, blocking=True, reason="too good to be true")
        assert command.decide(world(*INGESTED), self.WARDEN).facts == (OPENED,)
        assert refused(command, world(*INGESTED), who("heron", Scope.INGEST, Scope.ATTEST))[0] is Forbidden

    def test_one_may_come_from_an_issue_on_the_same_run(self) -> None:
        issue = IssueReported(issue="i", run=B.digest, category=IssueCategory.OTHER, text="x", salt="s")
        command = OpenDispute(dispute="d", run=A.digest, blocking=False, reason="x", issue="i")
        assert refused(command, world(*INGESTED, issue), self.WARDEN)[0] is NotFound
        mine = OpenDispute(dispute="d", run=B.digest, blocking=False, reason="x", issue="i")
        [fact] = mine.decide(world(*INGESTED, issue), self.WARDEN).facts
        assert isinstance(fact, DisputeOpened)
        assert (fact.cause, fact.issue) == (DisputeCause.ISSUE, "i")

    @pytest.mark.parametrize("outcome", [DisputeOutcome.DISMISSED, DisputeOutcome.UPHELD])
    def test_they_are_dismissed_or_upheld(self, outcome: DisputeOutcome) -> None:
        [fact] = self.resolve(outcome).decide(world(*INGESTED, OPENED), self.WARDEN).facts
        assert fact == DisputeResolved(digest=A.digest, dispute="d-1", outcome=outcome, reason="looked into")

    def test_corrected_is_saved_together_with_the_correction(self) -> None:
        given = world(*INGESTED, OPENED)
        retracted = self.resolve(DisputeOutcome.CORRECTED, retract=True).decide(given, self.WARDEN).facts
        superseded = self.resolve(DisputeOutcome.CORRECTED, successor=B.digest).decide(given, self.WARDEN).facts
        assert [type(fact) for fact in retracted] == [RunRetracted, DisputeResolved]
        assert [type(fact) for fact in superseded] == [RunSuperseded, RunSupersedes, DisputeResolved]

    @pytest.mark.parametrize("command", [RETRACT, SUPERSEDE])
    def test_a_correction_ends_the_open_disputes(self, command: Any) -> None:
        [*_, fact] = command.decide(world(*INGESTED, OPENED), LOCAL).facts
        assert isinstance(fact, DisputeResolved)
        assert fact.outcome is DisputeOutcome.CORRECTED

    @pytest.mark.parametrize(
        ("outcome", "given_with"),
        [
            (DisputeOutcome.CORRECTED, {}),
            (DisputeOutcome.CORRECTED, {"retract": True, "successor": B.digest}),
            (DisputeOutcome.UPHELD, {"retract": True}),
            (DisputeOutcome.DISMISSED, {"successor": B.digest}),
        ],
    )
    def test_a_correction_goes_with_corrected_and_only_with_it(
        self, outcome: DisputeOutcome, given_with: dict[str, Any]
    ) -> None:
        command = self.resolve(outcome, **given_with)
        assert refused(command, world(*INGESTED, OPENED), self.WARDEN)[0] is InvalidInput

    def test_one_that_is_over_or_unknown_is_not_resolved(self) -> None:
        over = DisputeResolved(digest=A.digest, dispute="d-1", outcome=DisputeOutcome.UPHELD, reason="x")
        command = self.resolve(DisputeOutcome.DISMISSED)
        assert refused(command, world(*INGESTED, OPENED, over), self.WARDEN) == (Conflict, ErrorCode.DISPUTE_CLOSED)
        assert refused(command, world(*INGESTED), self.WARDEN) == (NotFound, ErrorCode.NOT_FOUND)
