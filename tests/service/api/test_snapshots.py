"""One operation shows the index as of one position, and what was shown at a position is shown at it for ever."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.bundles import bundle_of
from domain.commands import Command, Ingest, RecordImport, RegisterSource
from domain.principals import LOCAL
from projections import saves
from projections.digests import view_digests
from projections.views import apply, open_writer
from service.api.execute import Api, execute
from service.api.schema import built_schema
from service.app import Index, open_index
from service.auth import AT_HOME
from service.settings import Settings
from tests.examples import (
    ENVIRONMENT,
    OPERATION,
    PROJECT,
    PROTOCOL,
    WORKLOAD,
    Clock,
    Ids,
    bundle,
    implementation,
    ingest,
)
from tests.service.api.asking import ask, run_of, texts_of

schema = built_schema()

EVERYTHING = """{
  stamp { position asOf }
  runs(first: 20) { totalCount position nodes {
    digest title aliases manifest stamp { position }
    ranking { rank tied groupSize ratioToLeader reasons leader { digest } }
    implementation { name project { name } } operation { name aliases } workload { label }
    source { name registered lastImport { position } } identityFacts { key value } unresolved
    evidence { level reasons { fact position } } duplicates { digest }
  } }
  rankings(first: 10) { totalCount nodes { size leader { digest } entries { nodes { rank run { digest } } } } }
  operations(first: 10) { totalCount nodes { name aliases } }
  sources { totalCount nodes { name policy { licence } lastImport { position } } }
  hardware(slug: "nvidia-b200") { architectures }
}"""

COMMANDS: tuple[Command, ...] = (
    *(
        Ingest(bundle=bundle_of(one))
        for one in (PROJECT, OPERATION, WORKLOAD, PROTOCOL, ENVIRONMENT, implementation(), run_of(), run_of(90))
    ),
    Ingest(bundle=bundle_of(PROJECT, implementation())),
    Ingest(bundle=bundle_of(OPERATION, record={"aliases": ["norm"]})),
    Ingest(bundle=bundle_of(run_of(), record={"aliases": ["the-run"]})),
    ingest(100, by="stork"),
    ingest(100, by="crane", sourceNative={"source": "tern-board", "externalId": "7"}),
    ingest(110, by="crane", sourceNative={"source": "tern-board", "externalId": "7"}),
    ingest(None, by="ibis"),
    RegisterSource(slug="tern-board", name="Tern Board", kind="board", policy=b'{"licence":"CC0-1.0"}'),
    RegisterSource(slug="tern-board", name="Tern Board", kind="board", policy=b'{"licence":"CC-BY-4.0"}'),
    RecordImport(slug="tern-board", file_digest=f"sha256:{'1' * 64}", importer="x", importer_version="1", counts={}),
)


async def shown(api: Api, at: int | None = None) -> dict[str, Any]:
    """What the query shows now, or shows now as of an earlier position."""
    context = api.context(AT_HOME)
    if at is not None:
        context.snapshot = await context.snapshot_at(at)
    result = await schema.execute(EVERYTHING, context_value=context)
    assert not result.errors, result.errors
    assert result.data
    return result.data


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(COMMANDS), min_size=2, max_size=10))
def test_each_moment_can_be_asked_for_later(commands: list[Command]) -> None:
    """The answer as of an earlier save is, word for word, the answer that was given then."""

    async def checked() -> None:
        with TemporaryDirectory() as folder:
            async with open_index(Settings(data_dir=Path(folder)), now=Clock(), new_id=Ids()) as index:
                api = Api(index)
                answers = [await shown(api)]
                for command in commands:
                    await index.ledger.handle([command], LOCAL)
                    answers.append(await shown(api))
                for answer in answers:
                    assert await shown(api, at=answer["stamp"]["position"]) == answer
                    assert await shown(Api(index), at=answer["stamp"]["position"]) == answer

    asyncio.run(checked())


async def test_a_position_inside_a_save_rounds_down_to_the_save_before(index: Index) -> None:
    api = Api(index)
    before = await shown(api)
    answer = await index.ledger.handle([ingest(1), ingest(2, by="stork")], LOCAL)

    for position in range(before["stamp"]["position"], answer.position):
        assert await shown(api, at=position) == before
    assert (await shown(api, at=answer.position))["runs"]["totalCount"] == 2


async def test_root_fields_share_a_snapshot_while_others_write(index: Index) -> None:
    """Each answer is of one position, however the writes fall between the reads of its fields."""
    query = """{
      a: runs(first: 1) { totalCount position nodes { stamp { position } } }
      rankings { nodes { size } }
      stamp { position }
      b: runs(first: 100) { totalCount position nodes { ranking { groupSize } } }
    }"""
    done = asyncio.Event()
    positions = set()

    async def write() -> None:
        for number in range(30):
            await index.ledger.handle([ingest(100 + number, by=f"n{number}")], LOCAL)
        done.set()

    async def read() -> None:
        while not done.is_set():
            data = await ask(index, query)
            total = data["a"]["totalCount"]
            assert {data["b"]["totalCount"], sum(group["size"] for group in data["rankings"]["nodes"])} == {total}
            assert {node["ranking"]["groupSize"] for node in data["b"]["nodes"]} <= {total}
            position = data["stamp"]["position"]
            assert {data["a"]["position"], data["b"]["position"]} == {position}
            assert {node["stamp"]["position"] for node in data["a"]["nodes"]} <= {position}
            positions.add(position)

    await asyncio.gather(write(), read(), read())
    assert len(positions) > 5, "the reads fell into few moments: they show nothing"


async def test_a_mutation_shows_what_it_wrote_and_so_does_the_stamp(index: Index) -> None:
    """Of two mutations in one operation each shows its own position, and the response that of the last."""
    query = """mutation($one: IngestRunInput!, $two: IngestRunInput!) {
      one: ingestRun(input: $one) { ... on IngestRunSuccess { position run { stamp { position } ranking { rank } } } }
      two: ingestRun(input: $two) { ... on IngestRunSuccess { position run { stamp { position } ranking { rank } } } }
    }"""
    inputs = {
        name: {**texts_of(bundle(value, by=name)), "idempotencyKey": name}
        for name, value in (("one", 100), ("two", 90))
    }

    response = await execute(index, query, inputs)

    one, two = response["data"]["one"], response["data"]["two"]
    assert one["run"] == {"stamp": {"position": one["position"]}, "ranking": {"rank": 1}}
    assert two["run"] == {"stamp": {"position": two["position"]}, "ranking": {"rank": 1}}
    assert one["position"] < two["position"] == response["extensions"]["stamp"]["position"]
    ranks = await ask(index, "{ runs { nodes { title ranking { rank } } } stamp { position } }")
    assert [node["ranking"]["rank"] for node in ranks["runs"]["nodes"]] == [1, 2]


async def test_stamps_tell_when_it_was_read_and_as_of_what(index: Index) -> None:
    """``asOf`` is the latest time that any event up to the position was recorded at; ``cursor`` holds the log's id."""
    position = (await index.ledger.handle([ingest()], LOCAL)).position

    stamps = [(await ask(index, "{ stamp { accessedAt accessedOn position asOf cursor } }"))["stamp"] for _ in range(2)]

    assert [stamp["position"] for stamp in stamps] == [position, position]
    assert stamps[0]["accessedAt"] < stamps[1]["accessedAt"]
    assert stamps[0]["accessedOn"] == stamps[0]["accessedAt"][:10] == "2026-09-01"
    assert stamps[0]["asOf"] == stamps[1]["asOf"] == "2026-09-01T12:00:01.000000Z"
    assert stamps[0]["cursor"] == stamps[1]["cursor"]


async def test_views_that_followed_live_equal_views_made_from_the_log(index: Index, tmp_path: Path) -> None:
    for command in COMMANDS:
        await index.ledger.handle([command], LOCAL)

    live = await index.views.read(view_digests)
    log = index.log.read(0, 10_000)
    db = open_writer(tmp_path / "replayed.db")
    apply(db, saves.NOTHING, log)
    replayed = view_digests(db)
    db.close()

    assert replayed == live
