"""Taking in a bundle: what follows from it in which world, and what is refused."""

from typing import Any

import msgspec
import pytest

from domain.bundles import Bundle, bundle_of
from domain.commands import Ingest
from domain.errors import Conflict, ErrorCode, Forbidden, InvalidInput, KernelIndexError
from domain.facts import AliasClaimed, ArtifactRecorded, Fact, ManifestRegistered, RunIngested, SourceRegistered
from domain.outcomes import Ingested
from domain.principals import LOCAL, Principal, Scope
from domain.streams import EMPTY, Stream, World
from tests.examples import ENVIRONMENT, OPERATION, PROJECT, PROTOCOL, WORKLOAD, bundle, implementation, manifest, run

TERN: dict[str, Any] = {"sourceNative": {"source": "tern-board", "externalId": "submission/7"}}


def heron(*sources: str) -> Principal:
    """Somebody who may ingest, and write for these sources."""
    return Principal("heron", scopes=frozenset({Scope.INGEST}), sources=frozenset(sources))


def world(*facts: Fact) -> World:
    """The world after these facts."""
    streams: dict[str, Stream] = {}
    for fact in facts:
        streams[fact.stream] = streams.get(fact.stream, EMPTY).then(fact, "local")
    return World(streams)


def decided(given: Bundle, *history: Fact, by: Principal = LOCAL) -> tuple[tuple[Fact, ...], Ingested]:
    """What follows from a bundle after some history."""
    decision = Ingest(bundle=given).decide(world(*history), by)
    assert isinstance(decision.outcome, Ingested)
    return decision.facts, decision.outcome


def refused(given: Bundle, *history: Fact, by: Principal = LOCAL) -> KernelIndexError:
    """Why a bundle is refused after some history."""
    with pytest.raises(KernelIndexError) as caught:
        Ingest(bundle=given).decide(world(*history), by)
    return caught.value


def kinds(facts: tuple[Fact, ...]) -> list[str]:
    """The facts by type, registrations by the kind of their manifest."""
    return [fact.kind if isinstance(fact, ManifestRegistered) else type(fact).__name__ for fact in facts]


def only_run(facts: tuple[Fact, ...]) -> RunIngested:
    """The one run among the facts."""
    [found] = [fact for fact in facts if isinstance(fact, RunIngested)]
    return found


def test_a_new_bundle_registers_what_the_run_needs_before_the_run() -> None:
    facts, outcome = decided(bundle())
    assert kinds(facts) == [
        "SoftwareProject",
        "OperationSpec",
        "WorkloadCase",
        "ImplementationRevision",
        "BenchmarkProtocol",
        "ExecutionEnvironment",
        "RunIngested",
    ]
    assert outcome.created
    assert not outcome.metadata_differs


def test_only_what_is_new_is_recorded() -> None:
    history, _ = decided(bundle(100, by="heron"))
    facts, outcome = decided(bundle(200, by="stork"), *history)
    assert kinds(facts) == ["ImplementationRevision", "RunIngested"]
    assert len(outcome.unchanged) == 5


def test_an_implementation_names_the_project_of_its_bundle() -> None:
    facts, _ = decided(bundle())
    named = {fact.kind: fact.project for fact in facts if isinstance(fact, ManifestRegistered)}
    assert named["ImplementationRevision"] == PROJECT.digest
    assert named["OperationSpec"] is None


def test_a_project_that_comes_later_is_named_later_and_stands() -> None:
    alone, _ = decided(bundle_of(implementation()))
    facts, _ = decided(bundle_of(implementation(), PROJECT), *alone)
    assert kinds(facts) == ["SoftwareProject", "ImplementationRevision"]
    other = manifest("SoftwareProject", {"name": "Stork Kernels"})
    again, _ = decided(bundle_of(implementation(), other), *alone, *facts)
    assert kinds(again) == ["SoftwareProject"]


def test_a_run_alone_is_taken_whatever_is_missing() -> None:
    facts, outcome = decided(bundle_of(run()))
    assert kinds(facts) == ["RunIngested"]
    assert outcome.created


