"""Who may take a rerun, for how long, and which results are taken."""

from datetime import timedelta
from typing import Any

import pytest

from domain.commands import AbandonRerun, RecordRerun, RenewRerunLease, RequestRerun, StartRerun
from domain.commands.rerun_results import statement
from domain.errors import Conflict, ErrorCode, Forbidden, InvalidInput, KernelIndexError, NotFound
from domain.events import timestamp
from domain.facts import (
    DisputeOpened,
    Fact,
    LogOpened,
    ManifestRegistered,
    PolicyAdopted,
    RerunAbandoned,
    RerunOutcome,
    RerunRecorded,
    RerunRequested,
    RerunStarted,
    RunIngested,
    RunnerApproved,
    RunnerSuspended,
    RunRetracted,
)
from domain.principals import Principal, Scope
from domain.streams import World
from tests.examples import (
    ENVIRONMENT,
    FINCH,
    PUBLIC_KEY,
    RERUN,
    RUNNER,
    SIGNATURE,
    START,
    fits,
    implementation,
    manifest,
    raw,
    run,
    world,
)

OTHER = "crane-b200"
CRANE = Principal(id="crane", scopes=frozenset({Scope.RERUN}))
OPENED = LogOpened(log_id="0123456789abcdef", origin="example.org/log")
CLAIM = RunIngested(digest=run().digest, manifest=raw(run()), source="local")
KNOWN = ManifestRegistered(digest=ENVIRONMENT.digest, kind="ExecutionEnvironment", manifest=raw(ENVIRONMENT))
APPROVED = [
    RunnerApproved(runner=RUNNER, operator="finch", host="h1", hardware="NVIDIA B200", public_key=PUBLIC_KEY),
    RunnerApproved(runner=OTHER, operator="crane", host="h2", hardware="NVIDIA B200", public_key=PUBLIC_KEY),
]
REQUESTED = RerunRequested(rerun=RERUN, run=run().digest)
OPEN: tuple[Fact, ...] = (OPENED, CLAIM, KNOWN, *APPROVED, REQUESTED)


def started(runner: str = RUNNER, for_s: int = 60) -> RerunStarted:
    return RerunStarted(rerun=RERUN, runner=runner, lease_expires_at=timestamp(START + timedelta(seconds=for_s)))


def start(runner: str = RUNNER, after_s: int = 0) -> StartRerun:
    return StartRerun(rerun=RERUN, runner=runner, now=START + timedelta(seconds=after_s), lease_s=60)


def record(value: int = 8200, **changes: Any) -> RecordRerun:
    stated = {"rerun": RERUN, "runner": RUNNER, "manifest": run(value), "signature": SIGNATURE, "verify": fits}
    return RecordRerun(**{**stated, **changes})


def refused(command: Any, given: World, principal: Principal = FINCH) -> tuple[type[KernelIndexError], ErrorCode]:
    with pytest.raises(KernelIndexError) as caught:
        command.decide(given, principal)
    return type(caught.value), caught.value.problems[0].code


class TestRequesting:
    def test_anyone_with_a_key_may(self) -> None:
        for scope in (Scope.ATTEST, Scope.RERUN, Scope.INGEST, Scope.MODERATE):
            command = RequestRerun(rerun="new", run=run().digest)
            [fact] = command.decide(world(CLAIM), Principal("wren", scopes=frozenset({scope}))).facts
            assert fact == RerunRequested(rerun="new", run=run().digest)

    def test_there_must_be_a_claim_that_stands(self) -> None:
        command = RequestRerun(rerun="new", run=run().digest)
        assert refused(command, world()) == (NotFound, ErrorCode.NOT_FOUND)
        retracted = world(CLAIM, RunRetracted(digest=run().digest, reason="x"))
        assert refused(command, retracted) == (Conflict, ErrorCode.RUN_RETRACTED)


