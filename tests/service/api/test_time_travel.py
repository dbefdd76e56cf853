"""What is shown as of a position is what was shown there: of every root field, and of all rows behind them.

One set of views is built along the log, save by save; another has seen the whole log. Wherever the first pauses, the
second, asked as of that position, must answer the same.
"""

import asyncio
import json
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from random import Random

import pytest

from domain.bundles import Bundle, bundle_of
from domain.commands import Command, Ingest, OpenDispute, ResolveDispute, RetractRun, SupersedeRun
from domain.facts import DisputeOutcome
from domain.manifests import Manifest, stored_manifest
from domain.principals import LOCAL
from projections.digests import view_digests
from projections.model import AS_OF
from service.app import Index, open_index
from service.importing.jobs import import_into
from service.ledger import Refusal
from service.settings import Settings
from tests.examples import FACTS, Clock, Ids, manifest
from tests.projections.test_replay import ADOPT, carry_out, save_ends
from tests.service.api.walking import Asking, known_ids, root_fields, unpinned, walk


async def compare_along(index: Index, folder: Path, pauses: Sequence[int], fields: Sequence[str]) -> None:
    """Pause at each of these positions and ask for all of these fields there, and as of there."""
    later = Asking(index)
    async with walk(index, folder) as way:
        for position in pauses:
            then = Asking(await way.on_to(position))
            for asked in fields:
                shown = await later.at(position, asked)
                assert shown == await then.at(position, asked), (position, asked)
                assert unpinned(shown, position) == await then.now(asked), (position, asked)


@pytest.mark.parametrize("shuffled", [False, True])
def test_every_root_field_shows_as_of_a_position_what_it_showed_there(shuffled: bool, tmp_path: Path) -> None:
    """All commands that there are, in their own order they bring about every fact, in saves of some size."""
    some = Random(1)
    order = list(range(ADOPT + 1))
    if shuffled:
        some.shuffle(order)
    walked = tmp_path / "walked"
    walked.mkdir()

    async def checked() -> None:
        async with open_index(Settings(data_dir=tmp_path), now=Clock(), new_id=Ids()) as index:
            while order:
                size = some.randint(1, 5)
                carry_out(index, order[:size])
                del order[:size]
            await index.follower.catch_up()
            log = index.log.read(0, 10_000)
            assert shuffled or {type(one.recorded.fact) for one in log} >= {type(fact) for fact in FACTS}
            pauses = save_ends(log)
            fields = list(root_fields(known_ids(index)))
            await compare_along(index, walked, pauses, fields)

    asyncio.run(checked())


PAUSES = 200
GROUPS = """rankings(first: 5) { totalCount nodes { id size profile leader { id }
  entries(first: 20) { nodes { rank tied value ratioToLeader run { id status evidence { level contested } } } } } }"""
RUNS = """{ totalCount nodes { id status position title aliases unresolved comparisonKey observedAt
  ranking { rank tied groupSize ratioToLeader eligible reasons leader { id } }
  evidence { level contested missing reasons { fact position } } implementation { id name } operation { id aliases }
  source { id name policy { licence } lastImport { position } } duplicates { id } } }"""


def test_the_real_catalog_and_a_made_up_year_show_at_200_positions_what_they_showed_there(
    shared: Path, tmp_path: Path
) -> None:
    """Of the catalog and what comes after it: ranks, levels, status and eligibility of every run at each position, and
    what the API makes of them.
    """
    some = Random(4)
    walked = tmp_path / "walked"
    walked.mkdir()

    async def checked() -> None:
        async with open_index(Settings(data_dir=tmp_path), now=Clock(), new_id=Ids(), follow=False) as index:
            file = shared / "data" / "catalog" / "catalog-2026-08-16.jsonl.zst"
            assert (await import_into(index, [file], batch=200)).refused == []
            await index.follower.catch_up()
            after_import = index.follower.head.position
            live_through(index, some)
            await index.follower.catch_up()
            ends = save_ends(index.log.read(0, 10**6))
            pauses = sorted({ends[-1], *some.sample(ends[:-1], PAUSES - 1)})
            assert len(pauses) == PAUSES
            assert len([position for position in pauses if position > after_import]) > PAUSES / 4
            await pause_along(index, walked, pauses, some)

    asyncio.run(checked())