class TestTheRun:
    def test_it_carries_the_primary_measurement_exactly(self) -> None:
        primary = only_run(decided(bundle(8120))[0]).primary
        assert primary
        assert msgspec.to_builtins(primary) == {
            "metric": "latency",
            "statistic": "median",
            "unit": "ns",
            "value": "8120",
        }

    def test_without_the_primary_statistic_it_has_none(self) -> None:
        timing = {"primaryStatistic": "median", "latencyNs": {"mean": 8120}}
        assert only_run(decided(bundle(None, timing=timing))[0]).primary is None

    def test_a_source_native_run_belongs_to_its_source(self) -> None:
        ingested = only_run(decided(bundle(**TERN))[0])
        assert (ingested.source, ingested.external_id) == ("tern-board", "submission/7")

    def test_any_other_belongs_to_whoever_ingests_it(self) -> None:
        assert only_run(decided(bundle(), by=heron())[0]).source == "heron"

    def test_the_runs_own_external_id_goes_before_the_records(self) -> None:
        """The record's is another index's spelling of it; the run's is part of its identity."""
        given = msgspec.structs.replace(bundle(**TERN), external_id="7")
        assert only_run(decided(given)[0]).external_id == "submission/7"


class TestAgain:
    def test_the_same_digest_appends_nothing(self) -> None:
        history, _ = decided(bundle())
        facts, outcome = decided(bundle(), *history)
        assert facts == ()
        assert not outcome.created
        assert not outcome.metadata_differs

    def test_another_title_appends_nothing_and_is_told(self) -> None:
        history, _ = decided(bundle())
        retitled = manifest("OperationSpec", OPERATION.spec, title="RMSNorm, retitled")
        assert retitled.digest == OPERATION.digest
        facts, outcome = decided(bundle_of(retitled), *history)
        assert facts == ()
        assert outcome.metadata_differs

    def test_another_title_of_the_run_is_told_too(self) -> None:
        history, _ = decided(bundle())
        retitled = manifest("BenchmarkRun", run().spec, title="my best run")
        facts, outcome = decided(bundle_of(retitled), *history)
        assert facts == ()
        assert outcome.metadata_differs


class TestRefusals:
    @pytest.mark.parametrize(
        ("stray", "path"),
        [
            (manifest("BenchmarkProtocol", {**PROTOCOL.spec, "harness": {"name": "x"}}), "run.spec.protocolDigest"),
            (implementation("stork"), "run.spec.implementationDigest"),
            (manifest("WorkloadCase", {**WORKLOAD.spec, "axes": {"tokens": 1}}), "run.spec.workloadDigest"),
            (
                manifest("ExecutionEnvironment", {**ENVIRONMENT.spec, "software": {"driver": "1"}}),
                "run.spec.environmentDigest",
            ),
        ],
    )
    def test_embedded_manifests_are_those_that_the_run_names(self, stray: object, path: str) -> None:
        error = refused(bundle_of(run(), stray))  # type: ignore[arg-type]
        assert isinstance(error, InvalidInput)
        assert [(problem.code, problem.path) for problem in error.problems] == [(ErrorCode.DIGEST_MISMATCH, path)]

    def test_an_embedded_operation_is_that_of_workload_and_implementation(self) -> None:
        other = manifest("OperationSpec", {**OPERATION.spec, "family": "layernorm"})
        error = refused(bundle_of(WORKLOAD, implementation(), other))
        assert [problem.path for problem in error.problems] == [
            "workload.spec.operationSpecDigest",
            "implementation.spec.operation.specDigest",
        ]

    def test_nobody_writes_for_a_source_that_is_not_theirs(self) -> None:
        error = refused(bundle(**TERN), by=heron("other"))
        assert isinstance(error, Forbidden)
        assert error.problems[0].code is ErrorCode.SOURCE_NOT_YOURS
        assert decided(bundle(**TERN), by=heron("tern-board"))

    def test_a_record_can_not_name_another_source_than_its_run(self) -> None:
        error = refused(msgspec.structs.replace(bundle(**TERN), source="other-board"))
        assert error.problems[0].path == "record.source"


