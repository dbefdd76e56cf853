"""Events: every type has an example, a canonical stored form, and a way back."""

import json
from typing import Any

import msgspec
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from domain.commands import COMMANDS, ApproveRunner, EraseEvent, OpenLog, ReportIssue
from domain.errors import Conflict, ErrorCode, Forbidden, NotFound
from domain.events import (
    Cause,
    Committed,
    Recorded,
    UnknownEventType,
    canonical_event,
    decode_state,
    encode_state,
    erased,
    event_digest,
)
from domain.facts import EVENTS, AliasClaimed, Fact, free_json
from domain.identity import digest_of
from domain.principals import LOCAL, Principal
from domain.streams import World, evolve, fold
from tests import examples

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    # JCS has no lone surrogates
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)


def test_every_event_type_and_every_command_has_an_example() -> None:
    assert {type(fact).__name__ for fact in examples.FACTS} == set(EVENTS)
    assert {type(command) for command in (*examples.COMMANDS, *examples.FOLLOWING)} == set(COMMANDS)


@pytest.mark.parametrize("fact", examples.FACTS, ids=lambda fact: type(fact).__name__)
class TestEveryEvent:
    def test_its_stored_form_is_canonical_json(self, fact: Fact) -> None:
        state = encode_state(examples.recorded(fact)[0])
        assert state == rfc8785.dumps(json.loads(state))

    def test_it_is_read_back_as_it_was(self, fact: Fact) -> None:
        [recorded] = examples.recorded(fact)
        again = decode_state(recorded.originator_id, 1, type(fact).__name__, encode_state(recorded))
        assert _plain(again) == _plain(recorded)

    def test_its_canonical_form_has_every_field_but_the_position(self, fact: Fact) -> None:
        event = examples.event(fact, position=7)
        text = canonical_event(event)
        assert text == rfc8785.dumps(json.loads(text))
        assert json.loads(text).keys() == {"actor", "cause", "data", "recordedAt", "stream", "type", "version"}
        assert text == canonical_event(msgspec.structs.replace(event, position=8))

    def test_history_is_never_refused(self, fact: Fact) -> None:
        """``evolve`` takes every fact in every state, even one that ``decide`` would not let happen today."""
        for state in (None, *(evolve(None, other, "local") for other in examples.FACTS)):
            after = evolve(state, fact, "local")
            assert after is None or type(after).__name__.endswith("State")


@given(json_values)
def test_free_json_inside_a_fact_stays_canonical(value: Any) -> None:
    fact = AliasClaimed(alias="a", target="b")
    state = encode_state(Recorded("alias/a", 1, "2026-09-01T12:00:00.000000Z", "é\u2028\x7f", Cause("r", 1, 1), fact))
    assert state == rfc8785.dumps(json.loads(state))
    assert bytes(free_json(value)) == rfc8785.dumps(value)


def test_a_type_of_a_newer_release_is_named_not_guessed() -> None:
    with pytest.raises(UnknownEventType, match="RunTeleported"):
        decode_state("run/x", 1, "RunTeleported", b"{}")


GIVEN = (
    *((command, World({}), LOCAL) for command in examples.COMMANDS),
    *((command, examples.world(*examples.GIVEN), examples.FINCH) for command in examples.FOLLOWING),
)
MAY_COME_AGAIN = {"SourceImported", "RerunStarted"}
"""Reading a file and renewing a lease are facts of their own each time."""


@pytest.mark.parametrize(("command", "world", "principal"), GIVEN, ids=lambda given: type(given).__name__)
class TestEveryCommand:
    def test_its_facts_are_of_streams_that_it_has_read(self, command: Any, world: World, principal: Any) -> None:
        """Else their versions would not be known, and two writers could not tell that they met."""
        decision = command.decide(world, principal)
        assert decision.facts
        assert {fact.stream for fact in decision.facts} <= command.reads() | command.reads_next(world)

    def test_done_again_it_adds_nothing_new(self, command: Any, world: World, principal: Any) -> None:
        """The same command once more is answered or refused as done already; it never says the same thing twice."""
        after = World(world.streams)
        after.apply(command.decide(world, principal).facts, principal.id)
        try:
            again = command.decide(after, principal).facts
        except Conflict:
            return
        assert [type(fact).__name__ for fact in again if type(fact).__name__ not in MAY_COME_AGAIN] == []

    def test_nobody_without_scopes_may_but_report_an_issue_or_open_the_log(
        self, command: Any, world: World, principal: Any
    ) -> None:
        if isinstance(command, OpenLog | ReportIssue):
            return
        with pytest.raises(Forbidden):
            command.decide(world, Principal(principal.id))

    def test_what_it_is_about_must_be_there(self, command: Any, world: World, principal: Any) -> None:
        if command in examples.COMMANDS or isinstance(command, ApproveRunner | EraseEvent):
            return
        with pytest.raises(NotFound):
            command.decide(World({}), principal)


def test_what_is_left_of_an_erased_event_keeps_its_place_and_its_digest() -> None:
    event = examples.event(examples.FACTS[-2], position=7)

    remains = erased(event)
    state = encode_state(remains)
    again = decode_state(remains.originator_id, 1, event.type, state)

    assert again == remains
    assert "data" not in json.loads(state)
    assert json.loads(state)["erased"] == digest_of(canonical_event(event)) == event_digest(event)
    shown = Committed(1, again).at(7)
    assert (shown.type, event_digest(shown)) == (event.type, event_digest(event))
    assert encode_state(erased(shown)) == state


def test_a_stream_whose_first_fact_is_erased_cannot_begin_again() -> None:
    [remains] = [erased(examples.event(fact)) for fact in examples.FACTS if type(fact).__name__ == "RunIngested"]
    world = World({remains.originator_id: fold([remains])})

    with pytest.raises(NotFound) as caught:
        examples.ingest().decide(world, LOCAL)

    assert caught.value.problems[0].code is ErrorCode.GONE


def _plain(recorded: Recorded) -> Any:
    return json.loads(encode_state(recorded)), recorded.originator_id, recorded.originator_version
