"""Sources and the opening of the log."""

import pytest

from domain.commands import OpenLog, RecordImport, RegisterSource
from domain.commands.sources import read_source
from domain.errors import ErrorCode, Forbidden, InvalidInput
from domain.facts import AliasClaimed, LogOpened, PolicyAdopted, SourceImported, SourcePolicyRevised, SourceRegistered
from domain.outcomes import Done
from domain.principals import LOCAL, Principal, Scope
from domain.streams import EMPTY, World
from tests.examples import FACTS

SOURCE = next(fact for fact in FACTS if isinstance(fact, SourceRegistered))
KNOWN = World({SOURCE.stream: EMPTY.then(SOURCE, "local")})


def test_a_new_source_is_registered_with_its_terms() -> None:
    command = RegisterSource(slug="tern-board", name="Tern Board", kind="leaderboard", policy=b'{"a":1}')
    [fact] = command.decide(World({}), LOCAL).facts
    assert isinstance(fact, SourceRegistered)
    assert bytes(fact.policy) == b'{"a":1}'


def test_a_known_source_keeps_its_name_and_gets_other_terms() -> None:
    command = RegisterSource(slug="tern-board", name="Other", kind="leaderboard", policy=b'{"a":2}')
    [fact] = command.decide(KNOWN, LOCAL).facts
    assert isinstance(fact, SourcePolicyRevised)


def test_who_only_reads_a_source_leaves_the_terms_of_a_known_one() -> None:
    command = RegisterSource(slug="tern-board", name="Tern Board", kind="leaderboard", policy=b'{"a":2}', revise=False)
    assert command.decide(KNOWN, LOCAL).facts == ()
    [fact] = command.decide(World({}), LOCAL).facts
    assert isinstance(fact, SourceRegistered)


@pytest.mark.parametrize("policy", [None, bytes(SOURCE.policy)])
def test_nothing_new_is_nothing(policy: bytes | None) -> None:
    command = RegisterSource(slug="tern-board", name="Tern Board", kind="leaderboard", policy=policy)
    assert command.decide(KNOWN, LOCAL).facts == ()


def test_a_source_may_have_ids_of_other_indexes() -> None:
    command = RegisterSource(slug="tern-board", name="Tern Board", kind="leaderboard", aliases=("0-1",))
    [fact] = command.decide(KNOWN, LOCAL).facts
    assert fact == AliasClaimed(alias="0-1", target="source/tern-board")


def test_every_reading_of_a_file_is_a_fact() -> None:
    command = RecordImport(
        slug="tern-board", file_digest=f"sha256:{'1' * 64}", importer="catalog", importer_version="1", counts={"new": 0}
    )
    [fact] = command.decide(KNOWN, LOCAL).facts
    assert isinstance(fact, SourceImported)


class TestWhoRegisters:
    COMMAND = RegisterSource(slug="tern-board", name="x", kind="leaderboard")

    def test_those_who_write_for_the_source(self) -> None:
        owner = Principal("heron", scopes=frozenset({Scope.INGEST}), sources=frozenset({"tern-board"}))
        assert self.COMMAND.decide(World({}), owner).facts

    def test_an_administrator_whatever_the_sources_of_the_key(self) -> None:
        assert self.COMMAND.decide(World({}), Principal("root", scopes=frozenset({Scope.ADMIN}))).facts

    def test_nobody_for_the_source_of_another(self) -> None:
        with pytest.raises(Forbidden) as caught:
            self.COMMAND.decide(World({}), Principal("heron", scopes=frozenset({Scope.INGEST})))
        assert caught.value.problems[0].code is ErrorCode.SOURCE_NOT_YOURS


class TestTheLog:
    OPEN = OpenLog(log_id="one", origin="example.org/log", policies=(("ranking", "ranking-v1"),))

    def test_it_is_opened_first_and_adopts_policies(self) -> None:
        opened, adopted = self.OPEN.decide(World({}), LOCAL).facts
        assert isinstance(opened, LogOpened)
        assert isinstance(adopted, PolicyAdopted)

    def test_it_is_opened_once(self) -> None:
        stream = EMPTY
        for fact in self.OPEN.decide(World({}), LOCAL).facts:
            stream = stream.then(fact, "local")
        again = OpenLog(log_id="two", origin="other", policies=(("ranking", "ranking-v2"), ("evidence", "evidence-v1")))
        decision = again.decide(World({"log": stream}), LOCAL)
        assert decision.facts == (PolicyAdopted(name="evidence", version="evidence-v1"),)
        assert decision.outcome == Done("one", created=False)


@pytest.mark.parametrize("slug", ["", "Tern", "-tern", "tern_board", "tern\n", "t" * 101, "\ud800"])
def test_a_slug_is_lower_case_letters_digits_and_hyphens(slug: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_source(slug=slug, name="Tern Board", kind="leaderboard", homepage=None, policy=None)
    assert [problem.path for problem in refused.value.problems] == ["slug"]


def test_each_field_of_a_source_that_is_wrong_is_told() -> None:
    with pytest.raises(InvalidInput) as refused:
        read_source(slug="TERN", name=" ", kind="k" * 51, homepage=None, policy="[]")
    problems = refused.value.problems
    assert [problem.path for problem in problems] == ["slug", "name", "kind", "policy"]
    assert all(problem.remedy for problem in problems)