class TestAliases:
    def test_an_alias_is_claimed_once(self) -> None:
        given = msgspec.structs.replace(bundle(), aliases=(("old-id", run().digest), ("old-id", run().digest)))
        facts, _ = decided(given)
        assert [fact.alias for fact in facts if isinstance(fact, AliasClaimed)] == ["old-id"]
        assert decided(given, *facts)[0] == ()

    def test_nobody_names_the_run_of_a_source_that_is_not_theirs(self) -> None:
        """An alias is for ever, so who may not write for the source may not name its runs either."""
        history, _ = decided(bundle(**TERN))
        named = msgspec.structs.replace(bundle(**TERN), aliases=(("mine", run(**TERN).digest),))
        error = refused(named, *history, by=heron("other"))
        assert error.problems[0].code is ErrorCode.SOURCE_NOT_YOURS
        assert decided(named, *history, by=heron("tern-board"))[0]

    @pytest.mark.parametrize("alias", ["28c78ea8", f"sha256:{'0' * 64}", "0" * 63])
    def test_it_does_not_read_like_a_digest(self, alias: str) -> None:
        """Else somebody could take the short id of another's record, before it exists."""
        error = refused(msgspec.structs.replace(bundle(), aliases=((alias, run().digest),)))
        assert isinstance(error, InvalidInput)

    def test_it_belongs_to_one_object_for_ever(self) -> None:
        claimed = AliasClaimed(alias="old-id", target=OPERATION.digest)
        error = refused(msgspec.structs.replace(bundle(), aliases=(("old-id", run().digest),)), claimed)
        assert isinstance(error, Conflict)
        assert error.problems[0].code is ErrorCode.ALIAS_TAKEN


def test_an_artifact_is_recorded_once() -> None:
    artifact = ArtifactRecorded(digest=f"sha256:{'2' * 64}", kind="log")
    given = msgspec.structs.replace(bundle(), artifacts=(artifact,))
    facts, _ = decided(given)
    assert artifact in facts
    assert decided(given, *facts)[0] == ()


TERN_BOARD = SourceRegistered(slug="tern-board", name="Tern Board", kind="leaderboard")


def test_being_named_like_a_source_is_no_permission_to_write_for_it() -> None:
    namesake = Principal("tern-board", scopes=frozenset({Scope.INGEST}))
    assert refused(bundle(**TERN), by=namesake).problems[0].code is ErrorCode.SOURCE_NOT_YOURS


def test_a_run_of_its_own_is_not_taken_from_who_is_named_like_somebody_s_source() -> None:
    """It would be shown as that source's."""
    namesake = Principal("tern-board", scopes=frozenset({Scope.INGEST}))
    problem = refused(bundle(), TERN_BOARD, by=namesake).problems[0]
    assert (problem.code, problem.path) == (ErrorCode.SOURCE_NOT_YOURS, "run.spec.sourceNative")
    its_own = Principal("tern-board", scopes=frozenset({Scope.INGEST}), sources=frozenset({"tern-board"}))
    assert only_run(decided(bundle(), TERN_BOARD, by=its_own)[0]).source == "tern-board"


def test_who_sent_a_run_in_may_name_it_anew() -> None:
    facts = decided(bundle(), by=heron())[0]
    streams: dict[str, Stream] = {}
    for fact in facts:
        streams[fact.stream] = streams.get(fact.stream, EMPTY).then(fact, "heron")
    named = msgspec.structs.replace(bundle(), aliases=(("another-name", only_run(facts).digest),))
    added = Ingest(bundle=named).decide(World(streams), heron()).facts
    assert kinds(added) == ["AliasClaimed"]


@pytest.mark.parametrize(
    "alias",
    ["source/tern-board", "hardware/h100", "run/x", "abcdef0123@5", "my run@12", "0123abcd", f"sha256:{'a' * 64}"],
)
def test_an_alias_that_reads_like_an_id_of_this_index_is_refused(alias: str) -> None:
    named = msgspec.structs.replace(bundle(), aliases=((alias, only_run(decided(bundle())[0]).digest),))
    assert refused(named).problems[0].path == "record.aliases"


@pytest.mark.parametrize("alias", ["flashinfer/gemm", "mail@example.org", "sources/x", "v1@5.0", "abcdefg"])
def test_other_aliases_are_not(alias: str) -> None:
    named = msgspec.structs.replace(bundle(), aliases=((alias, only_run(decided(bundle())[0]).digest),))
    assert decided(named)[1].aliases == (alias,)


def test_one_that_was_claimed_before_that_was_a_rule_still_stands() -> None:
    digest = only_run(decided(bundle())[0]).digest
    named = msgspec.structs.replace(bundle(), aliases=(("source/tern-board", digest),))
    assert decided(named, AliasClaimed(alias="source/tern-board", target=digest))[1].aliases == ()
