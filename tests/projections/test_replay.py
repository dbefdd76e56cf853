"""The views are a function of the log: not of the batches in which it was read, nor of who read it when."""

import asyncio
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import facts
from domain.bundles import bundle_of
from domain.commands import (
    AbandonRerun,
    ApproveRunner,
    AttestRun,
    CloseIssue,
    Command,
    EraseEvent,
    HideAttestation,
    Ingest,
    OpenLog,
    RecordImport,
    RecordRerun,
    RegisterSource,
    ReportIssue,
    RequestRerun,
    ResolveDispute,
    RetractRun,
    ReviseMetadata,
    StartRerun,
    SupersedeRun,
    SuspendRunner,
)
from domain.events import Committed
from domain.principals import LOCAL
from projections import saves
from projections.digests import FULL_TEXT, tables_of, view_digests
from projections.model import AS_OF
from projections.registry import DERIVED, READ_MODELS, SHOWN
from projections.views import apply, open_writer
from service.app import Index, open_index
from service.settings import Settings
from tests.examples import (
    ENVIRONMENT,
    FACTS,
    FINCH,
    FOLLOWING,
    OPERATION,
    PROJECT,
    PROTOCOL,
    PUBLIC_KEY,
    SIGNATURE,
    START,
    WORKLOAD,
    Clock,
    Ids,
    bundle,
    fits,
    implementation,
    ingest,
    manifest,
    recorded,
    run,
)


def single(one: Any, *aliases: str) -> Ingest:
    """One manifest by itself, with other names for it."""
    record: Any = {"aliases": list(aliases)} if aliases else None
    return Ingest(bundle=bundle_of(one, record=record))


def imported(number: int) -> RecordImport:
    return RecordImport(
        slug="tern-board",
        file_digest=f"sha256:{number:064}",
        importer="catalog",
        importer_version="1",
        counts={"new": number},
    )


RENAMED = manifest("OperationSpec", OPERATION.spec, name="another-name", title="002_another")
ARTIFACT = facts.ArtifactRecorded(digest=f"sha256:{'2' * 64}", kind="log")
OTHER_CARD = manifest(
    "ExecutionEnvironment",
    {"hardware": {"vendor": "nvidia", "product": "NVIDIA B200", "architecture": "sm_103"}, "software": {}},
)
ENDINGS = (SuspendRunner, SupersedeRun, RetractRun, EraseEvent)
POOL: tuple[Command, ...] = (
    *(single(one) for one in (PROJECT, OPERATION, WORKLOAD, PROTOCOL, ENVIRONMENT, OTHER_CARD, RENAMED)),
    *(single(implementation(by)) for by in ("heron", "stork")),
    Ingest(bundle=bundle_of(PROJECT, implementation("heron"))),
    single(OPERATION, "rmsnorm_h4096", "norm"),
    single(implementation("stork"), "01a00328-723d-752f-b21f-bccbae31e07b"),
    *(single(run(value, by=by)) for by in ("heron", "stork", "crane") for value in (100, 100, 90, None)),
    single(run(80, sourceNative={"source": "tern-board"}), "run-alias"),
    single(run(70, status="timeout")),
    single(run(60, environmentDigest=OTHER_CARD.digest)),
    ingest(95, by="crane"),
    ingest(95, by="heron", sourceNative={"source": "tern-board", "externalId": "7"}),
    ingest(96, by="stork", sourceNative={"source": "tern-board", "externalId": "7"}),
    Ingest(bundle=msgspec.structs.replace(bundle(50, by="ibis"), artifacts=(ARTIFACT,), producer="ibis")),
    RegisterSource(slug="tern-board", name="Tern Board", kind="leaderboard", policy=b'{"license":"CC-BY-4.0"}'),
    RegisterSource(slug="tern-board", name="Tern Board", kind="leaderboard", policy=b'{"license":"CC0-1.0"}'),
    imported(1),
    imported(2),
    OpenLog(log_id="ignored", origin="ignored", policies=()),
    ingest(),
    ingest(8200),
    ApproveRunner(
        runner="finch-b200", operator="finch", host="finch-01", hardware="NVIDIA B200", public_key=PUBLIC_KEY
    ),
    *(RequestRerun(rerun=rerun, run=run().digest) for rerun in ("rerun-7", "rerun-9")),
    *(command for command in FOLLOWING if not isinstance(command, ENDINGS)),
    StartRerun(rerun="rerun-9", runner="finch-b200", now=START, lease_s=1),
    RecordRerun(rerun="rerun-9", runner="finch-b200", manifest=run(9900), signature=SIGNATURE, verify=fits),
    ResolveDispute(
        run=run().digest, dispute="rerun-9", outcome=facts.DisputeOutcome.UPHELD, reason="measured by hand as well"
    ),
    StartRerun(rerun="rerun-8", runner="finch-b200", now=START, lease_s=1),
    AbandonRerun(rerun="rerun-8", runner="finch-b200", reason="the machine is needed"),
    AttestRun(
        attestation="attestation-7",
        run=run().digest,
        type=facts.AttestationType.REPRODUCED,
        note="The same voice once more.",
        salt="s",
    ),
    ReviseMetadata(
        manifest=manifest("OperationSpec", OPERATION.spec, name="renamed", title="003_renamed"), reason="name", salt="s"
    ),
    ReviseMetadata(
        manifest=manifest("ImplementationRevision", implementation().spec, name="renamed"), reason="name", salt="s"
    ),
    ReportIssue(
        issue="issue-7", run=run().digest, category=facts.IssueCategory.OTHER, text="The page has no title.", salt="s"
    ),
    HideAttestation(attestation="attestation-8", reason="an advertisement"),
    CloseIssue(issue="issue-7", outcome=facts.IssueOutcome.DISPUTED, note="It is looked into."),
    *(command for command in FOLLOWING if isinstance(command, ENDINGS)),
)


