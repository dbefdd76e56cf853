"""``at`` reads the index as of an earlier moment, and ids that are pinned to a position are read as of that."""

from base64 import urlsafe_b64encode
from datetime import datetime, timedelta
from typing import Any

import pytest

from domain.bundles import Bundle, bundle_of
from domain.commands import Ingest, RegisterSource
from domain.policies import ADOPTED_FIRST
from domain.principals import LOCAL
from service.api.execute import execute
from service.app import Index
from tests.examples import OPERATION, PROJECT, START, WORKLOAD, bundle, implementation, ingest
from tests.service.api.asking import ask, error_of, run_of
from tests.service.api.test_ids import ARTIFACT, GROUP, NODES

HERON, STORK = run_of(100), run_of(90, by="stork")
AT = "query($asOf: AsOf!) { at(asOf: $asOf) { stamp { position asOf } } stamp { position } }"
RANK = "{ position: stamp { position } ranking { rank groupSize leader { digest } } }"

OPENED = 1 + len(ADOPTED_FIRST)
"""Where the opening of the log ends."""


def in_text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"


@pytest.fixture
async def first(index: Index) -> int:
    """Where the first of two runs is the only one; then comes a faster one."""
    position = (await index.ledger.handle([Ingest(bundle=bundle(100))], LOCAL)).position
    await index.ledger.handle([Ingest(bundle=bundle(90, by="stork"))], LOCAL)
    return position


async def position_at(index: Index, **as_of: Any) -> int:
    return int((await ask(index, AT, asOf=as_of))["at"]["stamp"]["position"])


async def test_an_earlier_position_shows_what_was_known_there_beside_what_is_known_now(
    index: Index, first: int
) -> None:
    query = f"""query($asOf: AsOf!, $id: ID!, $key: Digest!) {{
      at(asOf: $asOf) {{ stamp {{ position }} run(id: $id) {RANK} ranking(comparisonKey: $key) {{ size }}
        runs {{ totalCount position nodes {{ digest }} }} }}
      run(id: $id) {RANK} runs {{ totalCount }}
    }}"""

    data = await ask(index, query, asOf={"position": first}, id=HERON.digest, key=GROUP)

    then, now = data["at"], data
    assert then["run"] == {
        "position": {"position": first},
        "ranking": {"rank": 1, "groupSize": 1, "leader": {"digest": HERON.digest}},
    }
    assert then["runs"] == {"totalCount": 1, "position": first, "nodes": [{"digest": HERON.digest}]}
    assert then["ranking"] == {"size": 1}
    assert now["run"]["ranking"] == {"rank": 2, "groupSize": 2, "leader": {"digest": STORK.digest}}
    assert now["runs"] == {"totalCount": 2}


async def test_several_moments_of_one_operation_are_kept_apart(index: Index, first: int) -> None:
    query = f"""query($one: AsOf!, $id: ID!) {{
      one: at(asOf: $one) {{ run(id: $id) {RANK} }} none: at(asOf: {{position: 3}}) {{ run(id: $id) {RANK} }}
      run(id: $id) {RANK} same: at(asOf: {{position: {first}}}) {{ run(id: $id) {RANK} }}
    }}"""

    data = await ask(index, query, one={"position": first}, id=HERON.digest)

    assert data["one"] == data["same"]
    assert data["one"]["run"]["ranking"]["groupSize"] == 1
    assert data["none"]["run"] is None
    assert data["run"]["ranking"]["groupSize"] == 2


