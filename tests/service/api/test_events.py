"""The log as the API shows it: events, the history of a record, and proofs that hold without the server."""

from base64 import b64decode
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from domain import facts
from domain.audit.merkle import leaf_hash, verify_consistency, verify_inclusion
from domain.audit.notes import Checkpoint, Note, VerifierKey
from domain.audit.proofs import TlogProof
from domain.bundles import bundle_of
from domain.commands import Ingest, RegisterSource
from domain.events import Committed, Recorded, erased
from domain.principals import LOCAL
from projections import saves
from projections.events import Criteria, page
from projections.views import apply, open_writer
from service.app import Index
from service.audit.citing import check_proof
from service.signatures import verify
from tests.examples import bundle, recorded
from tests.service.api.asking import ask, error_of, ingest_all, run_of

FIELDS = (
    "id position type stream version recordedAt actor cause { request index of } data canonical digest leafHash erased"
)
PAGE = f"""query($filter: EventFilter, $first: Int, $after: LogCursor) {{
  events(filter: $filter, first: $first, after: $after) {{
    totalCount position nodes {{ {FIELDS} }} edges {{ cursor }} pageInfo {{ hasNextPage hasPreviousPage endCursor }} }} }}"""


@pytest.fixture(autouse=True)
async def _world(index: Index) -> None:
    await ingest_all(index, bundle(100), bundle(90, by="stork"))
    await index.ledger.handle([RegisterSource(slug="tern-board", name="Tern", kind="board", policy=b"null")], LOCAL)
    alias = bundle_of(run_of(100), record={"aliases": ["01a00328-723d-752f-b21f-bccbae31e07b"]})
    await index.ledger.handle([Ingest(bundle=alias)], LOCAL)


async def events(index: Index, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await ask(index, PAGE, **asked))["events"]["nodes"]
    return found


async def test_the_log_is_listed_from_its_beginning_without_gaps(index: Index) -> None:
    data = (await ask(index, PAGE, first=100))["events"]
    positions = [event["position"] for event in data["nodes"]]

    assert positions == list(range(1, data["position"] + 1))
    assert data["totalCount"] == data["position"] == index.follower.head.position
    assert data["nodes"][0]["type"] == "LogOpened"
    assert data["nodes"][-1]["cause"]["index"] == data["nodes"][-1]["cause"]["of"]


async def test_an_event_has_the_hashes_of_its_canonical_text(index: Index) -> None:
    for event in await events(index, first=100):
        digest = f"sha256:{sha256(event['canonical'].encode()).hexdigest()}"
        assert event["digest"] == digest
        assert b64decode(event["leafHash"]) == leaf_hash(digest.encode())
        assert f'"data":{event["data"]},' in event["canonical"]


async def test_paging_visits_each_event_once_though_the_log_grows(index: Index) -> None:
    seen, after = [], None
    for number in range(100):
        data = (await ask(index, PAGE, first=3, after=after))["events"]
        seen += [event["position"] for event in data["nodes"]]
        if number < 3:
            await ingest_all(index, bundle(80 + number, by=f"n{number}"))
        if not data["pageInfo"]["hasNextPage"]:
            break
        after = data["pageInfo"]["endCursor"]
    assert seen == list(range(1, index.follower.head.position + 1))


async def test_a_stamp_says_from_where_to_go_on(index: Index) -> None:
    cursor = (await ask(index, "{ stamp { cursor } }"))["stamp"]["cursor"]
    assert await events(index, after=cursor) == []
    await ingest_all(index, bundle(70, by="crane"))
    assert {event["type"] for event in await events(index, after=cursor)} >= {"RunIngested"}


