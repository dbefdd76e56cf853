"""Attestations, issues, runners and erasure: what may be said, and by whom."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.commands import (
    ApproveRunner,
    AttestRun,
    CloseIssue,
    EraseEvent,
    HideAttestation,
    ReportIssue,
    SuspendRunner,
    words,
)
from domain.errors import Conflict, ErrorCode, Forbidden, InvalidInput, KernelIndexError
from domain.facts import (
    AttestationFiled,
    AttestationHidden,
    EventErased,
    IssueClosed,
    IssueReported,
    LogOpened,
    RunnerSuspended,
)
from domain.principals import LOCAL, Principal, Scope
from domain.streams import World
from tests.examples import FACTS, FOLLOWING, GIVEN, world


def example(kind: Any) -> Any:
    return next(one for one in (*FOLLOWING, *FACTS) if isinstance(one, kind))


def problem(
    command: Any, given: World | None = None, principal: Principal = LOCAL
) -> tuple[type[KernelIndexError], str]:
    with pytest.raises(KernelIndexError) as caught:
        command.decide(given or world(*GIVEN), principal)
    return type(caught.value), caught.value.problems[0].path


ATTEST: AttestRun = example(AttestRun)


class TestAttesting:
    @pytest.mark.parametrize(
        ("field", "value", "path"),
        [
            ("note", "", "note"),
            ("note", " \n", "note"),
            ("note", "x" * 2001, "note"),
            ("note", "a\u202eb", "note"),
            ("note", "a\u0000b", "note"),
            ("note", "e\u0301", "note"),
            ("evidence_url", "http://marten.example/log", "evidenceUrl"),
            ("evidence_url", "javascript:alert(1)", "evidenceUrl"),
            ("evidence_url", "https://", "evidenceUrl"),
            ("evidence_url", "https://user:word@marten.example/", "evidenceUrl"),
            ("evidence_url", "https://[", "evidenceUrl"),
            ("evidence_url", "https://marten.example/a b", "evidenceUrl"),
            ("observed_value", "0", "observedValue"),
            ("observed_value", "-1", "observedValue"),
            ("observed_value", "NaN", "observedValue"),
            ("observed_value", "8,2", "observedValue"),
            ("observed_value", "٣", "observedValue"),
            ("observed_unit", "", "observedUnit"),
            ("observed_unit", None, "observedUnit"),
            ("observed_value", None, "observedValue"),
            ("environment", "", "environment"),
            ("environment", "x" * 2001, "environment"),
        ],
    )
    def test_what_is_not_accepted_is_named(self, field: str, value: Any, path: str) -> None:
        assert problem(msgspec.structs.replace(ATTEST, **{field: value})) == (InvalidInput, path)

    def test_bounds_are_within(self) -> None:
        for note in ("x", "x" * 2000, "two\nlines\tand a tab"):
            assert msgspec.structs.replace(ATTEST, note=note).decide(world(*GIVEN), LOCAL).facts

    def test_a_value_is_kept_exactly_in_its_one_spelling(self) -> None:
        [fact] = msgspec.structs.replace(ATTEST, observed_value="8.20e3").decide(world(*GIVEN), LOCAL).facts
        assert isinstance(fact, AttestationFiled)
        assert fact.observed_value == "8200"

    def test_moderators_hide_one_once(self) -> None:
        hide: HideAttestation = example(HideAttestation)
        given = world(*GIVEN)
        [fact] = hide.decide(given, Principal("warden", scopes=frozenset({Scope.MODERATE}))).facts
        assert isinstance(fact, AttestationHidden)
        given.apply([fact], "warden")
        assert hide.decide(given, LOCAL).facts == ()


class TestIssues:
    def test_anyone_may_report_one(self) -> None:
        [fact] = example(ReportIssue).decide(world(*GIVEN), Principal("anonymous")).facts
        assert isinstance(fact, IssueReported)

    def test_a_closed_one_stays_closed(self) -> None:
        close: CloseIssue = example(CloseIssue)
        given = world(*GIVEN)
        [fact] = close.decide(given, LOCAL).facts
        assert isinstance(fact, IssueClosed)
        given.apply([fact], "local")
        assert problem(close, given) == (Conflict, "issue")


class TestRunners:
    APPROVE: ApproveRunner = example(ApproveRunner)

    @pytest.mark.parametrize(
        ("field", "value", "path"),
        [
            ("runner", "a/b", "runner"),
            ("runner", "", "runner"),
            ("operator", "", "operator"),
            ("host", "a\nb", "host"),
            ("hardware", "", "hardware"),
            ("public_key", "AAAA", "publicKey"),
            ("public_key", "not base64!", "publicKey"),
        ],
    )
    def test_what_is_not_accepted_is_named(self, field: str, value: str, path: str) -> None:
        assert problem(msgspec.structs.replace(self.APPROVE, **{field: value})) == (InvalidInput, path)

    def test_administrators_approve_and_suspend_and_nobody_else(self) -> None:
        for command in (self.APPROVE, example(SuspendRunner)):
            others = frozenset(Scope) - {Scope.ADMIN}
            assert problem(command, principal=Principal("x", scopes=others))[0] is Forbidden
            assert command.decide(world(*GIVEN), Principal("root", scopes=frozenset({Scope.ADMIN}))).facts

    def test_approved_again_it_is_as_it_was_and_never_another(self) -> None:
        given = world(*GIVEN)
        given.apply(self.APPROVE.decide(given, LOCAL).facts, "local")
        assert self.APPROVE.decide(given, LOCAL).facts == ()
        assert problem(msgspec.structs.replace(self.APPROVE, host="elsewhere"), given) == (Conflict, "runner")

    def test_suspended_it_never_comes_back(self) -> None:
        given = world(*GIVEN)
        given.apply(self.APPROVE.decide(given, LOCAL).facts, "local")
        given.apply([RunnerSuspended(runner=self.APPROVE.runner, reason="x")], "local")
        assert problem(self.APPROVE, given) == (Conflict, "runner")
        assert SuspendRunner(runner=self.APPROVE.runner, reason="again").decide(given, LOCAL).facts == ()


class TestErasure:
    ERASE: EraseEvent = example(EraseEvent)

    def test_an_administrator_erases_an_event_once(self) -> None:
        given = world(LogOpened(log_id="l", origin="o"))
        [fact] = self.ERASE.decide(given, LOCAL).facts
        assert isinstance(fact, EventErased)
        given.apply([fact], "local")
        assert self.ERASE.decide(given, LOCAL).facts == ()
        assert problem(self.ERASE, principal=Principal("x", scopes=frozenset({Scope.MODERATE})))[0] is Forbidden

    def test_the_logs_own_events_stay(self) -> None:
        assert problem(msgspec.structs.replace(self.ERASE, stream="log")) == (InvalidInput, "position")


@given(st.text(max_size=40))
def test_whatever_is_written_the_checks_answer(text: str) -> None:
    """None of them raises, and what they let through is text that the log can hold."""
    for check in (words.prose, words.line, words.name, words.https_url, words.positive_number, words.public_key):
        found = list(check(text, "field"))
        assert all(one.path == "field" and one.remedy for one in found)
        assert all(one.code in ErrorCode for one in found)