class TestMoments:
    async def test_a_position_inside_a_save_means_the_end_of_the_one_before(self, index: Index, first: int) -> None:
        head = (await ask(index, "{ stamp { position } }"))["stamp"]["position"]

        for position in range(first, head):
            assert await position_at(index, position=position) == first
        assert await position_at(index, position=head) == head

    async def test_before_the_first_save_ended_nothing_is_shown(self, index: Index, first: int) -> None:
        query = "{ at(asOf: {position: 2}) { stamp { position } runs { totalCount } sources { totalCount } } }"

        data = await ask(index, query)

        assert data["at"] == {"stamp": {"position": 0}, "runs": {"totalCount": 0}, "sources": {"totalCount": 0}}
        assert await position_at(index, position=0) == 0
        assert await position_at(index, time=in_text(START - timedelta(days=1))) == 0

    async def test_a_time_means_the_largest_position_known_by_then(self, index: Index, first: int) -> None:
        """The log was opened at ``START``, the runs came a second later each."""
        head = (await ask(index, "{ stamp { position } }"))["stamp"]["position"]

        assert await position_at(index, time=in_text(START + timedelta(seconds=1))) == first
        assert await position_at(index, time=in_text(START + timedelta(seconds=1.999999))) == first
        assert await position_at(index, time="2026-09-01T12:00:01.999999999Z") == first
        assert await position_at(index, time="2026-09-01T12:00:00.999999999Z") == OPENED
        assert await position_at(index, time="2026-09-01T12:00Z") == OPENED
        assert await position_at(index, time=in_text(START + timedelta(seconds=2))) == head

    async def test_between_the_last_event_and_now_is_the_head(self, index: Index, first: int) -> None:
        data = await ask(index, "{ stamp { position accessedAt } }")

        assert await position_at(index, time=data["stamp"]["accessedAt"]) == data["stamp"]["position"]

    async def test_a_clock_that_ran_backwards_does_not_turn_time_around(self, index: Index, first: int) -> None:
        """What is recorded later was known later: its own time counts from where the log's time stood."""
        ledger = index.ledger
        ledger._now = lambda: START - timedelta(days=1)
        head = (await ledger.handle([ingest(80, by="crane")], LOCAL)).position

        assert await position_at(index, time=in_text(START - timedelta(hours=1))) == 0
        assert await position_at(index, time=in_text(START + timedelta(seconds=1))) == first
        assert await position_at(index, time=in_text(START + timedelta(seconds=2))) == head

    async def test_a_stamp_names_its_moment_in_all_three_ways(self, index: Index, first: int) -> None:
        stamps = "stamp { position asOf cursor }"
        data = await ask(index, f"query($asOf: AsOf!) {{ at(asOf: $asOf) {{ {stamps} }} }}", asOf={"position": first})
        stamp = data["at"]["stamp"]

        for as_of in ({"position": stamp["position"]}, {"time": stamp["asOf"]}, {"cursor": stamp["cursor"]}):
            again = await ask(index, f"query($asOf: AsOf!) {{ at(asOf: $asOf) {{ {stamps} }} }}", asOf=as_of)
            assert again["at"]["stamp"] == stamp, as_of

    @pytest.mark.parametrize(
        "as_of",
        [
            {},
            {"position": None},
            {"position": 1, "time": "2026-09-01T12:00:00Z"},
            {"position": 1, "cursor": None},
            {"position": -1},
            {"time": "yesterday"},
        ],
    )
    async def test_exactly_one_of_them_is_given_and_makes_sense(self, index: Index, as_of: dict[str, Any]) -> None:
        assert (await error_of(index, AT, asOf=as_of))["code"] in ("BAD_REQUEST", "INVALID_ARGUMENT")

    async def test_a_literal_with_two_or_none_of_them_is_refused_too(self, index: Index) -> None:
        for as_of in ("{}", '{position: 1, time: "2026-09-01T12:00:00Z"}', "{position: null}"):
            error = await error_of(index, f"{{ at(asOf: {as_of}) {{ stamp {{ position }} }} }}")
            assert error["code"] == "GRAPHQL_VALIDATION_FAILED", as_of