class TestStarting:
    def test_the_first_has_it_for_the_length_of_its_lease(self) -> None:
        assert start().decide(world(*OPEN), FINCH).facts == (started(),)

    def test_nobody_else_may_while_the_lease_runs(self) -> None:
        given = world(*OPEN, started())
        assert refused(start(OTHER, after_s=59), given, CRANE) == (Conflict, ErrorCode.RERUN_TAKEN)

    def test_when_it_has_run_out_the_next_one_says_so_first(self) -> None:
        facts = start(OTHER, after_s=60).decide(world(*OPEN, started()), CRANE).facts
        assert facts == (
            RerunAbandoned(rerun=RERUN, runner=RUNNER, reason="LEASE_EXPIRED"),
            started(OTHER, for_s=120),
        )

    def test_who_has_it_starts_again_after_a_crash(self) -> None:
        assert start(after_s=30).decide(world(*OPEN, started()), FINCH).facts == (started(for_s=90),)

    @pytest.mark.parametrize(
        "command",
        [
            start(),
            record(),
            RenewRerunLease(rerun=RERUN, runner=RUNNER, now=START, lease_s=1),
            AbandonRerun(rerun=RERUN, runner=RUNNER, reason="x"),
        ],
    )
    def test_only_its_operator_acts_for_a_runner_and_only_while_it_is_trusted(self, command: Any) -> None:
        given = world(*OPEN, started())
        assert refused(command, given, Principal("crane", scopes=frozenset(Scope))) == (Forbidden, ErrorCode.FORBIDDEN)
        assert refused(command, given, Principal("finch", scopes=frozenset({Scope.INGEST})))[0] is Forbidden
        suspended = world(*OPEN, started(), RunnerSuspended(runner=RUNNER, reason="x"))
        assert refused(command, suspended) == (Forbidden, ErrorCode.RUNNER_SUSPENDED)

    def test_a_recorded_one_is_over(self) -> None:
        done = record().decide(world(*OPEN, started()), FINCH).facts
        given = world(*OPEN, started(), *done)
        assert refused(start(), given) == (Conflict, ErrorCode.RERUN_CLOSED)
        assert refused(record(8300), given) == (Conflict, ErrorCode.RERUN_CLOSED)


class TestKeepingAndGivingBack:
    def test_the_lease_is_renewed_by_who_has_it_even_when_it_had_run_out(self) -> None:
        renew = RenewRerunLease(rerun=RERUN, runner=RUNNER, now=START + timedelta(seconds=90), lease_s=60)
        assert renew.decide(world(*OPEN, started()), FINCH).facts == (started(for_s=150),)

    def test_not_by_who_lost_it(self) -> None:
        renew = RenewRerunLease(rerun=RERUN, runner=RUNNER, now=START, lease_s=60)
        assert refused(renew, world(*OPEN, started(), started(OTHER))) == (Conflict, ErrorCode.RERUN_TAKEN)
        assert refused(renew, world(*OPEN)) == (Conflict, ErrorCode.RERUN_TAKEN)

    def test_given_back_it_is_open_to_all(self) -> None:
        facts = AbandonRerun(rerun=RERUN, runner=RUNNER, reason="no time").decide(world(*OPEN, started()), FINCH).facts
        given = world(*OPEN, started(), *facts)
        assert start(OTHER).decide(given, CRANE).facts == (started(OTHER),)