def adopt_again(index: Index) -> None:
    """Adopt the policies that hold already: no answer may change, whatever is derived anew."""
    version = len(index.log.load(["log"])["log"])
    adopted = [facts.PolicyAdopted(name=name, version=f"{name}-v1") for name in ("ranking", "evidence")]
    events = recorded(*adopted, request=f"adopted-{version}")
    moved = [msgspec.structs.replace(one, originator_version=one.originator_version + version) for one in events]
    index.log.append(moved)


Batches = Sequence[Sequence[int]]
ADOPT = len(POOL)
batches = st.lists(st.lists(st.integers(0, ADOPT), min_size=1, max_size=5), min_size=1, max_size=12)


def carry_out(index: Index, places: Sequence[int]) -> None:
    """Append what follows from these commands of the pool, as one save for those of one principal."""
    commands = [POOL[place] for place in places if place != ADOPT]
    # Its runner counts only where somebody else sent the run in.
    for principal, part in groupby(commands, lambda one: FINCH if hasattr(one, "runner") else LOCAL):
        index.ledger.record(list(part), principal)
    if ADOPT in places:
        adopt_again(index)


def logged(drawn: Batches) -> list[Committed]:
    """The log after each batch of the drawn commands was handled as one save."""

    async def write() -> list[Committed]:
        with TemporaryDirectory() as folder:
            settings = Settings(data_dir=Path(folder))
            async with open_index(settings, now=Clock(), new_id=Ids(), follow=False) as index:
                for places in drawn:
                    carry_out(index, places)
                return index.log.read(0, 10_000)

    return asyncio.run(write())


EVERYTHING: Batches = [[place] for place in range(ADOPT + 1)]


def save_ends(log: Sequence[Committed]) -> list[int]:
    return [number for number, one in enumerate(log, 1) if one.recorded.cause.ends_save]


def replayed(db: sqlite3.Connection, log: Sequence[Committed], cuts: Iterable[int]) -> dict[str, str]:
    """The digests of the views after the log was applied in parts that end at these positions."""
    done = 0
    for cut in cuts:
        head = apply(db, saves.head(db), log[done:cut])
        assert head.position == cut
        done = cut
    return view_digests(db)


def test_the_commands_bring_about_every_kind_of_fact() -> None:
    """So that no handler of a read model goes without a replay."""
    log = logged(EVERYTHING)

    assert {type(one.recorded.fact) for one in log} == {facts.Erased, *(type(fact) for fact in FACTS)}
    assert set(SHOWN.handlers) <= {type(one.recorded.fact) for one in log}


@settings(max_examples=25, deadline=None)
@given(batches, st.data())
def test_any_batching_of_the_same_log_gives_equal_views(drawn: Batches, data: st.DataObject) -> None:
    log = logged(drawn)
    ends = save_ends(log)
    cuts = sorted({*data.draw(st.lists(st.sampled_from(ends))), ends[-1]})

    with TemporaryDirectory() as folder:
        with closing(open_writer(Path(folder) / "one-by-one.db")) as db:
            one_by_one = replayed(db, log, ends)
        with closing(open_writer(Path(folder) / "at-once.db")) as db:
            at_once = replayed(db, log, ends[-1:])
        with closing(open_writer(Path(folder) / "in-parts.db")) as db:
            in_parts = replayed(db, log, cuts)

    assert one_by_one == at_once == in_parts


@settings(max_examples=25, deadline=None)
@given(batches)
def test_what_was_shown_at_a_position_is_shown_at_it_for_ever(drawn: Batches) -> None:
    """After every save all rows that hold are noted; reading as of that save later finds the same rows."""
    log = logged(drawn)
    shown: dict[int, dict[str, list[Any]]] = {}

    with TemporaryDirectory() as folder, closing(open_writer(Path(folder) / "views.db")) as db:
        for cut in save_ends(log):
            done = saves.head(db)
            head = apply(db, done, log[done.position : cut])
            shown[head.position] = rows_that_hold(db, head.position)
        for position, then in shown.items():
            assert rows_that_hold(db, position) == then