class TestTheFuture:
    @pytest.mark.parametrize("beyond", [1, 10, 2**53])
    async def test_a_position_that_the_log_has_not_reached(self, index: Index, first: int, beyond: int) -> None:
        head = (await ask(index, "{ stamp { position } }"))["stamp"]["position"]
        position = min(head + beyond, 2**53 - 1)

        response = await execute(index, AT, {"asOf": {"position": position}})

        assert response["data"] == {"at": None, "stamp": {"position": head}}, "what was asked beside it is answered"
        (error,) = response["errors"]
        assert (error["extensions"]["code"], error["extensions"]["path"]) == ("POSITION_IN_FUTURE", "asOf.position")

    async def test_an_instant_that_has_not_come(self, index: Index, first: int) -> None:
        now = datetime.fromisoformat((await ask(index, "{ stamp { accessedAt } }"))["stamp"]["accessedAt"])

        error = await error_of(index, AT, asOf={"time": in_text(now + timedelta(minutes=5))})

        assert (error["code"], error["path"]) == ("POSITION_IN_FUTURE", "asOf.time")

    async def test_a_place_in_this_log_that_it_has_not_reached(self, index: Index, first: int) -> None:
        error = await error_of(index, AT, asOf={"cursor": cursor_text('["id-1",1000]')})

        assert (error["code"], error["path"]) == ("POSITION_IN_FUTURE", "asOf.cursor")

    async def test_an_id_that_is_pinned_to_it(self, index: Index, first: int) -> None:
        query = "query($id: ID!) { run(id: $id) { id } }"

        error = await error_of(index, query, id=f"{HERON.digest}@1000")

        assert (error["code"], error["path"]) == ("POSITION_IN_FUTURE", "id")


def cursor_text(json: str) -> str:
    return urlsafe_b64encode(json.encode()).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "nonsense",
        "é",
        cursor_text('["another-log",3]'),
        cursor_text('["id-1",-3]'),
        cursor_text('["id-1",3.5]'),
        cursor_text('["id-1", 3]'),
        cursor_text('["id-1"]'),
        cursor_text('["id-1",3]') + "=",
    ],
)
async def test_a_cursor_that_is_malformed_or_of_another_log_is_an_error(index: Index, cursor: str) -> None:
    error = await error_of(index, AT, asOf={"cursor": cursor})

    assert (error["code"], error["path"]) == ("INVALID_CURSOR", "asOf.cursor")