@pytest.mark.parametrize(
    ("chosen", "types"),
    [
        ({"types": ["LogOpened", "SourceRegistered"]}, ["LogOpened", "SourceRegistered"]),
        ({"stream": "log"}, ["LogOpened", "PolicyAdopted", "PolicyAdopted"]),
        ({"stream": "source/tern-board"}, ["SourceRegistered"]),
        ({"stream": "log", "types": ["RunIngested"]}, []),
        ({"actor": "nobody"}, []),
        ({"types": ["RunIngested"], "recordedFrom": "2100-01-01T00:00Z"}, []),
        ({"types": ["LogOpened"], "recordedTo": "2100-01-01T00:00Z"}, ["LogOpened"]),
    ],
)
async def test_a_filter_chooses_events(index: Index, chosen: dict[str, Any], types: list[str]) -> None:
    data = (await ask(index, PAGE, filter=chosen, first=100))["events"]
    found = [event["type"] for event in data["nodes"]]
    assert [name for name in found if name in types] == found
    assert sorted(set(found)) == sorted(set(types))
    assert data["totalCount"] == len(found)


async def test_instants_bound_events_to_the_microsecond(index: Index) -> None:
    (event,) = await events(index, filter={"types": ["SourceRegistered"]})
    at = event["recordedAt"]
    assert await events(index, filter={"types": ["SourceRegistered"], "recordedFrom": at}) == [event]
    assert await events(index, filter={"types": ["SourceRegistered"], "recordedTo": at}) == []


async def test_a_history_holds_what_concerns_the_run_and_nothing_else(index: Index) -> None:
    digest = run_of(100).digest
    query = "query($id: ID!) { run(id: $id) { history(first: 10) { totalCount nodes { type stream position } } } }"
    history = (await ask(index, query, id=digest))["run"]["history"]

    assert [event["type"] for event in history["nodes"]] == ["RunIngested", "AliasClaimed"]
    assert history["totalCount"] == 2
    assert [event["position"] for event in await events(index, filter={"run": digest})] == [
        event["position"] for event in history["nodes"]
    ]


async def test_events_are_nodes(index: Index) -> None:
    query = "query($id: ID!) { node(id: $id) { id ... on Event { type position } } }"
    assert (await ask(index, query, id="event/1"))["node"] == {"id": "event/1", "type": "LogOpened", "position": 1}
    assert (await ask(index, query, id="event/9999"))["node"] is None
    assert (await ask(index, query, id="event/01"))["node"] is None


@pytest.mark.parametrize(
    ("asked", "code", "path"),
    [
        ({"after": "nonsense"}, "INVALID_CURSOR", "after"),
        ({"after": "WyJvdGhlciIsMV0"}, "INVALID_CURSOR", "after"),
        ({"after": "WyJpZC0xIiw5OTk5XQ"}, "INVALID_CURSOR", "after"),
        ({"first": 101}, "INVALID_ARGUMENT", "first"),
        ({"filter": {"types": ["RunInvented"]}}, "INVALID_ARGUMENT", "filter.types"),
        ({"filter": {"run": "unheard-of"}}, "NOT_FOUND", "filter.run"),
    ],
)
async def test_what_can_not_be_meant_is_refused(index: Index, asked: dict[str, Any], code: str, path: str) -> None:
    error = await error_of(index, PAGE, **asked)
    assert (error["code"], error["path"]) == (code, path)


async def test_a_checkpoint_is_signed_and_has_the_root_of_the_stamp(index: Index) -> None:
    data = await ask(
        index, "{ checkpoint { origin treeSize rootHash note verifierKey } stamp { position treeSize rootHash } }"
    )
    note, key = Note.parse(data["checkpoint"]["note"]), VerifierKey.parse(data["checkpoint"]["verifierKey"])

    assert note.is_signed(key, verify)
    assert key.name == data["checkpoint"]["origin"] == "kernelindex.localhost/log"
    assert Checkpoint.of(note).size == data["checkpoint"]["treeSize"] == data["stamp"]["position"]
    assert data["checkpoint"]["rootHash"] == data["stamp"]["rootHash"]
    assert data["stamp"]["treeSize"] == data["stamp"]["position"]


async def test_each_event_is_proven_to_be_in_the_log(index: Index) -> None:
    query = """query($position: Position!) { inclusionProof(position: $position) {
      position leafHash treeSize rootHash hashes tlogProof } stamp { rootHash } }"""
    for event in await events(index, first=100):
        data = await ask(index, query, position=event["position"])
        proof = data["inclusionProof"]
        leaf, hashes = b64decode(proof["leafHash"]), [b64decode(one) for one in proof["hashes"]]

        assert leaf == b64decode(event["leafHash"])
        root = b64decode(data["stamp"]["rootHash"])
        assert verify_inclusion(leaf, event["position"] - 1, proof["treeSize"], root, hashes)
        text = TlogProof.parse(proof["tlogProof"])
        assert text.shows(leaf)
        assert text.extra == event["canonical"].encode()