class TestRecording:
    def test_the_outcome_is_computed_and_the_policy_named(self) -> None:
        [fact] = record(8200).decide(world(*OPEN, started()), FINCH).facts
        assert isinstance(fact, RerunRecorded)
        assert (fact.outcome, fact.policy, fact.manifest_digest) == (
            RerunOutcome.CONFIRMED,
            "rerun-v1",
            run(8200).digest,
        )

    def test_a_contradiction_opens_a_dispute_that_does_not_block_in_the_same_save(self) -> None:
        recorded, opened = record(9900).decide(world(*OPEN, started()), FINCH).facts
        assert isinstance(recorded, RerunRecorded)
        assert isinstance(opened, DisputeOpened)
        assert recorded.outcome is RerunOutcome.CONTRADICTED
        assert (opened.dispute, opened.rerun, opened.blocking) == (RERUN, RERUN, False)

    def test_a_late_result_of_the_last_starter_is_taken(self) -> None:
        given = world(*OPEN, started(), RerunAbandoned(rerun=RERUN, runner=RUNNER, reason="LEASE_EXPIRED"))
        assert record().decide(given, FINCH).facts

    def test_one_of_an_earlier_starter_is_not(self) -> None:
        given = world(*OPEN, started(), started(OTHER))
        assert refused(record(), given) == (Conflict, ErrorCode.RERUN_TAKEN)
        assert refused(record(), world(*OPEN)) == (Conflict, ErrorCode.RERUN_TAKEN)

    def test_the_same_result_again_is_answered_and_adds_nothing(self) -> None:
        done = record().decide(world(*OPEN, started()), FINCH).facts
        assert record().decide(world(*OPEN, started(), *done), FINCH).facts == ()

    @pytest.mark.parametrize(
        "changes",
        [{"implementationDigest": implementation("stork").digest}, {"workloadDigest": f"sha256:{'a' * 64}"}],
    )
    def test_it_must_be_of_the_same_implementation_and_workload(self, changes: dict[str, str]) -> None:
        other = run(8200, **changes)
        assert refused(record(manifest=other), world(*OPEN, started())) == (InvalidInput, ErrorCode.DIGEST_MISMATCH)

    def test_the_claim_itself_is_no_rerun_of_it(self) -> None:
        assert refused(record(manifest=run()), world(*OPEN, started()))[0] is InvalidInput

    def test_an_environment_that_is_new_is_registered_with_it(self) -> None:
        environment = manifest("ExecutionEnvironment", {**ENVIRONMENT.spec, "settings": {"clocksLocked": True}})
        mine = run(8200, environmentDigest=environment.digest)
        registered, recorded = (
            record(manifest=mine, environment=environment).decide(world(*OPEN, started()), FINCH).facts
        )
        assert isinstance(registered, ManifestRegistered)
        assert isinstance(recorded, RerunRecorded)
        assert recorded.outcome is RerunOutcome.CONFIRMED

    def test_an_environment_that_is_another_is_refused(self) -> None:
        other = manifest("ExecutionEnvironment", {**ENVIRONMENT.spec, "settings": {"clocksLocked": True}})
        assert refused(record(environment=other), world(*OPEN, started())) == (InvalidInput, ErrorCode.DIGEST_MISMATCH)

    def test_the_signature_is_over_this_log_request_claim_and_manifest(self) -> None:
        asked: list[tuple[bytes, bytes]] = []

        def verify(key: bytes, message: bytes, _: bytes) -> bool:
            asked.append((key, message))
            return False

        assert refused(record(verify=verify), world(*OPEN, started())) == (Forbidden, ErrorCode.BAD_SIGNATURE)
        signed = statement(log_id="0123456789abcdef", rerun=RERUN, run=run().digest, manifest_digest=run(8200).digest)
        assert asked == [(bytes(range(32)), signed)]

    def test_the_policy_that_the_log_has_adopted_judges(self) -> None:
        adopted = PolicyAdopted(name="rerun", version="rerun-v1")
        [fact] = record().decide(world(OPENED, adopted, *OPEN[1:], started()), FINCH).facts
        assert isinstance(fact, RerunRecorded)
        assert fact.policy == "rerun-v1"

    def test_what_it_reads_leads_from_the_request_to_the_claim_to_its_environment(self) -> None:
        command = record()
        assert command.reads_next(world()) == set()
        assert command.reads_next(world(REQUESTED)) == {f"run/{run().digest}"}
        assert f"manifest/{ENVIRONMENT.digest}" in command.reads_next(world(REQUESTED, CLAIM))

    def test_a_contradiction_of_a_retracted_run_opens_nothing(self) -> None:
        given = world(*OPEN, started(), RunRetracted(digest=run().digest, reason="x"))
        assert [type(fact) for fact in record(9900).decide(given, FINCH).facts] == [RerunRecorded]