class TestPinnedIds:
    """``<id>@<position>``, wherever an id may stand."""

    @pytest.fixture(autouse=True)
    async def _world(self, index: Index) -> None:
        commands = [
            Ingest(bundle=bundle()),
            Ingest(bundle=Bundle(artifacts=(ARTIFACT,))),
            Ingest(bundle=bundle_of(run_of(), record={"aliases": ["norm/run 1"]})),
            Ingest(bundle=bundle_of(OPERATION, record={"aliases": ["rmsnorm_h4096"]})),
            RegisterSource(slug="tern-board", name="Tern Board", kind="leaderboard", aliases=("old-source-id",)),
        ]
        self.then = (await index.ledger.handle(commands, LOCAL)).position
        self.now = (await index.ledger.handle([ingest(90, by="stork")], LOCAL)).position

    async def test_are_the_ids_of_all_nodes_under_at_and_of_none_outside(self, index: Index) -> None:
        query = """query($ids: [ID!]!, $at: Position!) {
          at(asOf: {position: $at}) { nodes(ids: $ids) { __typename id ... on Registered { digest } } }
          nodes(ids: $ids) { id }
        }"""
        known = {id_: kind for id_, kind in NODES.items() if kind != "WorkloadSuite"}

        data = await ask(index, query, ids=list(known), at=self.then)

        assert [(node["id"], node["__typename"]) for node in data["at"]["nodes"]] == [
            (f"{id_}@{self.then}", kind) for id_, kind in known.items()
        ]
        assert {node["digest"] for node in data["at"]["nodes"] if "digest" in node} <= set(known)
        assert [node["id"] for node in data["nodes"]] == list(known)

    async def test_lead_back_to_the_same_reading(self, index: Index) -> None:
        """What a client keeps under a node's id it can fetch again by it, as Relay does."""
        fields = f"id __typename ... on Run {RANK} ... on Ranking {{ size }}"
        query = f"""query($ids: [ID!]!, $at: Position!) {{
          at(asOf: {{position: $at}}) {{ nodes(ids: $ids) {{ {fields} }} }}
        }}"""
        known = [id_ for id_, kind in NODES.items() if kind != "WorkloadSuite"]
        then = (await ask(index, query, ids=known, at=self.then))["at"]["nodes"]

        again = await ask(
            index,
            f"query($ids: [ID!]!) {{ nodes(ids: $ids) {{ {fields} }} }}",
            ids=[node["id"] for node in then],
        )

        assert again["nodes"] == then
        one = await ask(index, f"query($id: ID!) {{ node(id: $id) {{ {fields} }} }}", id=then[0]["id"])
        assert one["node"] == then[0]

    async def test_resolve_in_every_form_of_an_id_and_in_every_field(self, index: Index) -> None:
        fields = {
            "run": (run_of().digest, run_of().digest[7:], run_of().digest[7:15], "norm/run 1"),
            "operation": (OPERATION.digest, "rmsnorm_h4096"),
            "implementation": (implementation().digest,),
            "workload": (WORKLOAD.digest,),
            "project": (PROJECT.digest,),
            "node": (run_of().digest, "rmsnorm_h4096", "old-source-id", "source/tern-board", "hardware/nvidia-b200"),
        }
        for field, ids in fields.items():
            for id_ in ids:
                query = f"query($id: ID!) {{ {field}(id: $id) {{ id }} }}"
                bare = (await ask(index, query, id=id_))[field]["id"]
                assert (await ask(index, query, id=f"{id_}@{self.then}"))[field]["id"] == f"{bare}@{self.then}", id_
                assert (await ask(index, query, id=f"{id_}@3"))[field] is None, id_

    async def test_show_everything_below_them_as_of_their_position(self, index: Index) -> None:
        query = """query($id: ID!) { run(id: $id) {
          digest stamp { position } pinnedPermalink ranking { groupSize leader { id } } implementation { id }
          source { id } operation { id }
        } }"""

        run = (await ask(index, query, id=f"{run_of().digest}@{self.then}"))["run"]

        assert run == {
            "digest": run_of().digest,
            "stamp": {"position": self.then},
            "pinnedPermalink": f"http://127.0.0.1:8000/runs/{run_of().digest[7:]}/at/{self.then}",
            "ranking": {"groupSize": 1, "leader": {"id": f"{run_of().digest}@{self.then}"}},
            "implementation": {"id": f"{implementation().digest}@{self.then}"},
            "source": {"id": f"source/local@{self.then}"},
            "operation": {"id": f"{OPERATION.digest}@{self.then}"},
        }

    async def test_keep_their_position_under_at(self, index: Index) -> None:
        """An id says of which reading it is, wherever it is asked for."""
        query = "query($id: ID!, $at: Position!) { at(asOf: {position: $at}) { run(id: $id) { id } } }"

        data = await ask(index, query, id=f"{run_of().digest}@{self.then}", at=self.now)

        assert data["at"]["run"]["id"] == f"{run_of().digest}@{self.then}"

    async def test_inside_a_save_round_down_as_positions_do(self, index: Index) -> None:
        data = await ask(index, "query($id: ID!) { run(id: $id) { id } }", id=f"{run_of().digest}@{self.now - 1}")

        assert data["run"]["id"] == f"{run_of().digest}@{self.then}"

    async def test_choose_in_filters_what_the_bare_ids_choose(self, index: Index) -> None:
        query = "query($filter: RunFilter) { runs(filter: $filter) { totalCount } }"
        named = {"operation": OPERATION, "workload": WORKLOAD}
        for name, id_ in (("operation", "rmsnorm_h4096"), *((name, one.digest) for name, one in named.items())):
            found = await ask(index, query, filter={name: f"{id_}@{self.then}"})
            assert found["runs"]["totalCount"] == 2

        error = await error_of(index, query, filter={"operation": "rmsnorm_h4096@3"})
        assert (error["code"], error["path"]) == ("NOT_FOUND", "filter.operation")
        error = await error_of(index, query, filter={"operation": f"{OPERATION.digest}@1000"})
        assert (error["code"], error["path"]) == ("POSITION_IN_FUTURE", "filter.operation")

    async def test_can_not_be_taken_by_an_alias(self, index: Index) -> None:
        query = "query($id: ID!) { run(id: $id) { id } }"
        for alias in (f"{run_of().digest}@{self.then}", "norm/run 1@3", "other@0"):
            command = Ingest(bundle=bundle_of(run_of(1, by="thief"), record={"aliases": [alias]}))
            (result,) = (await index.ledger.handle([command], LOCAL)).results
            assert "reads like an id that is pinned" in str(result), alias

        assert (await ask(index, query, id=f"{run_of().digest}@{self.then}"))["run"] is not None
        await index.ledger.handle([Ingest(bundle=bundle_of(run_of(), record={"aliases": ["a@b", "a@01"]}))], LOCAL)
        for alias in ("a@b", "a@01"):
            assert (await ask(index, query, id=alias))["run"] == {"id": run_of().digest}