async def pause_along(index: Index, folder: Path, pauses: Sequence[int], some: Random) -> None:
    """Pause at each of these positions, and hold rows and answers against those of the views that have seen all."""
    later, runs = Asking(index), known_ids(index)["Run"]
    async with walk(index, folder) as way:
        for number, position in enumerate(pauses):
            past = await way.on_to(position)
            for table in ("runs", "rankings", "sources", "policies"):
                assert columns_of(index, table, position) == columns_of(past, table, position), (position, table)
            then, listed = Asking(past), json.dumps(some.sample(runs, 20))
            sample = f"nodes(ids: {listed}) {{ ... on Run {{ id {RANKED} }} }}"
            for asked in (sample, *(() if number % 5 else (GROUPS, f"runs(first: 10) {RUNS}"))):
                shown = unpinned(await later.at(position, asked), position)
                assert shown == await then.now(asked), (position, asked)
        assert await way.views.read(view_digests) == await index.views.read(view_digests)


RANKED = "ranking { rank tied groupSize ratioToLeader reasons } evidence { level contested } status"


def columns_of(index: Index, table: str, position: int) -> list[tuple[object, ...]]:
    """What rows of a table hold at a position, without their documents."""
    db = index.views._peeker
    columns = [name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    kept = ", ".join(name for name in columns if name not in ("doc", "to_position"))
    return db.execute(
        f"SELECT {kept} FROM {table} WHERE {AS_OF} ORDER BY {columns[0]}", {"position": position}
    ).fetchall()


def live_through(index: Index, some: Random) -> None:
    """A made-up year after the catalog: runs measured anew, late and early; runs corrected, withdrawn and disputed, and
    disputes that end; operations renamed; policies adopted again; and every command that the replay of the log knows.
    """
    texts = index.views.peek(
        lambda db: db.execute("SELECT digest, manifest FROM manifests WHERE kind = 'BenchmarkRun' ORDER BY digest")
    )
    known = [stored_manifest(text.encode(), digest) for digest, text in some.sample(texts.fetchall(), 300)]
    retracted, superseded, disputed = known[:30], known[30:60], known[60:90]
    operations = some.sample(known_ids(index)["Operation"], 10)
    spring: list[Sequence[Command]] = [
        *([Ingest(bundle=bundle_of(measured_anew(one, some)))] for one in known),
        *([RetractRun(run=one.digest, reason="timed the wrong stream")] for one in retracted),
        *(superseding(one, measured_anew(one, some)) for one in superseded),
        *([OpenDispute(dispute=one.digest, run=one.digest, blocking=True, reason="?")] for one in disputed),
        *([Ingest(bundle=Bundle(aliases=((f"renamed-{digest[7:15]}", digest),)))] for digest in operations),
    ]
    autumn: list[Sequence[Command]] = [
        *([Ingest(bundle=bundle_of(measured_anew(one, some)))] for one in known[:100]),
        *(
            [ResolveDispute(run=one.digest, dispute=one.digest, outcome=some.choice(OUTCOMES), reason="looked into")]
            for one in disputed[:20]
        ),
    ]
    for season in (spring, autumn):
        some.shuffle(season)
        for commands in season:
            results, _ = index.ledger.record(commands, LOCAL)
            assert not [one for one in results if isinstance(one, Refusal)], results
    for place in range(ADOPT + 1):
        carry_out(index, [place])


OUTCOMES = (DisputeOutcome.DISMISSED, DisputeOutcome.UPHELD)


def superseding(run: Manifest, successor: Manifest) -> list[Command]:
    """What puts another run in the place of one."""
    return [
        Ingest(bundle=bundle_of(successor)),
        SupersedeRun(run=run.digest, successor=successor.digest, reason="measured again"),
    ]


def measured_anew(run: Manifest, some: Random) -> Manifest:
    """The same thing measured again: at another time, with another value or none, now and then of what is unknown."""
    spec = deepcopy(run.spec)
    spec["observedAt"] = f"2026-{some.randint(1, 12):02}-{some.randint(1, 28):02}T12:00:00Z"
    factor = some.choice((0.5, 1, 2))
    for measurement in spec.get("measurements", ()):
        measurement["value"] *= factor
    if some.random() < 0.1:
        spec["status"] = "timeout"
    if some.random() < 0.1:
        spec["workloadDigest"] = f"sha256:{some.getrandbits(256):064x}"
    return manifest("BenchmarkRun", spec)
