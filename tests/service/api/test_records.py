"""Record history through the API: what frontends draw, now and as of any moment."""

from typing import Any

from domain.commands import RetractRun
from domain.principals import LOCAL
from service.app import Index
from tests.examples import ingest, run
from tests.service.api.asking import ask

QUERY = """query($basis: RecordBasis!, $key: Digest) { records(basis: $basis, comparisonKey: $key) { nodes {
  basis comparisonKey cause position time run { digest } previousRun { digest }
  value { value number unit formatted } previousValue { value } } } }"""


def observed(value: int, day: int, by: str) -> Any:
    return ingest(value, by=by, observedAt=f"2026-08-{day:02}T12:00:00Z")


async def history(index: Index, basis: str, **variables: Any) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = (await ask(index, QUERY, basis=basis, **variables))["records"]["nodes"]
    return nodes


async def test_the_two_views_tell_their_own_stories(index: Index) -> None:
    """The slow run was measured first and came last: it was a record when it was measured, and never was as known."""
    fast = (await index.ledger.handle([observed(8000, 2, "heron")], LOCAL)).position
    await index.ledger.handle([observed(9000, 1, "stork")], LOCAL)

    by_observation = await history(index, "BY_OBSERVATION")
    as_known = await history(index, "AS_KNOWN")

    assert [(one["value"]["formatted"], one["cause"], one["position"]) for one in by_observation] == [
        ("9.00 µs", None, None),
        ("8.00 µs", None, None),
    ]
    assert [one["time"] for one in by_observation] == ["2026-08-01T12:00:00Z", "2026-08-02T12:00:00Z"]
    assert by_observation[1]["previousValue"] == {"value": "9000"}
    assert [(one["value"]["value"], one["cause"], one["position"]) for one in as_known] == [("8000", "NEW_RUN", fast)]


async def test_a_retracted_leader_is_named_with_the_cause_and_the_past_is_as_it_was(index: Index) -> None:
    await index.ledger.handle([observed(8000, 2, "heron")], LOCAL)
    before = (await index.ledger.handle([observed(9000, 1, "stork")], LOCAL)).position
    leader = run(8000, by="heron", observedAt="2026-08-02T12:00:00Z")
    await index.ledger.handle([RetractRun(run=leader.digest, reason="the wrong stream")], LOCAL)

    [_, change] = await history(index, "AS_KNOWN")
    at = "query($p: Position!) { at(asOf: { position: $p }) { records(basis: AS_KNOWN) { nodes { cause } } } }"
    then = await ask(index, at, p=before)

    assert (change["cause"], change["previousRun"]["digest"]) == ("RETRACTION", leader.digest)
    assert change["value"]["value"] == "9000"
    assert then["at"]["records"]["nodes"] == [{"cause": "NEW_RUN"}]


async def test_a_group_is_chosen_by_its_key(index: Index) -> None:
    await index.ledger.handle([observed(8000, 2, "heron")], LOCAL)
    [change] = await history(index, "AS_KNOWN")

    assert await history(index, "AS_KNOWN", key=change["comparisonKey"]) == [change]
    assert await history(index, "AS_KNOWN", key=f"sha256:{'0' * 64}") == []