class TestPages:
    QUERY = """query($at: Position!, $after: String, $before: String, $last: Int, $first: Int) {
      at(asOf: {position: $at}) { runs(first: $first, after: $after, last: $last, before: $before) {
        totalCount position nodes { id } pageInfo { endCursor startCursor hasNextPage }
      } }
    }"""
    ENTRIES = """query($id: ID!, $after: String) { node(id: $id) { ... on Ranking {
      entries(first: 2, after: $after) { totalCount nodes { run { id } } pageInfo { endCursor hasNextPage } }
    } } }"""

    @pytest.fixture(autouse=True)
    async def _world(self, index: Index) -> None:
        for number in range(5):
            self.then = (await index.ledger.handle([ingest(100 + number, by=f"n{number}")], LOCAL)).position
        self.now = (await index.ledger.handle([ingest(1, by="later")], LOCAL)).position

    async def test_under_at_follow_one_another_as_of_its_position_in_both_directions(self, index: Index) -> None:
        seen: list[str] = []
        arguments: dict[str, Any] = {"first": 2}
        while True:
            page = (await ask(index, self.QUERY, at=self.then, **arguments))["at"]["runs"]
            assert (page["totalCount"], page["position"]) == (5, self.then)
            seen += [node["id"] for node in page["nodes"]]
            if not page["pageInfo"]["hasNextPage"]:
                break
            arguments = {"first": 2, "after": page["pageInfo"]["endCursor"]}
            await index.ledger.handle([ingest(50 + len(seen), by=f"meanwhile-{len(seen)}")], LOCAL)
        back = await ask(index, self.QUERY, at=self.then, last=100, before=page["pageInfo"]["startCursor"])

        assert seen == [f"{run_of(100 + number, by=f'n{number}').digest}@{self.then}" for number in range(4, -1, -1)]
        assert [node["id"] for node in back["at"]["runs"]["nodes"]] == seen[: -len(page["nodes"])]

    async def test_under_at_take_no_cursor_of_another_position(self, index: Index) -> None:
        cursors = {}
        for at in (self.then, self.now):
            page = (await ask(index, self.QUERY, at=at, first=1))["at"]["runs"]
            cursors[at] = page["pageInfo"]["endCursor"]

        for at, other in ((self.then, self.now), (self.now, self.then)):
            error = await error_of(index, self.QUERY, at=at, first=1, after=cursors[other])
            assert (error["code"], error["path"]) == ("INVALID_CURSOR", "after")

    async def test_of_a_pinned_ranking_show_it_as_it_stood(self, index: Index) -> None:
        seen, after = [], None
        while True:
            page = (await ask(index, self.ENTRIES, id=f"{GROUP}@{self.then}", after=after))["node"]["entries"]
            seen += [node["run"]["id"] for node in page["nodes"]]
            assert page["totalCount"] == 5
            if not page["pageInfo"]["hasNextPage"]:
                break
            after = page["pageInfo"]["endCursor"]

        assert seen == [f"{run_of(100 + number, by=f'n{number}').digest}@{self.then}" for number in range(5)]
        error = await error_of(index, self.ENTRIES, id=f"{GROUP}@{self.now}", after=after)
        assert error["code"] == "INVALID_CURSOR"
