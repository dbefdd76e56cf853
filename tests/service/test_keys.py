"""Keys: shown once, hashed at rest, refused with a reason, revoked from any process; daily uses that name nobody."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cyclopts import App

from domain.errors import InvalidInput, KernelIndexError, NotFound, RateLimited
from domain.events import Cause, Recorded
from domain.facts import SourceRegistered
from domain.principals import Principal, Scope
from service.cli import keys as command_line
from service.event_log import EventLog
from service.keys import ATTESTATIONS, ISSUES, DailyLimits, Denial, Key, KeyStore
from service.keys.database import KeyDatabase
from tests.examples import START
from tests.service.clocks import Hands

ROOT = Path(__file__).parents[2]


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[KeyDatabase]:
    opened = KeyDatabase(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def keys(database: KeyDatabase, clock: Hands) -> KeyStore:
    return KeyStore(database, now=clock)


def make(keys: KeyStore, **given: Any) -> tuple[Key, str]:
    return keys.create(**{"principal": "heron", "name": "Heron's CI", "scopes": [Scope.INGEST], **given})


class TestAKey:
    def test_is_taken_for_its_principal_with_its_scopes_and_sources(self, keys: KeyStore) -> None:
        key, text = make(keys, scopes=[Scope.RERUN, Scope.INGEST], sources=["tern-board", "heron-lab", "tern-board"])
        assert keys.authenticate(text) == key
        assert key.holder == Principal(
            "heron", scopes=frozenset({Scope.INGEST, Scope.RERUN}), sources=frozenset({"heron-lab", "tern-board"})
        )

    def test_for_all_sources_differs_from_one_for_none(self, keys: KeyStore) -> None:
        assert make(keys, sources=None)[0].holder.sources is None
        assert make(keys)[0].holder.sources == frozenset()

    def test_text_holds_256_random_bits_and_is_safe_in_a_header_and_a_shell(self, keys: KeyStore) -> None:
        texts = {make(keys)[1] for _ in range(20)}
        assert len({text.rsplit("_", 1)[1] for text in texts}) == 20
        assert all(re.fullmatch(r"ki_[0-9a-f]{16}_[0-9a-f]{64}", text) for text in texts)

    def test_comes_from_the_entropy_that_is_passed_in(self, database: KeyDatabase, clock: Hands) -> None:
        _, text = make(KeyStore(database, now=clock, entropy=lambda size: bytes(range(size))))
        assert text == f"ki_{bytes(range(8)).hex()}_{bytes(range(32)).hex()}"

    def test_several_of_one_principal_are_one_voice(self, keys: KeyStore) -> None:
        one, other = make(keys)[0], make(keys, scopes=[Scope.MODERATE])[0]
        assert one.id != other.id
        assert one.holder.id == other.holder.id
        assert one.holder.scopes != other.holder.scopes


class TestAnotherText:
    def test_is_unknown(self, keys: KeyStore) -> None:
        _, text = make(keys)
        last = "0" if text[-1] != "0" else "1"
        for other in ("", "ki_", text[:-1], text + "0", text.upper(), " " + text, text + "\n", text[:-1] + last):
            assert keys.authenticate(other) is Denial.UNKNOWN

    def test_with_the_secret_of_another_key_is_unknown(self, keys: KeyStore) -> None:
        """The id is part of what is hashed: halves of two keys make none."""
        one, other = make(keys)[1], make(keys)[1]
        assert keys.authenticate(one[:20] + other[20:]) is Denial.UNKNOWN

    def test_with_only_the_id_of_a_revoked_key_does_not_learn_that(self, keys: KeyStore) -> None:
        key, text = make(keys)
        keys.revoke(key.id)
        assert keys.authenticate(f"ki_{key.id}_{'0' * 64}") is Denial.UNKNOWN
        assert keys.authenticate(text) is Denial.REVOKED


class TestTheEndOfAKey:
    def test_expiry_is_the_first_moment_at_which_it_is_refused(self, keys: KeyStore, clock: Hands) -> None:
        key, text = make(keys, expires_at=START + timedelta(days=90))
        clock.forward(days=90, microseconds=-1)
        assert keys.authenticate(text) == key
        clock.forward(microseconds=1)
        assert keys.authenticate(text) is Denial.EXPIRED
        assert keys.denial(key.id) is Denial.EXPIRED

    def test_one_without_expiry_stays(self, keys: KeyStore, clock: Hands) -> None:
        _, text = make(keys)
        clock.forward(days=36_500)
        assert isinstance(keys.authenticate(text), Key)

    def test_revoking_twice_keeps_the_first_time(self, keys: KeyStore, clock: Hands) -> None:
        key, _ = make(keys)
        first = keys.revoke(key.id)
        clock.forward(days=1)
        assert keys.revoke(key.id) == first
        assert first.revoked_at == "2026-09-01T12:00:00.000000Z"

    def test_a_key_that_was_found_somewhere_can_be_revoked_by_its_text(self, keys: KeyStore) -> None:
        key, text = make(keys)
        assert keys.revoke(text).id == key.id
        assert keys.denial(key.id) is Denial.REVOKED

    def test_the_others_of_its_principal_go_on(self, keys: KeyStore) -> None:
        one, other = make(keys), make(keys)
        keys.revoke(one[0].id)
        assert keys.authenticate(other[1]) == other[0]

    def test_an_unknown_id_is_an_error_that_repeats_no_secret(self, keys: KeyStore) -> None:
        with pytest.raises(NotFound) as raised:
            keys.revoke(f"ki_{'0' * 16}_{'5ec4e7' * 10}beef")
        assert "5ec4e7" not in str(raised.value)
        assert keys.denial("0" * 16) is Denial.UNKNOWN


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"principal": "Heron"}, "principal"),
        ({"principal": ""}, "principal"),
        ({"principal": "a" * 101}, "principal"),
        ({"principal": "local"}, "principal"),
        ({"principal": "anonymous"}, "principal"),
        ({"sources": ["tern board"]}, "source"),
        ({"name": ""}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"name": "a" * 201}, "name"),
        ({"scopes": []}, "scope"),
        ({"expires_at": START}, "expires"),
    ],
)
def test_what_can_be_no_key_is_refused_at_its_field(keys: KeyStore, given: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        make(keys, **given)
    assert [problem.path for problem in raised.value.problems] == [path]
    assert keys.listed() == []


class TestAtRest:
    def test_no_file_holds_the_key_or_its_secret(self, keys: KeyStore, tmp_path: Path) -> None:
        _, text = make(keys)
        secret = text.rsplit("_", 1)[1]
        held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert b"Heron's CI" in held
        assert secret.encode() not in held
        assert bytes.fromhex(secret) not in held

    def test_all_files_are_their_owners_only(self, keys: KeyStore, tmp_path: Path) -> None:
        """Among them SQLite's own, which hold what was written last."""
        keys.listed()
        make(keys)
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.glob("keys*")}
        assert modes == dict.fromkeys(("keys.db", "keys.db-wal", "keys.db-shm", "keys.secret"), 0o600)

    def test_the_secret_is_made_once(self, tmp_path: Path, clock: Hands) -> None:
        first = KeyDatabase(tmp_path)
        _, text = make(KeyStore(first, now=clock))
        first.close()
        again = KeyDatabase(tmp_path)
        assert isinstance(KeyStore(again, now=clock).authenticate(text), Key)
        again.close()
        assert len((tmp_path / "keys.secret").read_text()) == 64

    def test_one_that_is_given_makes_no_file(self, tmp_path: Path) -> None:
        KeyDatabase(tmp_path, "s" * 32).close()
        assert not (tmp_path / "keys.secret").exists()

    def test_another_secret_is_said_instead_of_every_key_being_unknown(self, tmp_path: Path) -> None:
        KeyDatabase(tmp_path, "s" * 32).close()
        with pytest.raises(InvalidInput, match="another secret"):
            KeyDatabase(tmp_path, "t" * 32)

    def test_many_that_open_a_new_folder_at_once_agree(self, tmp_path: Path, clock: Hands) -> None:
        texts: list[str] = []

        def open_and_make() -> None:
            database = KeyDatabase(tmp_path)
            texts.append(make(KeyStore(database, now=clock))[1])
            database.close()

        threads = [threading.Thread(target=open_and_make) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        database = KeyDatabase(tmp_path)
        keys = KeyStore(database, now=clock)
        assert len(texts) == len(keys.listed()) == 8
        assert all(isinstance(keys.authenticate(text), Key) for text in texts)
        database.close()


def kernelindex_keys(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = "from service.cli.keys import app; app()"
    environment = {**os.environ, "KERNELINDEX_DATA_DIR": str(folder)}
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=60)


def test_a_key_that_another_process_makes_and_revokes_is_minded_at_once(keys: KeyStore, tmp_path: Path) -> None:
    made = kernelindex_keys(tmp_path, "create", "--name", "x", "--scope", "ingest", "--expires", "never")
    text = made.stdout.strip()
    assert text not in made.stderr
    assert "shown once" in made.stderr
    key = keys.authenticate(text)
    assert isinstance(key, Key)
    kernelindex_keys(tmp_path, "revoke", key.id)
    assert keys.authenticate(text) is Denial.REVOKED


class TestTheCommandLine:
    @pytest.fixture
    def run(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> Callable[..., str]:
        monkeypatch.setenv("KERNELINDEX_DATA_DIR", str(tmp_path))
        app: App = command_line.app

        def run(*arguments: str) -> str:
            app(arguments, result_action="return_value")
            return capsys.readouterr().out

        return run

    def test_create_prints_the_key_alone_so_that_a_script_can_take_it(self, run: Callable[..., str]) -> None:
        out = run("create", "--name", "CI", "--scope", "ingest", "--principal", "heron")
        assert re.fullmatch(r"ki_[0-9a-f]{16}_[0-9a-f]{64}\n", out)

    def test_create_as_json_says_all_of_it(self, run: Callable[..., str]) -> None:
        given = ("--name", "CI", "--scope", "ingest", "--scope", "attest", "--source", "a", "--source", "b", "--json")
        made = json.loads(run("create", "--principal", "heron", "--expires", "2999-01-31", *given))
        assert made.pop("key").startswith(f"ki_{made['id']}_")
        assert {**made, "id": "", "createdAt": ""} == {
            "id": "",
            "principal": "heron",
            "name": "CI",
            "scopes": ["attest", "ingest"],
            "sources": ["a", "b"],
            "createdAt": "",
            "expiresAt": "2999-01-31T00:00:00.000000Z",
            "revokedAt": None,
            "state": "valid",
        }

    def test_a_principal_that_is_not_named_is_a_new_one(self, run: Callable[..., str]) -> None:
        given = ("create", "--name", "Ana", "--scope", "attest", "--json")
        one, other = (json.loads(run(*given))["principal"] for _ in range(2))
        assert one != other
        assert "ana" not in one

    def test_list_shows_each_without_its_secret(self, run: Callable[..., str]) -> None:
        secret = run("create", "--name", "Heron's CI", "--scope", "admin", "--all-sources").strip().rsplit("_", 1)[1]
        taken_back = json.loads(run("create", "--name", "Stork", "--scope", "ingest", "--json"))
        run("revoke", taken_back["id"])
        heading, first, second = run("list").splitlines()
        assert heading.split() == ["ID", "PRINCIPAL", "STATE", "EXPIRES", "SCOPES", "SOURCES", "NAME"]
        assert "valid" in first
        assert "  all  " in first
        assert first.endswith("Heron's CI")
        assert "revoked" in second
        assert "  own  " in second
        listed = run("list", "--json")
        assert [key["state"] for key in json.loads(listed)] == ["valid", "revoked"]
        assert secret not in first + listed

    def test_all_sources_and_some_contradict_each_other(self, run: Callable[..., str]) -> None:
        with pytest.raises(KernelIndexError, match="all sources"):
            run("create", "--name", "x", "--scope", "ingest", "--all-sources", "--source", "a")


@pytest.mark.parametrize(
    ("text", "span"),
    [("1h", timedelta(hours=1)), ("90d", timedelta(days=90)), ("52w", timedelta(weeks=52))],
)
def test_an_expiry_counts_from_now_in_whole_seconds(text: str, span: timedelta) -> None:
    assert command_line.expiry(text, START + timedelta(microseconds=7)) == START + span


@pytest.mark.parametrize(
    "text", ["", "0d", "90", "d", "-1d", "1.5d", "90 d", "2027-02-30", "99999w", "tomorrow", "9d\n"]
)
def test_no_other_expiry_is_guessed(text: str) -> None:
    with pytest.raises(InvalidInput):
        command_line.expiry(text, datetime.max.replace(tzinfo=START.tzinfo))


class TestDailyLimits:
    @pytest.fixture
    def daily(self, database: KeyDatabase, clock: Hands) -> DailyLimits:
        return DailyLimits(database, now=clock)

    def test_the_last_one_of_a_day_passes_and_the_next_does_not(self, daily: DailyLimits) -> None:
        for number in range(ATTESTATIONS.most):
            assert daily.left(ATTESTATIONS, "heron") == 20 - number
            daily.take(ATTESTATIONS, "heron", f"k{number}")
        with pytest.raises(RateLimited) as raised:
            daily.take(ATTESTATIONS, "heron", "one more")
        assert daily.left(ATTESTATIONS, "heron") == 0
        assert "2026-09-02T00:00:00Z, in 720 minutes" in raised.value.problems[0].remedy

    def test_the_next_utc_day_begins_anew(self, daily: DailyLimits, clock: Hands) -> None:
        for number in range(ISSUES.most):
            daily.take(ISSUES, "192.0.2.1", f"k{number}")
        clock.forward(hours=12, microseconds=-1)
        with pytest.raises(RateLimited):
            daily.take(ISSUES, "192.0.2.1", "late")
        clock.forward(microseconds=1)
        daily.take(ISSUES, "192.0.2.1", "early")
        assert daily.left(ISSUES, "192.0.2.1") == 4

    def test_voices_and_limits_are_counted_apart(self, daily: DailyLimits) -> None:
        daily.take(ISSUES, "heron", "k")
        assert daily.left(ISSUES, "stork") == 5
        assert daily.left(ATTESTATIONS, "heron") == 20

    def test_a_retry_under_the_same_idempotency_key_is_the_same_use(self, daily: DailyLimits) -> None:
        """Also when the limit is used up: the retry must get its first answer."""
        for number in range(ISSUES.most):
            assert daily.take(ISSUES, "heron", f"k{number}").fresh
        assert not daily.take(ISSUES, "heron", "k0").fresh
        assert daily.left(ISSUES, "heron") == 0

    def test_what_came_to_nothing_is_given_back(self, daily: DailyLimits) -> None:
        daily.give_back(daily.take(ISSUES, "heron", "k"))
        assert daily.left(ISSUES, "heron") == 5

    def test_a_second_request_under_the_key_can_not_give_back_what_the_first_used(self, daily: DailyLimits) -> None:
        """Else another body under a used key, which is a conflict, would undo the count of what was written."""
        daily.take(ISSUES, "heron", "k")
        daily.give_back(daily.take(ISSUES, "heron", "k"))
        assert daily.left(ISSUES, "heron") == 4

    def test_threads_together_get_no_more_than_the_limit(self, daily: DailyLimits) -> None:
        taken: list[bool] = []

        def take(number: int) -> None:
            try:
                taken.append(daily.take(ISSUES, "heron", f"k{number}").fresh)
            except RateLimited:
                taken.append(False)

        threads = [threading.Thread(target=take, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(taken) == [False] * 7 + [True] * 5

    def test_a_restart_forgets_nothing(self, daily: DailyLimits, tmp_path: Path, clock: Hands) -> None:
        daily.take(ISSUES, "heron", "k")
        again = KeyDatabase(tmp_path)
        assert DailyLimits(again, now=clock).left(ISSUES, "heron") == 4
        again.close()

    def test_no_address_is_written_and_days_that_are_over_go(
        self, daily: DailyLimits, tmp_path: Path, clock: Hands
    ) -> None:
        daily.take(ISSUES, "192.0.2.77", "first-key")
        clock.forward(days=1)
        daily.take(ISSUES, "192.0.2.77", "second-key")
        held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert b"192.0.2.77" not in held
        assert b"second-key" not in held
        db = sqlite3.connect(tmp_path / "keys.db")
        assert db.execute("SELECT day FROM uses").fetchall() == [("2026-09-02",)]
        db.close()

    def test_a_voice_has_another_hash_each_day(self, daily: DailyLimits, clock: Hands) -> None:
        first = daily.take(ISSUES, "192.0.2.77", "k")
        clock.forward(days=1)
        assert daily.take(ISSUES, "192.0.2.77", "k").voice != first.voice


class TestANameOfASource:
    """A run without sourceNative belongs to the source that is named as its principal."""

    def test_is_none_for_a_principal_that_may_not_write_for_it(self, keys: KeyStore) -> None:
        make(keys, sources=["tern-board"])
        for given in ({"principal": "tern-board"}, {"principal": "stork-board", "registered": {"stork-board"}}):
            with pytest.raises(InvalidInput, match="is the name of a source"):
                make(keys, **given)
        make(keys, principal="stork-board", registered={"stork-board"}, sources=["stork-board"])

    def test_is_none_where_another_principal_has_it(self, keys: KeyStore) -> None:
        make(keys, principal="tern")
        with pytest.raises(InvalidInput, match="tern is the name of another principal"):
            make(keys, sources=["tern"])
        make(keys, principal="tern", sources=["tern"])

    def test_is_known_to_the_command_line_from_the_log(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KERNELINDEX_DATA_DIR", str(tmp_path))
        log = EventLog(tmp_path / "log.db")
        fact = SourceRegistered(slug="tern-board", name="Tern Board", kind="leaderboard")
        log.append([Recorded(fact.stream, 1, "2026-08-01T00:00:00.000000Z", "local", Cause("r", 1, 1), fact)])
        log.close()
        for principal in ("tern-board", "sol-execbench"):
            with pytest.raises(InvalidInput, match="is the name of a source"):
                command_line.create(name="x", scope=[Scope.INGEST], principal=principal)