def rows_that_hold(db: sqlite3.Connection, position: int) -> dict[str, list[Any]]:
    """All rows of all temporal tables as of a position, without the column that says when they ended."""
    held = {}
    for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall():
        if table.startswith(FULL_TEXT):
            continue
        columns = [name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]
        kept = ", ".join(name for name in columns if name != "to_position")
        since = "from_position" if "from_position" in columns else "position"
        condition = AS_OF if "to_position" in columns else f"{since} <= :position"
        query = f"SELECT {kept} FROM {table} WHERE {condition} ORDER BY {kept}"
        held[table] = db.execute(query, {"position": position}).fetchall()
    return held


@settings(max_examples=20, deadline=None)
@given(batches)
def test_at_each_position_a_key_has_at_most_one_row(drawn: Batches) -> None:
    """A row is closed where the next one begins: as of any position there is one answer, and no gap between two."""
    log = logged(drawn)
    with TemporaryDirectory() as folder, closing(open_writer(Path(folder) / "views.db")) as db:
        replayed(db, log, save_ends(log)[-1:])
        for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            info = db.execute("SELECT name FROM pragma_table_info(?) ORDER BY cid", (table,)).fetchall()
            columns = [name for (name,) in info]
            if "to_position" not in columns:
                continue
            ended: dict[str, int | None] = {}
            query = f"SELECT {columns[0]}, from_position, to_position FROM {table} ORDER BY 1, 2"
            for key, since, until in db.execute(query):
                assert ended.get(key, since) == since, (table, key)
                assert until is None or until > since
                ended[key] = until


def test_nothing_is_derived_from_what_only_finds(tmp_path: Path) -> None:
    """So that who verifies a log may leave it out."""
    log = logged(EVERYTHING)
    with closing(open_writer(tmp_path / "whole.db")) as db:
        apply(db, saves.NOTHING, log)
        whole = view_digests(db)
    with closing(open_writer(tmp_path / "derived.db")) as db:
        apply(db, saves.NOTHING, log, DERIVED)
        derived = view_digests(db)

    left_out = {name for name in whole if derived[name] != whole[name]}
    assert left_out == {"event_subjects", "events", "findable", "stream_records", "tree"}


def test_other_processes_do_not_make_views_apply_a_save_twice(tmp_path: Path) -> None:
    """Whoever comes second, from a head that is no longer the head, changes nothing and learns where the views are."""
    log = logged([[place] for place in range(ADOPT)])
    with closing(open_writer(tmp_path / "a.db")) as one, closing(open_writer(tmp_path / "a.db")) as other:
        ends = save_ends(log)
        before = saves.head(other)
        first = apply(one, before, log[: ends[3]])
        digests = view_digests(one)

        second = apply(other, before, log[: ends[5]])

        assert second == first
        assert view_digests(other) == digests


def test_half_a_batch_that_fails_leaves_the_views_as_they_were(tmp_path: Path) -> None:
    log = logged([[place] for place in range(ADOPT)])
    ends = save_ends(log)
    unknown = msgspec.structs.replace(log[ends[4] - 1].recorded, fact=facts.PolicyAdopted(name="ranking", version="v9"))
    with closing(open_writer(tmp_path / "views.db")) as db:
        head = apply(db, saves.head(db), log[: ends[2]])
        digests = view_digests(db)

        with pytest.raises(saves.UnknownPolicy, match="v9"):
            apply(db, head, [*log[ends[2] : ends[4] - 1], msgspec.structs.replace(log[ends[4] - 1], recorded=unknown)])

        assert saves.head(db) == head
        assert view_digests(db) == digests


def test_a_change_of_any_table_changes_its_digest_alone(tmp_path: Path) -> None:
    log = logged([[place] for place in range(ADOPT)])
    with closing(open_writer(tmp_path / "views.db")) as db:
        before = replayed(db, log, save_ends(log)[-1:])
        assert len(before) >= len(READ_MODELS)
        empty = {table for table in before if not db.execute(f"SELECT 1 FROM {table}").fetchone()}
        assert empty <= {"tree_nodes"}  # the log is too short for it
        for table in before.keys() - empty:
            db.execute("BEGIN")
            db.execute(
                f"DELETE FROM {table} WHERE {key_of(db, table)} = (SELECT max({key_of(db, table)}) FROM {table})"
            )
            changed = {name for name, digest in view_digests(db).items() if digest != before[name]}
            db.execute("ROLLBACK")
            assert changed == {table}


def test_no_column_holds_fractions(tmp_path: Path) -> None:
    """Exact numbers are text, so that a digest's canonical form is plain JSON."""
    with closing(open_writer(tmp_path / "views.db")) as db:
        query = "SELECT DISTINCT type FROM pragma_table_info(?)"
        types = {type_ for table in tables_of(db) for (type_,) in db.execute(query, (table,))}
    assert types == {"TEXT", "INTEGER", "BLOB"}


def key_of(db: sqlite3.Connection, table: str) -> str:
    """The first column of a table, which its key begins with."""
    (name,) = db.execute("SELECT name FROM pragma_table_info(?) WHERE cid = 0", (table,)).fetchone()
    return str(name)