async def test_an_earlier_log_is_proven_to_be_the_beginning_of_a_later_one(index: Index) -> None:
    before = (await ask(index, "{ stamp { position rootHash } }"))["stamp"]
    await ingest_all(index, bundle(70, by="crane"))
    query = """query($from: Position!, $to: Position!) {
      consistencyProof(from: $from, to: $to) { from to fromRootHash toRootHash hashes } stamp { position rootHash } }"""
    data = await ask(index, query, **{"from": before["position"], "to": index.follower.head.position})
    proof, now = data["consistencyProof"], data["stamp"]

    assert (proof["fromRootHash"], proof["toRootHash"]) == (before["rootHash"], now["rootHash"])
    roots = b64decode(before["rootHash"]), b64decode(now["rootHash"])
    hashes = [b64decode(one) for one in proof["hashes"]]
    assert verify_consistency(proof["from"], roots[0], proof["to"], roots[1], hashes)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("{ inclusionProof(position: 0) { treeSize } }", "position"),
        ("{ inclusionProof(position: 9999) { treeSize } }", "position"),
        ("{ consistencyProof(from: 0, to: 3) { to } }", "from"),
        ("{ consistencyProof(from: 3, to: 2) { to } }", "from"),
        ("{ consistencyProof(from: 3, to: 9999) { to } }", "to"),
    ],
)
async def test_positions_that_the_log_has_not_are_refused(index: Index, query: str, path: str) -> None:
    error = await error_of(index, query)
    assert (error["code"], error["path"]) == ("INVALID_ARGUMENT", path)


async def test_positions_the_wrong_way_round_are_said_to_be_so(index: Index) -> None:
    error = await error_of(index, "{ consistencyProof(from: 3, to: 2) { to } }")
    assert error["remedy"] == "give the earlier position as from, the later one as to"


FILED = (
    facts.LogOpened(log_id="0123456789abcdef", origin="example.org/log"),
    facts.AttestationFiled(
        attestation="a1", run=run_of().digest, type=facts.AttestationType.REPRODUCED, note="It held.", salt="s"
    ),
    facts.AttestationHidden(attestation="a1", reason="names somebody"),
)
GONE = (*FILED, facts.EventErased(position=2, legal_basis="GDPR, article 17"))


def followed(folder: Path, events: list[Recorded], criteria: Criteria) -> list[int]:
    """The positions of what the criteria choose in views of these events."""
    with closing(open_writer(folder / f"{len(events)}.db")) as db:
        apply(db, saves.NOTHING, [Committed(number, event) for number, event in enumerate(events, 1)])
        return [position for position, _ in page(db, criteria, 0, len(events), 10).rows]


def test_what_follows_an_attestation_is_in_the_history_of_its_run(tmp_path: Path) -> None:
    assert followed(tmp_path, recorded(*FILED), Criteria(record=run_of().digest)) == [2, 3]


def test_an_erased_attestation_is_in_no_history_but_its_own(tmp_path: Path) -> None:
    events = recorded(*GONE)
    events[1] = erased(Committed(2, events[1]).at(2))
    assert followed(tmp_path, events, Criteria(record=run_of().digest)) == []
    assert followed(tmp_path, events, Criteria(record="attestation/a1")) == [2, 3, 4]


async def test_a_citation_carries_its_proof_where_that_is_asked_for(index: Index) -> None:
    query = "query($id: ID!, $proof: Boolean!) { run(id: $id) { citation(proof: $proof) { content proof } } }"
    digest = run_of(100).digest
    key = index.proving.verifier

    proof = (await ask(index, query, id=digest, proof=True))["run"]["citation"]["proof"]
    assert check_proof(proof, key)["stream"] == f"run/{digest}"
    assert (await ask(index, query, id=digest, proof=False))["run"]["citation"]["proof"] is None
